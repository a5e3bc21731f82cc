#!/bin/sh
# check_help.sh -- `chalkline` without words: every verb once, within 80 columns, with an example that works as it is
# unless it names a file or a server of the reader. The manual page has the same examples, and troff no complaint.
set -u
CHALKLINE=${CHALKLINE:-./chalkline}
here=$(mktemp -d)
bad=0
trap 'rm -rf "$here"' EXIT
unset COLUMNS
mkdir "$here/bin"
cp "$CHALKLINE" "$here/bin/chalkline"
PATH=$here/bin:$PATH
cd "$here" || exit 1

fail() {
    echo "$1"
    [ -z "${2:-}" ] || head -5 "$2" | sed 's/^/    /'
    bad=1
}

chalkline >help
awk 'length($0) > 80' help | grep . && fail 'lines of more than 80 columns'
COLUMNS=1000 chalkline | sed -n 's/^            \(chalkline .*\)/\1/p' >examples
sed -n 's/^  \([a-z-]\{2,9\}\) .*/\1/p' help | grep -v '^language$' >verbs
[ -z "$(sort verbs | uniq -d)" ] || fail 'a verb is listed twice' verbs
[ "$(wc -l <verbs)" = "$(wc -l <examples)" ] || fail 'a verb has no example' verbs
while read -r line; do
    case $line in *http:*|*mine.*|*part1.store*|*config.json*|*' serve '*) continue ;; esac
    sh -c "$line" >out 2>err </dev/null || fail "$line: exit $?" err
    case $line in *'solve users'*) grep -q '^users = [0-9]' out || fail "$line: no number of users" out ;; esac
done <examples

chalkline man >page
chalkline help man | grep -q 'man -l -' || fail 'help man does not say how to show the page'
while read -r line; do
    verb=$(echo "$line" | cut -d' ' -f2 | sed 's/-/\\\\-/g')
    sed -n '/^\.SH EXAMPLES/,/^\.SH EXIT/p' page | grep -q "^chalkline $verb" || fail "the manual page lacks: $line"
done <examples
for tool in groff mandoc; do
    command -v $tool >/dev/null || continue
    case $tool in
    groff) groff -man -Tascii -ww page >/dev/null 2>complaints ;;
    mandoc) mandoc -T lint -W warning page >complaints 2>&1 ;;
    esac
    [ -s complaints ] && fail "$tool complains" complaints
done
exit $bad
