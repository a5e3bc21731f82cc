#!/bin/sh
# check_terminal.sh -- what a person at a terminal has: `quiz` asks, grades each line, skips and ends, and remembers; bash
# completes verbs, options and names from `completion`.
set -eu
. "$(dirname "$0")/needs.sh"
CHALKLINE=${CHALKLINE:-./chalkline}
case $CHALKLINE in */*) CHALKLINE=$(cd "$(dirname "$CHALKLINE")" && pwd)/$(basename "$CHALKLINE") ;; esac
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
bad=0

# ---- quiz on a terminal --------------------------------------------------------------------------
cat >"$here/quiz.py" <<'EOF'
import json, os, pty, sys
program, state = sys.argv[1:]
words = [program, "quiz", "--count", "5", "--seed", "7", "--state", state]
problems = json.loads(os.popen(" ".join(words[:-2]) + " --json").read())["problems"]
def line_for(problem, right):
    if not problem["choices"]:
        return str(problem["answer"]) if right else "no such choice"
    return next("abcdefgh"[i] for i, choice in enumerate(problem["choices"]) if (choice == problem["answer"]) == right)
lines = [line_for(problems[0], True), line_for(problems[1], False), "", "no such choice", line_for(problems[3], True), "q"]
child, terminal = pty.fork()
if not child:
    os.execv(program, words)
said = b""
def until(mark):
    global said
    begin = len(said)
    while mark not in said[begin:]:
        try:
            said += os.read(terminal, 4096)
        except OSError:
            return
for line in lines:
    until(b"> ")
    os.write(terminal, line.encode() + b"\n")
until(b"no such mark")
os.waitpid(child, 0)
text = said.decode().replace("\r", "")
graded = json.load(open(state, encoding="utf-8"))
for what, good in {
    "each problem": all(problem["question"].split()[0] in text for problem in problems),
    "a line that is no answer is asked again": text.count("\n> ") == 6,
    "the score": text.rstrip().endswith("2 of 3 right"),
    "what was answered is remembered": set(graded["items"]) == {problems[i]["id"].rsplit(":", 1)[0] for i in (0, 1, 3)},
}.items():
    if not good:
        print(f"quiz on a terminal, {what}:\n{text}\n{json.dumps(graded)[:500]}")
        sys.exit(1)
EOF
! has_program python3 || python3 "$here/quiz.py" "$CHALKLINE" "$here/state" || bad=1

# ---- completion ----------------------------------------------------------------------------------
# completes WORDS... WANTED: bash offers the last word for those before it.
cat >"$here/complete" <<'EOF'
source "$COMPLETION"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
$(complete -p chalkline | sed 's/.*-F \([^ ]*\).*/\1/') chalkline "${@: -1}" "${@: -2:1}"
printf '%s\n' "${COMPREPLY[@]}"
EOF
mkdir "$here/bin"
ln -s "$CHALKLINE" "$here/bin/chalkline"
"$CHALKLINE" completion bash >"$here/completion"
completes() {
    for wanted; do :; done
    set -- $(echo "$*" | sed 's/ [^ ]*$//')
    PATH=$here/bin:$PATH COMPLETION=$here/completion bash "$here/complete" "$@" >"$here/offered" 2>&1
    grep -qx -e "$wanted *" "$here/offered" && return
    echo "bash completes '$*' to: $(tr '\n' ' ' <"$here/offered" | cut -c1-200), without $wanted"
    bad=1
}
if has_program bash; then
    completes chalkline pl plan
    completes chalkline plan --is --isl
    completes chalkline plan llama-3.1-8 llama-3.1-8b
    completes chalkline plan llama-3.1-8b --on h100-s h100-sxm
    completes chalkline why predicted_tp predicted_tpot
fi
exit $bad
