#!/usr/bin/env python3
"""sbom.py VERSION BUILD -- a bill of materials of a build, as SPDX 2.3 in JSON, on standard output.

Packages are the programs and the library of BUILD, each library that one of them names as needed in its ELF file, with
the version of the system's package that it comes from, and what the page brings where the page is inside. Files are the
sheets of data/, with the hosts of their sources. The date is that of the commit, so that a commit has one bill.
A library of which this file has no licence is an error.
"""
import glob, hashlib, json, os, re, subprocess, sys, time

# Licence and supplier, as each project states them.
GNU = "Organization: Free Software Foundation"
LIBRARIES = {
    "jansson": ("jansson", "MIT", "Person: Petri Lehtinen"),
    "z": ("zlib", "Zlib", "Person: Jean-loup Gailly, Mark Adler"),
    "zstd": ("zstd", "BSD-3-Clause OR GPL-2.0-only", "Organization: Meta Platforms"),
    "microhttpd": ("libmicrohttpd", "LGPL-2.1-or-later", GNU),
    "curl": ("curl", "curl", "Person: Daniel Stenberg"),
    "gomp": ("libgomp", "GPL-3.0-or-later WITH GCC-exception-3.1", GNU),
    "omp": ("libomp", "Apache-2.0 WITH LLVM-exception", "Organization: LLVM"),
    "c": ("glibc", "LGPL-2.1-or-later", GNU),
    "m": ("glibc", "LGPL-2.1-or-later", GNU),
    "ld-linux": ("glibc", "LGPL-2.1-or-later", GNU),
}
PAGE = {
    "preact": ("MIT", "Organization: Preact"),
    "@fontsource/stix-two-math": ("OFL-1.1", "Organization: The STIX Fonts Project"),
    "@fontsource/stix-two-text": ("OFL-1.1", "Organization: The STIX Fonts Project"),
}


def said(*command):
    """What a command prints; "" where it fails or does not exist."""
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


def needed(path):
    """{soname: path} of the libraries that a file names itself."""
    names = re.findall(r"\(NEEDED\).*\[(.*)\]", said("readelf", "-d", path))
    where = dict(re.findall(r"(\S+) => (/\S+)", said("ldd", path)))
    where.update((os.path.basename(one), one) for one in re.findall(r"^\s*(/\S+) \(", said("ldd", path), re.M))
    return {name: where.get(name, "") for name in names}


def version_of(path):
    """The upstream version of the system's package that has a file."""
    for one in (path, os.path.realpath(path), "/usr" + path, path.removeprefix("/usr")):
        owner = said("dpkg", "-S", one).split(": ")[0]
        if path and owner:
            return said("dpkg-query", "-W", "-f=${source:Upstream-Version}", owner)
    return "NOASSERTION"


def package(name, version, licence, supplier):
    return {"SPDXID": "SPDXRef-Package-" + re.sub("[^A-Za-z0-9.-]+", "-", name).strip("-"), "name": name, "versionInfo": version,
            "supplier": supplier, "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": licence,
            "licenseDeclared": licence, "copyrightText": "NOASSERTION"}


def sheet(path):
    content = open(path, "rb").read()
    hosts = sorted(set(re.findall(r"https?://([^/\s,;\"'<>()]+)", content.decode())))
    return {"SPDXID": "SPDXRef-File-" + re.sub("[^A-Za-z0-9.-]+", "-", path), "fileName": "./" + path,
            "checksums": [{"algorithm": one, "checksumValue": hashlib.new(one, content).hexdigest()} for one in ("SHA1", "SHA256")],
            "licenseConcluded": "Apache-2.0", "licenseInfoInFiles": ["NOASSERTION"], "copyrightText": "NOASSERTION",
            "comment": "Sources: " + (", ".join(hosts) or "stated in the rows")}


def bill(version, build):
    commit, date = said("git", "rev-parse", "--short", "HEAD"), int(said("git", "log", "-1", "--format=%ct") or 0)
    packages, relations = {}, []

    def relate(one, kind, other):
        if (row := {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}) not in relations:
            relations.append(row)

    for name, path in (("chalkline", "chalkline"), ("chalkline-net", "chalkline-net"), ("libchalkline", "libchalkline.so.0")):
        own = packages[name] = package(name, version, "Apache-2.0", "Organization: chalkline maintainers")
        relate("SPDXRef-DOCUMENT", "DESCRIBES", own["SPDXID"])
        links = needed(f"{build}/{path}")
        if not links:
            sys.exit(f"sbom: {build}/{path} names no library (expected a linked ELF file; make chalkline builds it)")
        for soname, where in links.items():
            stem = re.match(r"(?:lib)?([a-z_]+|ld-linux)(?=[-.])", soname)
            stem = "ld-linux" if soname.startswith("ld-linux") else stem[1].removesuffix("-gnutls")
            if stem not in LIBRARIES:
                sys.exit(f"sbom: no licence is known of {soname}, which {path} needs; LIBRARIES of tools/sbom.py lists those known")
            title, licence, supplier = LIBRARIES[stem]
            if title not in packages:
                packages[title] = package(title, version_of(where), licence, supplier)
            relate(own["SPDXID"], "DYNAMIC_LINK", packages[title]["SPDXID"])
    if os.path.exists("build/page/chalkline.html.gz"):
        lock = json.load(open("web/page/package-lock.json"))["packages"]
        for name, (licence, supplier) in PAGE.items():
            packages[name] = package(name, lock["node_modules/" + name]["version"], licence, supplier)
            relate(packages["chalkline"]["SPDXID"], "CONTAINS", packages[name]["SPDXID"])
    files = [sheet(path) for path in sorted(glob.glob("data/**/*.csv", recursive=True))]
    for one in files:
        relate(packages["chalkline"]["SPDXID"], "CONTAINS", one["SPDXID"])
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"chalkline-{version}",
            "documentNamespace": f"https://spdx.org/spdxdocs/chalkline-{version}-{commit or 'unknown'}",
            "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(date)), "creators": ["Tool: chalkline-sbom"]},
            "packages": list(packages.values()), "files": files, "relationships": relations}


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.split(" -- ")[0])
    print(json.dumps(bill(*sys.argv[1:]), indent=1))
