#!/bin/sh
# check_sbom.sh -- the bill of materials has what SPDX 2.3 requires, its relations join elements that it has, and each
# library that a program of the build needs is in it, with a version and a licence.
set -eu
cd "$(dirname "$0")/.."
. tests/needs.sh
for tool in python3 readelf; do command -v $tool >/dev/null || missing $tool; done
build=$(dirname "${CHALKLINE:-build/gcc/chalkline}")
bill=$(mktemp)
trap 'rm -f "$bill"' EXIT
python3 tools/sbom.py 1.2.3 "$build" >"$bill"
python3 - "$bill" "$build" <<'PY'
import json, re, subprocess, sys
bill = json.load(open(sys.argv[1]))
bad = []
REQUIRED = {
    "": ("SPDXID", "creationInfo", "dataLicense", "documentNamespace", "name", "spdxVersion"),
    "packages": ("SPDXID", "name", "downloadLocation"),
    "files": ("SPDXID", "fileName", "checksums"),
    "relationships": ("spdxElementId", "relatedSpdxElement", "relationshipType"),
}
for kind, fields in REQUIRED.items():
    for one in bill[kind] if kind else [bill]:
        bad += [f"{kind or 'document'} {one.get('SPDXID', '')} has no {field}" for field in fields if not one.get(field)]
ids = [one["SPDXID"] for kind in ("packages", "files") for one in bill[kind]] + ["SPDXRef-DOCUMENT"]
bad += [f"two elements are {one}" for one in sorted(set(ids)) if ids.count(one) > 1]
bad += [f"'{one}' is no SPDX identifier" for one in ids if not re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", one)]
bad += [f"a relation names {row[end]}, which is no element" for row in bill["relationships"]
        for end in ("spdxElementId", "relatedSpdxElement") if row[end] not in ids]
if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", bill["creationInfo"]["created"]) or not bill["creationInfo"]["creators"]:
    bad.append("the creation has no date or no creator")
links = {}
for row in bill["relationships"]:
    if row["relationshipType"] == "DYNAMIC_LINK":
        links.setdefault(row["spdxElementId"], set()).add(row["relatedSpdxElement"])
of = {one["SPDXID"]: one for one in bill["packages"]}
for name, path in (("chalkline", "chalkline"), ("chalkline-net", "chalkline-net"), ("libchalkline", "libchalkline.so.0")):
    needed = subprocess.run(["readelf", "-d", f"{sys.argv[2]}/{path}"], capture_output=True, text=True).stdout.count("(NEEDED)")
    had = links.get("SPDXRef-Package-" + name, set())
    # glibc is one package of several libraries.
    if not had or not needed - 3 <= len(had) <= needed:
        bad.append(f"{path} needs {needed} libraries, and the bill links it with {sorted(had)}")
    bad += [f"{of[one]['name']} has no {field}" for one in had for field in ("versionInfo", "licenseDeclared", "supplier") if not of[one].get(field)]
print("\n".join(bad) or f"  {len(bill['packages'])} packages, {len(bill['files'])} sheets, {len(bill['relationships'])} relations")
sys.exit(bool(bad))
PY
