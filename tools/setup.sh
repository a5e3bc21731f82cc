#!/bin/sh
# setup.sh GROUP... -- install what tools/packages.txt lists for the groups and is missing. A
# program that is there by its name will do, wherever it came from.
set -eu
list=$(dirname "$0")/packages.txt
missing=
for group in "$@"; do
    while read -r of package why; do
        [ "$of" = "$group" ] || continue
        case $package in *-dev*|*libc*) ;; *) ! command -v "$package" >/dev/null || continue ;; esac
        if ! dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed'; then
            echo "setup: $package ($why) is missing"
            missing="$missing $package"
        fi
    done < "$list"
done
[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null; then
    echo "setup: no apt-get here; install the equivalents of:$missing" >&2
    exit 1
fi
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
echo "setup: $sudo apt-get install$missing"
# An index that is there may do; a fresh machine has none.
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq $missing >/dev/null 2>&1 || {
    $sudo apt-get update -qq
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq $missing >/dev/null
}
