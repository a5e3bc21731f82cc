#!/bin/sh
# check_questions.sh [--write] -- what the program answers has the digests of tests/questions.txt, to the byte; --write puts
# in those of what is answered. A question that fails is printed as you ask it: ask it of the program before your change,
# too, and compare. A digest has eight digits of SHA-256. With CHALKLINE_SHORT each seventh question is asked. A program that
# does not start, or dies, has no answer: nothing is written then.
set -u
cd "$(dirname "$0")/.." || exit 2
program=${CHALKLINE:-./chalkline}
questions=tests/questions.txt
new=$(mktemp) && dead=$(mktemp) && XDG_STATE_HOME=$(mktemp -d) || exit 2
trap 'rm -rf "$new" "$dead" "$XDG_STATE_HOME"' EXIT
export XDG_STATE_HOME
unset COLUMNS
write=${1:-}
case $write in '' | --write) ;; *) echo "usage: $0 [--write]" >&2; exit 2 ;; esac
asked=0 lines=0 failed=0

# digest_of WORDS...: of what the program prints, and of its exit status.
digest_of() {
    { "$program" "$@" </dev/null; status=$?; echo "exit $status"; [ $status -lt 126 ] || echo "$*: exit $status" >>"$dead"; } 2>&1 |
        sha256sum | cut -c 1-8
}

while IFS= read -r line; do
    case $line in
    '= '*)  ways=${line#= } ;;
    '#'* | '') ;;
    *)  question=${line#*: } known=${line%%:*} digests=
        lines=$((lines + 1))
        [ -z "$write" ] && [ -n "${CHALKLINE_SHORT:-}" ] && [ $((lines % 7)) != 0 ] && continue
        rest="$ways |"
        while [ -n "$rest" ]; do
            way=${rest%% |*} rest=${rest#*|}
            way=${way# } && [ "$way" != - ] || way=
            eval "set -- $question $way"
            digest=$(digest_of "$@")
            expected=${known%% *} known=${known#* }
            digests="$digests$digest "
            asked=$((asked + 1))
            [ "$digest" = "$expected" ] && continue
            failed=$((failed + 1))
            [ -n "$write" ] || echo "another answer: chalkline $question${way:+ $way}"
        done
        line="$digests: $question" ;;
    esac
    printf '%s\n' "$line" >>"$new"
done <$questions

[ ! -s "$dead" ] || { echo "no answer: chalkline $(head -n 1 "$dead")"; exit 1; }
if [ "$write" = --write ]; then
    cp "$new" $questions
    exit 0
fi
[ $failed = 0 ] && [ $asked -gt 0 ] || exit 1
echo "  $asked answers"
