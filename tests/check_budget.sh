#!/bin/sh
# check_budget.sh [--write] -- the measures of tools/counts.sh are at most those of tests/budget.txt, which says why one was
# raised; --write lowers the file to what is there. And a commit that changes expected answers (tests/cases) says why in its
# body, since the commit that the file names.
set -u
cd "$(dirname "$0")/.." || exit 2
budget=tests/budget.txt
. tests/needs.sh
git rev-parse HEAD >/dev/null 2>&1 || missing "a checkout of git"

counts=$(tools/counts.sh "$(dirname "${CHALKLINE:-build/gcc/chalkline}")") || exit 1
new=$(echo "$counts" | awk -v budget="$budget" '
    FNR == NR { now[$1] = $2; order[++n] = $1; next }
    /^#/ || !NF || $1 == "since" { print > "/dev/stderr"; next }
    # Lines by hundreds: a line of an include is no reason to write one here.
    $1 in now { least = $1 ~ /^lines_/ ? 100 * int((now[$1] + 99) / 100) : now[$1]; if (least < $2) $2 = least }
    { known[$1]; print > "/dev/stderr" }
    $1 in now && now[$1] > $2 { print $1 " is " now[$1] ", and may be " $2 ": see " budget }
    !($1 in now) { print $1 " of " budget " is no measure" }
    END { for (i = 1; i <= n; i++) if (!(order[i] in known)) print order[i] " " now[order[i]] " is missing in " budget }
' - "$budget" 2>"${TMPDIR:-/tmp}/budget.$$")
[ "${1:-}" != --write ] || cp "${TMPDIR:-/tmp}/budget.$$" "$budget"
rm -f "${TMPDIR:-/tmp}/budget.$$"

since=$(sed -n 's/^since *//p' "$budget")
silent=
if git cat-file -e "$since^{commit}" 2>/dev/null; then
    silent=$(git log --no-merges --format='%h %s%x09%b%x00' "$since..HEAD" -- tests/cases | tr '\n\0' ' \n' |
             awk -F '\t' '$1 ~ /[^ ]/ && $2 ~ /^ *$/ { sub(/^ */, "", $1); print $1 ": changes expected answers, and its body does not say why" }')
else
    echo "skipped: needs the history since $since"
fi
[ -z "$new$silent" ] || printf '%s\n' "$new" "$silent" | grep .
[ -z "$new$silent" ]
