#!/bin/sh
# setup.sh GROUP... -- install the packages that tools/packages.txt lists for the groups and that are missing, without
# those that Debian only recommends beside them. A program that is found by its package's name counts as installed,
# wherever it came from. Prints each missing package with its use, then each fifth of the work that apt-get reports.
set -eu
list=$(dirname "$0")/packages.txt
missing=
for group in "$@"; do
    while read -r of package why; do
        [ "$of" = "$group" ] || continue
        case $package in *-dev*|*libc*|python3-*) ;; *) ! command -v "$package" >/dev/null || continue ;; esac
        case " $missing " in *" $package "*) continue ;; esac
        if ! dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed'; then
            echo "setup: $package ($why) is missing"
            missing="$missing $package"
        fi
    done < "$list"
done
[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null; then
    echo "setup: there is no apt-get here; install the equivalents of:$missing" >&2
    exit 1
fi
sudo=
if [ "$(id -u)" != 0 ]; then
    sudo=sudo
    if ! command -v sudo >/dev/null; then
        echo "setup: you are not root, and there is no sudo; run as root: apt-get install --no-install-recommends$missing" >&2
        exit 1
    fi
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# sudo passes no environment on, so the variables are set behind it.
apt() {
    $sudo env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q -o APT::Status-Fd=1 "$@" 2>&1
}
# progress: the lines of apt-get to $log; its amounts, and each fifth that it has fetched and unpacked, to the reader.
progress() {
    shown=0 work=
    while IFS= read -r line; do
        printf '%s\n' "$line" >>"$log"
        case $line in
        *" newly installed"*) line=${line#*upgraded, }; new=${line%% *} ;;
        "Need to get "*) echo "setup: apt-get installs ${new:-some} packages, ${line#Need to get }" ;;
        dlstatus:*|pmstatus:*)
            [ "${line%%:*}" = "$work" ] || shown=0
            work=${line%%:*} percent=${line#*:*:}
            percent=${percent%%[.:]*}
            [ "$((percent / 20))" -gt "$shown" ] || continue
            shown=$((percent / 20))
            [ "$work" = dlstatus ] && verb=fetched || verb=unpacked
            echo "setup: $verb $((shown * 20)) %" ;;
        esac
    done
}
# install: the status of apt-get, which a pipe would lose.
install() {
    : >"$log"
    { apt install -y --no-install-recommends $missing || echo 'apt-get failed'; } | progress
    ! tail -1 "$log" | grep -qx 'apt-get failed'
}
begin=$(date +%s)
# A fresh machine has no index of packages, and an old index names files that are gone.
if ! apt install -s --no-install-recommends $missing >"$log" || ! install; then
    echo "setup: apt-get update"
    apt update >"$log" || { cat "$log" >&2; exit 1; }
    install || { cat "$log" >&2; exit 1; }
fi
echo "setup: done in $(($(date +%s) - begin)) s"
