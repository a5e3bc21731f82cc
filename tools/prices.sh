#!/bin/sh
# prices.sh SHEET -- what hosts' prices say of the models whose parameters are known, as the
# table of docs/prices.md.
set -eu
CHALKLINE=${CHALKLINE:-./chalkline}
sheet=$1
echo '| model | hosts | out, cheap end | total, B: said | is | active, B: said | is |'
echo '|---|---|---|---|---|---|---|'
"$CHALKLINE" list models | awk 'NR > 1 { print $1 }' | while read -r model; do
    "$CHALKLINE" deduce "$sheet" --market "$model" 2>/dev/null | awk -v model="$model" '
        NR == 1 { hosts = $2 }
        /cheap end/ { out = $(NF - 1) }
        /total parameters/ { total = $3 " (" $7 " .. " $9 ")"; low[1] = $7; high[1] = $9 }
        /active parameters/ { active = $3 " (" $7 " .. " $9 ")"; low[2] = $7; high[2] = $9 }
        /known of it/ {
            gsub(",", "")
            is[1] = $5; is[2] = $8 == "" ? "not said" : $8
            for (i = 1; i <= 2; i++)
                out_of[i] = is[i] + 0 && (is[i] + 0 < low[i] + 0 || is[i] + 0 > high[i] + 0) ? " **outside**" : ""
            printf "| %s | %s | %s | %s | %s%s | %s | %s%s |\n", model, hosts, out, total, is[1],
                   out_of[1], active, is[2], out_of[2]
        }'
done
