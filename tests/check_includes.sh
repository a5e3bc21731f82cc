#!/bin/sh
# check_includes.sh -- includes point one way, and from outside a folder only its public
# headers are seen:
#
#     base <- engine <- import, search, deduce, sim, measure <- ask <- web <- cli
#
# formulas/ and data/ include nothing. Prints each offending line.
set -u
cd "$(dirname "$0")/.." || exit 2

public="base/base.h base/embedded.h base/ranks.h rows/rows.h rows/facts.h rows/random.h import/import.h
catalog/catalog.h score/measured.h import/prices.h search/search.h search/block.h search/store.h infer/infer.h sim/sim.h measure/measure.h ask/ask.h scenario/server.h
web/web.h"

# The folders that a folder may include from, beside itself.
below() {
    case $1 in
    base) ;;
    engine) echo base ;;
    import|search|deduce|sim|measure) echo base engine ;;
    ask) echo base engine import search deduce sim measure ;;
    web) echo base engine import search deduce sim measure ask ;;
    cli) echo base engine import search deduce sim measure ask web ;;
    esac
}

offences() {
    for folder in base engine import search deduce sim measure ask cli web; do
        [ -d "$folder" ] || continue
        allowed=" $folder $(below "$folder") "
        grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' \
            --include='*.c' --include='*.h' --include='*.def' "$folder" |
        while IFS= read -r line; do
            header=${line#*\"}
            header=${header%%\"*}
            from=${header%%/*}
            case $header in
            */*) ;;
            *) echo "$line    (name the folder)"; continue ;;
            esac
            case $allowed in
            *" $from "*) ;;
            *) echo "$line    ($folder may include from:$(printf ' %s' $allowed))"; continue ;;
            esac
            [ "$from" = "$folder" ] && continue
            case $header in *.def) continue ;; esac
            case " $(echo $public) " in
            *" $header "*) ;;
            *) echo "$line    (private to $from/)" ;;
            esac
        done
    done
    for folder in formulas data; do
        grep -rnE '^[[:space:]]*#[[:space:]]*include' "$folder"
    done
}

found=$(offences)
[ -z "$found" ] && exit 0
echo "$found"
exit 1
