#!/bin/sh
# check_serve.sh -- every curl of docs/serve.md is answered by a server.
set -u
CHALKLINE=${CHALKLINE:-./chalkline}
here=$(mktemp -d)
"$CHALKLINE" serve --port 0 >"$here/where" &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$here"' EXIT
tries=0
until [ -s "$here/where" ] || [ $tries = 100 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
where=$(sed 's,/$,,' "$here/where")
sed -n 's/^curl /curl -sSf -m 60 /p' docs/serve.md | sed "s,http://127.0.0.1:8080,$where," >"$here/lines"
bad=0 count=0
while IFS= read -r line; do
    printf '%s\n' "$line" >"$here/line"
    if ! sh "$here/line" >"$here/said" 2>&1 || ! grep -q '"answer": {' "$here/said"; then
        echo "$line"
        cat "$here/said"
        bad=$((bad + 1))
    fi
    count=$((count + 1))
done <"$here/lines"
kill $server
wait $server || bad=$((bad + 1))
echo "      $count requests of docs/serve.md, $bad not answered"
[ "$bad" = 0 ] && [ "$count" -gt 3 ]
