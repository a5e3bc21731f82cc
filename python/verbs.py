"""verbs.py OPENAPI.json FOLDER -- what the package knows of the verbs, and its stubs, from `chalkline reference openapi`.

FOLDER/_verbs.py has the documentation and the options of each verb, FOLDER/__init__.pyi their types."""

import json
import keyword
import pathlib
import sys
import textwrap

TYPES = {"string": "str", "number": "float", "integer": "int", "boolean": "bool", "array": "builtins.list", "object": "dict"}


# Members that are arguments of their own, and options that write files, which the library never does.
LEFT_OUT = ("words", "config", "files", "plot", "report", "report-page")


def name_of(option):
    name = option.replace("-", "_")
    return name + "_" * keyword.iskeyword(name)


def schema_of(document, member):
    return document["components"]["schemas"][member["$ref"].rsplit("/", 1)[1]]


def type_of(schema):
    kinds = schema.get("type", "string")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    named = [TYPES[kind] for kind in kinds]
    if "enum" in schema:
        named = ["Literal[" + ", ".join(repr(one) for one in schema["enum"]) + "]"]
    if "string" in kinds:
        named.append("os.PathLike")
    return " | ".join(dict.fromkeys(named))


def verbs_of(document):
    for path, methods in document["paths"].items():
        if "post" in methods:
            asked = methods["post"]
            properties = asked["requestBody"]["content"]["application/json"]["schema"]["properties"]
            yield path.rsplit("/", 1)[1], asked, {name: schema_of(document, member) for name, member in properties.items()}


def doc_of(asked, options):
    lines = [asked["summary"], "", asked["description"], ""]
    for name, schema in options.items():
        if name not in LEFT_OUT:
            unit = f", {schema['x-unit']}" if schema.get("x-unit", "1") != "1" else ""
            lines += textwrap.wrap(f"{name_of(name)}: {schema['description']}{unit}", 100, subsequent_indent="    ")
    return "\n".join(lines)


def stub_of(verb, asked, options):
    names = [(name_of(name), type_of(schema)) for name, schema in options.items() if name not in LEFT_OUT]
    given = "".join(f",\n    {name}: {'dict | ' if name == 'model' else ''}{kind} | None = ..." for name, kind in names)
    return (f"def {name_of(verb)}(*words: str | float | dict | os.PathLike{given},\n    config: dict | None = ..., files: dict | None = ...\n) -> Answer:\n"
            f'    """{asked["summary"]}"""\n')


def main(openapi, folder):
    document = json.loads(pathlib.Path(openapi).read_text(encoding="utf-8"))
    folder = pathlib.Path(folder)
    verbs, stubs = {}, []
    for verb, asked, options in verbs_of(document):
        verbs[verb] = {"doc": doc_of(asked, options), "options": sorted(set(options) - {"words", "config", "files"})}
        stubs.append(stub_of(verb, asked, options))
    (folder / "_verbs.py").write_text('"""Written by python/verbs.py."""\n\nVERBS = ' + json.dumps(verbs, indent=1) + "\n", encoding="utf-8")
    stub = (folder / "__init__.pyi.in").read_text(encoding="utf-8")
    (folder / "__init__.pyi").write_text(stub + "\n" + "\n".join(stubs), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
