#!/bin/sh
# check_docs.sh [--write] -- run every example of README and docs, compare its output.
#
# In a ```console block a line "$ chalkline ..." is a command, what follows its output.
# "..." on a line of its own stands for any lines. --write puts the real output in. An example with `--plot -` is
# skipped where gnuplot is missing.
set -eu
CHALKLINE=${CHALKLINE:-./chalkline}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
mkdir "$here/bin"
cp "$CHALKLINE" "$here/bin/chalkline"; cp "$CHALKLINE-net" "$here/bin/chalkline-net"
PATH=$here/bin:$PATH
TMPDIR=$here
XDG_STATE_HOME=$here
export PATH TMPDIR XDG_STATE_HOME
unset COLUMNS
bad=0 count=0
for doc in README.md CHANGELOG.md CONTRIBUTING.md docs/*.md; do
    awk -v dir="$here" '
        /^```console/ { inside = 1; next }
        /^```/ { inside = 0; next }
        inside && /^\$ / { n++; print substr($0, 3) > (dir "/" n ".cmd"); next }
        inside { print > (dir "/" n ".want") }
        END { print n + 0 > (dir "/count") }' "$doc"
    total=$(cat "$here/count")
    i=1
    while [ "$i" -le "$total" ]; do
        touch "$here/$i.want"
        if grep -q -e '--plot -' "$here/$i.cmd" && ! command -v gnuplot >/dev/null; then
            echo "skipped: needs gnuplot for an example of $doc"
            cp "$here/$i.want" "$here/$i.got"
        else
            sh "$here/$i.cmd" >"$here/$i.got" 2>&1 || true
        fi
        if grep -qx '\.\.\.' "$here/$i.want"; then
            sed '/^\.\.\.$/,$d' "$here/$i.want" >"$here/want"
            head -n "$(wc -l <"$here/want")" "$here/$i.got" >"$here/got"
        else
            cp "$here/$i.want" "$here/want"
            cp "$here/$i.got" "$here/got"
        fi
        if [ "${1:-}" != --write ] && ! diff -u "$here/want" "$here/got" >"$here/diff"; then
            echo "$doc: $(cat "$here/$i.cmd")"
            cat "$here/diff"
            bad=$((bad + 1))
        fi
        count=$((count + 1))
        i=$((i + 1))
    done
    if [ "${1:-}" = --write ]; then
        awk -v dir="$here" '
            function flush_got(   line, whole, k, limit) {
                if (!open) return
                limit = -1
                if (short) limit = lines
                while ((getline line < (dir "/" n ".got")) > 0)
                    if (limit < 0 || k++ < limit) print line
                if (short) print "..."
                open = 0
            }
            /^```console/ { inside = 1; print; next }
            /^```/ { if (inside) flush_got(); inside = 0; print; next }
            inside && /^\$ / { flush_got(); n++; print; open = 1; short = 0; lines = 0
                while ((getline line < (dir "/" n ".want")) > 0) { if (line == "...") short = 1; if (!short) lines++ }
                next }
            inside { next }
            { print }' "$doc" >"$here/new"
        cat "$here/new" >"$doc"
    fi
    rm -f "$here"/*.cmd "$here"/*.want "$here"/*.got
done
for target in $(sed -n 's/^[A-Z]*("\([^"]*\)".*/\1/p' deploy/launch/targets.def); do
    grep -q "\`$target\`\|--emit $target" docs/emit.md || { echo "docs/emit.md does not name --emit $target"; bad=$((bad + 1)); }
done
echo "      $count examples of the docs run, $bad differ"
[ "$bad" = 0 ]
