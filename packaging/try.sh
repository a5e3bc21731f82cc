#!/bin/sh
# try.sh [RELEASE...] -- each file of build/dist in bare roots of Debian (bookworm and trixie): installed, with its first
# answer, which is the same everywhere. A line for each: bytes, and seconds from the installation to the answer. Needs root,
# debootstrap, and what `make deb wheel static` has written.
set -u
cd "$(dirname "$0")/.." || exit 2
[ $# != 0 ] || set -- bookworm trixie
mirror=${MIRROR:-$(sed -n 's/^URIs: *//p; s/^deb \([^ ]*\).*/\1/p' /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null | head -1)}
roots=$(mktemp -d)
trap 'rm -rf --one-file-system "$roots"' EXIT
bad=0
asked='eval predicted_tpot --model llama-3.3-70b --on h100-sxm --gpus 4 --csv'
want=$(./chalkline $asked | sed -n 's/^predicted_tpot,\([^,]*\),.*/\1/p')
[ -n "$want" ] || exit 2

# inside COMMAND: by a shell of the root.
inside() {
    unshare --mount --pid --fork sh -c 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" &&
        exec chroot "$0" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin ${http_proxy:+http_proxy="$http_proxy"} \
            sh -c "cd /root && $1"' "$root" "$1"
}
# try NAME FILE COMMAND: it ends with the figure.
try() {
    begin=$(date +%s)
    if inside "$3" >"$roots/log" 2>&1 && grep -qF -- "$want" "$roots/log"; then word=ok; else word=FAIL bad=1; cat "$roots/log"; fi
    printf '%-4s %-9s %-14s %8d bytes %3d s\n' $word "$release" "$1" "$(cat build/dist/$2 | wc -c)" $(($(date +%s) - begin))
}

for release; do
    root=$roots/$release
    debootstrap --variant=minbase "$release" "$root" "$mirror" >"$roots/log" 2>&1 || { tail -3 "$roots/log"; exit 1; }
    cp build/dist/* tests/fixtures/library/ask.c "$root/root/"
    inside 'apt-get update -qq && apt-get install -qq -y --no-install-recommends python3-venv && python3 -m venv v' >"$roots/log" 2>&1 ||
        { tail -3 "$roots/log"; exit 1; }
    try static "chalkline-*-$(uname -m)" "./chalkline-*-$(uname -m) $asked"
    try wheel '*.whl' 'v/bin/pip install -q ./*.whl && v/bin/python -c "import chalkline
print(chalkline.step(\"llama-3.3-70b\", on=\"h100-sxm\", gpus=4).predicted_tpot)"'
    try chalkline 'chalkline_*.deb' "apt-get install -qq -y --no-install-recommends ./chalkline_*.deb && chalkline $asked &&
        chalkline page -o page.html && ! chalkline serve --port 0 && apt-get install -qq -y ./chalkline-net_*.deb &&
        { timeout 2 chalkline serve --port 0 || true; } | grep http://127.0.0.1"
    try libchalkline 'libchalkline0_*.deb' 'apt-get install -qq -y --no-install-recommends ./libchalkline*.deb gcc libc6-dev pkg-config &&
        gcc ask.c -o ask $(pkg-config --cflags --libs chalkline) && ./ask'
done
exit $bad
