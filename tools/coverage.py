#!/usr/bin/env python3
"""coverage.py BUILD [LINES BRANCHES] -- the lines and branches of the tree's own sources that ran, by file, from the counts
that programs of BUILD have left (gcov). Left out are tests, benchmarks and what the build writes. Prints the files below
the floors, in percent (90 80), with the reason that tests/coverage/below.txt gives; fails where the tree as a whole is
below them, or a file without a reason is.
"""
import json, os, subprocess, sys

FOREIGN = ("build/", "tests/", "bench/", "tools/", "lab/fit/", "/")


def counts(build):
    """{file: ({line: count}, {(line, function, number): count})}; code compiled several times counts once."""
    files = {}
    notes = [os.path.join(at, name) for at, _, names in os.walk(build) for name in names if name.endswith(".gcno")]
    for i in range(0, len(notes), 50):
        out = subprocess.run(["gcov", "--json-format", "--branch-probabilities", "--stdout", *notes[i:i + 50]],
                             capture_output=True, text=True).stdout
        for report in map(json.loads, filter(None, out.splitlines())):
            for one in report["files"]:
                path = os.path.normpath(one["file"])
                if path.startswith(FOREIGN):
                    continue
                lines, branches = files.setdefault(path, ({}, {}))
                for line in one["lines"]:
                    number = line["line_number"]
                    lines[number] = lines.get(number, 0) + line["count"]
                    for k, branch in enumerate(line["branches"]):
                        key = number, line.get("function_name"), k
                        branches[key] = branches.get(key, 0) + branch["count"]
    return files


def reasons():
    rows = (line.rstrip("\n").split(None, 1) for line in open("tests/coverage/below.txt") if line.strip() and line[0] != "#")
    return {name: why for name, why in rows}


def share(numbers):
    return 100 * sum(count > 0 for count in numbers) / len(numbers) if numbers else 100


def main(build, floor_lines=90, floor_branches=80):
    files, known, bad = counts(build), reasons(), 0
    if not files:
        sys.exit(f"coverage: {build} has no counts (expected a build with --coverage: make coverage)")
    for path, (lines, branches) in sorted(files.items()):
        shares = share(lines.values()), share(branches.values())
        if shares[0] < floor_lines or shares[1] < floor_branches:
            bad += path not in known
            print("%-38s %5.1f %5.1f  %s" % (path, *shares, known.get(path, "no reason is given")))
    total = share([n for lines, _ in files.values() for n in lines.values()]), \
        share([n for _, branches in files.values() for n in branches.values()])
    print("%-38s %5.1f %5.1f  of %d files" % ("all", *total, len(files)))
    bad += total[0] < floor_lines or total[1] < floor_branches
    print(f"{int(not bad)} passed, {int(bool(bad))} failed")
    return bool(bad)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 4):
        sys.exit(__doc__.split(" -- ")[0])
    sys.exit(main(sys.argv[1], *map(float, sys.argv[2:])))
