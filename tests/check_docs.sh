#!/bin/sh
# check_docs.sh [--write] -- run every example of README and docs, compare its output.
#
# In a ```console block a line "$ chalkline ..." is a command, what follows its output.
# "..." on a line of its own stands for any lines. --write puts the real output in. An example with `--plot -` is
# skipped where gnuplot is missing. The table of words in docs/numbers.md has the units, meanings and options of its rows, and
# the verbs whose JSON has a value of them; each option of a load or of a step has a line there.
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

# The verbs whose answers to these questions have a value under a key: verb, tab, key.
keys() {
    server="llama-3.1-8b --on h100-sxm --gpus 1"
    while IFS= read -r words; do
        chalkline $words --json 2>/dev/null |
            sed -n 's/^ *"\([a-z0-9_]*\)": *\([^ n].*\)/\1/p' | sort -u | sed "s/^/${words%% *}\t/"
    done <<QUESTIONS
step $server --rate 2
step $server --users 16
brief $server --users 16
plan $server --aggregated --rate 2
plan $server --aggregated --users 16
simulate poisson:count=100 --rate 2 --model $server
watch tests/fixtures/metrics/after.prom --since tests/fixtures/metrics/before.prom --seconds 60 --once --model $server
QUESTIONS
}

# docs/numbers.md with the table of words as the program has them.
words_table() {
    keys | sort -u >"$here/keys"
    chalkline list rows --json >"$here/rows"
    awk '
        function shown(text) { gsub(/\|/, "\\|", text); return text }
        FILENAME ~ /keys$/ { split($0, part, "\t"); printed[part[2]] = printed[part[2]] ", `" part[1] "`"; next }
        FILENAME ~ /rows$/ {
            text = $0
            if (text ~ /^ *"[a-z_0-9]*",?$/) { gsub(/[^a-z_0-9]/, "", text); also[row] = text; next }
            if (!match(text, /^ *"[a-z]*": "/)) next
            key = substr(text, 1, RLENGTH); gsub(/[^a-z]/, "", key)
            text = substr(text, RLENGTH + 1); sub(/",?$/, "", text)
            if (key == "name") row = text
            if (key == "unit") unit[row] = text
            if (key == "meaning") meaning[row] = text
            next
        }
        FILENAME ~ /options\.c$/ {
            if (/^GROUP/) load = /^GROUP\((budget|users|demand|arrival|think)_options/
            if (!/^    \{ "[a-z-]*", "[^"]*", OPTION_ROW, \.row = NAME_/) next
            split($0, part, "\""); row = $0
            sub(/.*\.row = NAME_/, "", row); sub(/[^a-z_0-9].*/, "", row)
            option[row] = part[2] " " part[4]
            if (load) wanted[row] = part[2]
            next
        }
        /^\| word \| row \|/ { inside = 1 }
        !/^\|/ { inside = 0 }
        !inside || !match($0, /^\| [^|]* \| `[a-z_0-9]*` \|/) { print; next }
        {
            begin = substr($0, 1, RLENGTH); row = begin
            sub(/^[^`]*`/, "", row); sub(/`.*/, "", row)
            if (!(row in unit)) { print "docs/numbers.md: no row is called " row >"/dev/stderr"; failed = 1 }
            delete wanted[row]
            print begin " " unit[row] " | " shown(meaning[row]) " | " (row in option ? "`--" shown(option[row]) "`" : "") \
                  " | " substr(printed[row] (row in also ? printed[also[row]] : ""), 3) " |"
        }
        END {
            for (row in wanted) { print "docs/numbers.md: no word for --" wanted[row] >"/dev/stderr"; failed = 1 }
            exit failed
        }' "$here/keys" "$here/rows" command/options.c docs/numbers.md
}

words_table >"$here/words" || bad=$((bad + 1))
if [ "${1:-}" = --write ]; then
    cat "$here/words" >docs/numbers.md
elif ! diff -u docs/numbers.md "$here/words"; then
    bad=$((bad + 1))
fi
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
        # An example that begins to fail is no new text.
        if [ "${1:-}" = --write ] && [ -s "$here/$i.want" ] && head -n 1 "$here/$i.got" | grep -q '^chalkline: ' &&
            ! head -n 1 "$here/$i.want" | grep -q '^chalkline: '; then
            echo "$doc: fails: $(cat "$here/$i.cmd")"
            cp "$here/$i.want" "$here/$i.got"
            bad=$((bad + 1))
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
