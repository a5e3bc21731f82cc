#!/bin/sh
# fresh.sh [RELEASE...] -- what README promises on a fresh machine, `make demo` and `make check`, in bare roots of Debian
# (bookworm and trixie) that have make, git and ca-certificates, nothing of this machine's caches, and no way to npm's
# registry. Tries the last commit; with CHALKLINE_SHORT the tests take samples of their long lists. Mounts and processes of a
# root live in namespaces that end with the command.
#
# A line for each command: seconds on the clock and of processors, packages, megabytes; its log is in build/fresh. The
# last line counts. MIRROR=URL: another archive; KEEP=1 leaves the roots, FRESH_ROOTS=DIR says where.
set -u
cd "$(dirname "$0")/.." || exit 2
[ $# != 0 ] || set -- bookworm trixie
cannot() {
    echo "skip fresh.sh: needs $1"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}
[ "$(id -u)" = 0 ] || cannot root
command -v debootstrap >/dev/null || cannot debootstrap
unshare --mount --pid --fork true 2>/dev/null || cannot 'the right to mount (unshare --mount)'
mirror=${MIRROR:-$(sed -n 's/^URIs: *//p; s/^deb \([^ ]*\).*/\1/p' /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null | head -1)}
npm=$(npm config get registry 2>/dev/null | sed 's|^[a-z]*://||; s|[:/].*||')
mkdir -p build/fresh
logs=$PWD/build/fresh
roots=$(mktemp -d "${FRESH_ROOTS:-${TMPDIR:-/tmp}}/fresh-XXXXXX")
[ -n "${KEEP:-}" ] || trap 'rm -rf --one-file-system "$roots"' EXIT
passed=0 failed=0

# inside COMMAND: by a shell of the root.
inside() {
    unshare --mount --pid --fork sh -c '
        mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" &&
        exec chroot "$0" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            ${CHALKLINE_SHORT:+CHALKLINE_SHORT="$CHALKLINE_SHORT"} \
            ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
            sh -c "cd /root/chalkline && $1"' "$root" "$1"
}
packages() { inside 'dpkg-query -W | wc -l'; }
megabytes() { inside "dpkg-query -W -f='\${Installed-Size}\n' | awk '{ k += \$1 } END { printf \"%.0f\", k * 1.024 / 1000 }'"; }
# used: seconds of processors that ended commands of this shell have taken so far, as $seconds_used.
used() {
    times >"$logs/times"
    seconds_used=$(awk 'NR == 2 { gsub(/[ms]/, " "); print int($1 * 60 + $2 + $3 * 60 + $4) }' "$logs/times")
}

# try RELEASE COMMAND PATTERN: it ends with 0, prints the pattern, and no compiler warns.
try() {
    log=$logs/$1-$(echo "$2" | tr -d ' ').log
    packages_before=$(packages) size_before=$(megabytes)
    used
    used_before=$seconds_used begin=$(date +%s)
    inside "$2" >"$log" 2>&1
    status=$? seconds=$(($(date +%s) - begin))
    used
    if [ $status = 0 ] && grep -q "$3" "$log" && ! grep -q 'warning:' "$log"; then
        passed=$((passed + 1)) word=ok
    else
        failed=$((failed + 1)) word=FAIL
    fi
    printf '%-4s  %-9s %-11s %4d s, %4d s of processors; %3d packages, %s, %4d MB installed  %s\n' $word "$1" "$2" \
        $seconds $((seconds_used - used_before)) $(($(packages) - packages_before)) \
        "$(sed -n 's/^setup: apt-get installs [0-9]* packages, \([0-9.,]* [kM]*B\).*/\1/p' "$log" | tail -1)" \
        $(($(megabytes) - size_before)) "$(grep '^[0-9]* passed, ' "$log" | tail -1)"
    grep '^skip ' "$log"
    [ $word = ok ] || { grep 'warning:' "$log"; tail -40 "$log"; }
}

for release; do
    root=$roots/$release begin=$(date +%s)
    if ! debootstrap --variant=minbase --include=make,git,ca-certificates "$release" "$root" "$mirror" >"$logs/$release.log" 2>&1; then
        echo "FAIL  $release debootstrap"
        tail -5 "$logs/$release.log"
        failed=$((failed + 1))
        continue
    fi
    rm -f "$root"/var/cache/apt/archives/*.deb
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    echo "127.0.0.1 localhost $npm" >"$root/etc/hosts"
    git clone -q --no-hardlinks . "$root/root/chalkline" || exit 2
    printf '      %-9s debootstrap %4d s; %3d packages, %4d MB\n' "$release" $(($(date +%s) - begin)) "$(packages)" "$(megabytes)"
    try "$release" 'make demo' '^  best '
    try "$release" 'make check' '^[0-9]* passed, 0 failed'
    [ -n "${KEEP:-}" ] || rm -rf --one-file-system "$root"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
