#!/bin/sh
# check_words.sh -- what users read uses the words of the field: none of the words that tests/words.txt
# lists stands in a help text, a verb's summary, a message of tests/cases/bad.cases, the output of an
# example of the docs, or the meaning of a row. An exception there that nothing needs is an offence too.
# And no key of a JSON answer has a space in it. Prints each offending line.
set -u
cd "$(dirname "$0")/.." || exit 2
CHALKLINE=${CHALKLINE:-./chalkline}

# SOURCE, a tab, the text.
texts() {
    "$CHALKLINE" help | sed 's/^/help\t/'
    for verb in $("$CHALKLINE" help | sed -n 's/^  \([a-z]\{4,8\}\)  *[A-Z].*/\1/p'); do
        "$CHALKLINE" help "$verb" | sed "s/^/help $verb\t/"
    done
    sed -n '/^\(\$\|#\|exit \)/!s/^./message\t&/p' tests/cases/bad.cases
    for doc in README.md docs/*.md; do
        awk -v doc="$doc" '/^```console/ { inside = 1; next } /^```/ { inside = 0 }
                           inside && !/^\$ / { print doc "\t" $0 }' "$doc"
    done
    "$CHALKLINE" list rows --csv | sed -n '2,$s/^\([a-z0-9_]*\),\(.*\)/row \1\t\2/p'
}

# Answers with all kinds of records.
keys() {
    for words in "brief deepseek-v3 --on gb200-nvl72" "step llama-3.1-8b --on h100-sxm" \
                 "plan llama-3.1-8b --on h100-sxm --gpus 4" "tiers llama-3.1-8b --on h100-sxm" \
                 "train llama-3.1-8b --on h100-sxm --gpus 8" "life llama-3.1-8b" \
                 "why predicted_tpot --model llama-3.1-8b --on h100-sxm" \
                 "deduce prices --model claude-opus-4-7" "bill agent --model claude-opus-4-7" \
                 "simulate poisson:rate=2,count=100 --model llama-3.1-8b --on h100-sxm --gpus 1" \
                 "curve bound_step batch=1..4" "check"; do
        "$CHALKLINE" $words --json |
            sed -n 's/^ *"\([^"]*\)": .*/\1/p' | sed -n "/[ 	]/s/.*/a key of \`$words\`: \"&\"/p"
    done | sort -u
}

found=$({ keys; texts | awk '
    FILENAME == "tests/words.txt" && /^not / {
        word = substr($0, 5)
        sub(/ = .*/, "", word)
        words[++count] = word
        next
    }
    FILENAME == "tests/words.txt" && /^may / {
        rest = substr($0, 5)
        at = index(rest, " in ")
        colon = index(rest, ": ")
        if (!at || colon < at) { print "tests/words.txt: " $0 "    (no reason)"; next }
        may[++allowed] = substr(rest, 1, at - 1)
        where[allowed] = substr(rest, at + 4, colon - at - 4)
    }
    FILENAME == "tests/words.txt" { next }
    {
        tab = index($0, "\t")
        source = substr($0, 1, tab - 1)
        text = " " tolower(substr($0, tab + 1)) " "
        lines++
        for (w = 1; w <= count; w++) {
            if (text !~ ("[^a-z_](" words[w] ")[^a-z_]")) continue
            excused = 0
            for (m = 1; m <= allowed; m++)
                if (may[m] == words[w] && (index(source, where[m]) == 1 ||
                                           (where[m] == "rows" && source ~ /^row /)))
                    excused = used[m] = 1
            if (!excused) print source ":" text "   (" words[w] ")"
        }
    }
    END {
        for (m = 1; m <= allowed; m++)
            if (!used[m]) print "tests/words.txt: may " may[m] " in " where[m] "    (nothing needs it)"
        if (lines < 3000) print "only " lines " lines were read"
    }' tests/words.txt -; })
[ -z "$found" ] || { printf '%s\n' "$found"; exit 1; }
