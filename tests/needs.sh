# needs.sh -- for checks that run programs of other people (`. tests/needs.sh`). A check that cannot run here prints
# "skipped: needs ...", ends with 77, and is counted by tests/run.sh; a check of which a part can run prints the line alone.

# missing WHAT: end the check.
missing() {
    echo "skipped: needs $1"
    exit 77
}

# has PROGRAM: is it on the PATH? Prints the line if not.
has_program() {
    command -v "$1" >/dev/null || { echo "skipped: needs $1"; return 1; }
}

# node_packages MAJOR FOLDER: Node of at least that version, and what npm has put into the folder.
node_packages() {
    command -v node >/dev/null || missing "node $1 or newer"
    [ "$(node -p 'process.versions.node.split(".")[0]')" -ge "$1" ] || missing "node $1 or newer, and this is node $(node -v)"
    [ -f "$2/node_modules/.package-lock.json" ] ||
        missing "the npm packages of $2$(sed -n 's/.*code \([A-Z_]*\).*/: npm ended with \1/p;q' "$2/npm.log" 2>/dev/null)"
}
