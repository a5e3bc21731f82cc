#!/usr/bin/env python3
"""coverage.py BUILD [--write] -- the lines and branches of the tree's own sources that ran, by file, from the counts that
programs of BUILD have left (gcov). Left out are tests, benchmarks and what the build writes. Branches of an assert do not
count: one side of each is a bug.

At least 90 % of the lines and 80 % of the branches must run, over all and of each file, unless tests/coverage/below.txt has lower
floors for the file, and the reason. Prints the files of that list and those below their floors; fails if a file or the whole is
below. --write puts floors into the list, two below the whole percentage that ran; you write the reasons.
"""
import json, os, re, subprocess, sys

FLOORS = 90, 80
LIST = "tests/coverage/below.txt"
FOREIGN = ("build/", "tests/", "bench/", "tools/", "lab/fit/", "/")
ASSERT = re.compile(r"\bassert\(")


def asserts(path):
    with open(path, encoding="utf-8") as source:
        return {number for number, line in enumerate(source, 1) if ASSERT.search(line)}


def counts(build):
    """{file: ({line: count}, {(line, function, number): count})}; code compiled several times counts once."""
    files, asserted = {}, {}
    notes = [os.path.join(at, name) for at, _, names in os.walk(build) for name in names if name.endswith(".gcno")]
    for i in range(0, len(notes), 50):
        out = subprocess.run(["gcov", "--json-format", "--branch-probabilities", "--stdout", *notes[i:i + 50]],
                             capture_output=True, text=True).stdout
        for report in map(json.loads, filter(None, out.splitlines())):
            for one in report["files"]:
                path = os.path.normpath(one["file"])
                if path.startswith(FOREIGN):
                    continue
                if path not in files:
                    files[path], asserted[path] = ({}, {}), asserts(path)
                lines, branches = files[path]
                for line in one["lines"]:
                    number = line["line_number"]
                    lines[number] = lines.get(number, 0) + line["count"]
                    for k, branch in enumerate(line["branches"] if number not in asserted[path] else ()):
                        key = number, line.get("function_name"), k
                        branches[key] = branches.get(key, 0) + branch["count"]
    return files


def listed():
    """{file: (floor of lines, floor of branches, reason)} of the list, and its head."""
    with open(LIST, encoding="utf-8") as file:
        text = file.readlines()
    head = [line for line in text if not line.strip() or line[0] == "#"]
    rows = [line.split(None, 3) for line in text if line not in head]
    return {path: (float(lines), float(branches), why.strip()) for path, lines, branches, why in rows}, head


def share(numbers):
    return 100 * sum(count > 0 for count in numbers) / len(numbers) if numbers else 100


def main(build, write):
    files, (known, head) = counts(build), listed()
    if not files:
        sys.exit(f"coverage: {build} has no counts (expected a build with --coverage: make coverage)")
    below = []
    for path, (lines, branches) in sorted(files.items()):
        shares = share(lines.values()), share(branches.values())
        *floors, why = known.get(path, (*FLOORS, ""))
        low = shares[0] < floors[0] or shares[1] < floors[1]
        if low or path in known:
            print("%-5s %-38s %5.1f %5.1f  %s" % ("BELOW" if low else "", path, *shares, why))
        if low:
            below.append(path)
        if write and (shares[0] < FLOORS[0] or shares[1] < FLOORS[1]):
            known[path] = *(max(0, min(int(now) - 2, floor)) for now, floor in zip(shares, FLOORS)), why or "?"
        elif write:
            known.pop(path, None)
    for path in sorted(set(known) - set(files)):
        print(f"BELOW {path:38} is in {LIST}, and not in the tree")
        below.append(path)
    total = share([n for lines, _ in files.values() for n in lines.values()]), \
        share([n for _, branches in files.values() for n in branches.values()])
    print("%-5s %-38s %5.1f %5.1f  of %d files" % ("", "all", *total, len(files)))
    if write:
        with open(LIST, "w", encoding="utf-8") as file:
            file.writelines(head)
            file.writelines("%-38s %2d %2d  %s\n" % (path, *known[path]) for path in sorted(known))
    bad = bool(below) or total[0] < FLOORS[0] or total[1] < FLOORS[1]
    print(f"{int(not bad)} passed, {int(bad)} failed")
    return bad


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--write"]):
        sys.exit(__doc__.split(" -- ")[0])
    sys.exit(main(sys.argv[1], len(sys.argv) == 3))
