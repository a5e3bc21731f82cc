#!/bin/sh
# steps.sh NAME COUNT COMMAND... -- run a command that prints about COUNT lines and show each tenth of them as one line of
# progress, and warnings as they are. Where the command fails, show the end of its output.
set -u
name=$1 count=$2
shift 2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
begin=$(date +%s)
{ "$@" 2>&1 || echo 'command failed'; } | {
    lines=0 shown=0
    while IFS= read -r line; do
        printf '%s\n' "$line" >>"$log"
        case $line in *warning:*) echo "$line" ;; esac
        lines=$((lines + 1))
        [ $((lines * 10 / count)) -gt $shown ] && [ $lines -le "$count" ] || continue
        shown=$((lines * 10 / count))
        echo "$name: $lines of $count, $(($(date +%s) - begin)) s"
    done
}
if tail -1 "$log" | grep -qx 'command failed'; then
    tail -40 "$log" >&2
    exit 1
fi
