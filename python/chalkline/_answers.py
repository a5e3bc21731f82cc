"""Questions and answers: keyword arguments become a request, and its reply an Answer."""

import csv
import html
import io
import json
import os

from . import _library
from ._library import Error
from ._verbs import VERBS


class Record(dict):
    """An object of an answer, whose keys are attributes too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the answer has no {name!r}; it has {', '.join(self)}") from None

    def __dir__(self):
        return [*super().__dir__(), *self]


class Table(list):
    """The rows of an answer, a dict each."""

    def to_pandas(self):
        import pandas
        return pandas.DataFrame(self)

    def to_polars(self):
        import polars
        return polars.DataFrame(list(self))


class Answer(Record):
    """What a verb answers: the keys of its JSON, as keys and as attributes.

    `status` is 0, or 1 where no configuration does what was asked; `text` and `csv` are what the command line prints."""

    def __init__(self, values, status, text, csv, verb, body):
        super().__init__(values)
        for name, value in dict(status=status, text=text, csv=csv, _verb=verb, _body=body).items():
            object.__setattr__(self, name, value)

    def __reduce__(self):
        return Answer, (dict(self), self.status, self.text, self.csv, self._verb, self._body)

    def __str__(self):
        return self.text

    @property
    def table(self):
        """The rows of the CSV, each a dict whose numbers are numbers; no rows where the answer is no table."""
        return Table({name: _number(cell) for name, cell in row.items()} for row in csv.DictReader(io.StringIO(self.csv)))

    def why(self, row, **options):
        """Why one of its figures is this number, and what would change it: `why` of the same scenario."""
        return _ask("why", [row], {**_scenario(self._verb, self._body), **options})

    def _repr_html_(self):
        """Its report, with its pictures, in a frame of its own; None where there is no report."""
        if "report" not in VERBS[self._verb]["options"]:
            return None
        status, _, page, _ = _library.ask(self._verb, json.dumps(self._body), _library.functions.chalkline_report)
        return None if status == _library.REFUSED else f'<iframe srcdoc="{html.escape(page)}" style="width: 100%; height: 40em; border: 0"></iframe>'


def _number(cell):
    try:
        return int(cell) if cell.lstrip("-").isdigit() else float(cell)
    except ValueError:
        return cell


def _scenario(verb, body):
    """The options of a question that `why` has too; the word of a verb about a model is its model."""
    words, known = body.get("words", []), VERBS["why"]["options"]
    kept = {name: value for name, value in body.items() if name in known or name in ("config", "files")}
    if words and "model" in VERBS[verb]["options"] and "model" not in kept and "config" not in kept:
        kept["model"] = words[0]
    return kept


def _read(value, files):
    """A word of a request. The text of a file that it names travels with it."""
    named = isinstance(value, os.PathLike) or isinstance(value, str) and (os.sep in value or "." in value)
    if named and os.path.isfile(value):
        name = os.fspath(value)
        try:
            with open(name, encoding="utf-8") as file:
                files[name] = file.read()
        except UnicodeDecodeError:
            raise Error(f"{name}: not a text", "a config.json; `chalkline import FILE` reads GGUF and safetensors") from None
        return name
    if isinstance(value, os.PathLike):
        raise Error(f"{os.fspath(value)}: no such file", "the path of a text file")
    return value if isinstance(value, (bool, int, float, str)) or value is None else _plain(value)


def _plain(value):
    """A number of another library, such as numpy's, as one of Python."""
    if hasattr(value, "item"):
        return value.item()
    raise Error(f"{value!r} is of the wrong kind", "a number, a text with a unit, True, a list, or the path of a file")


def body_of(words, options):
    """The body of a request."""
    body, files = {}, {}
    for name, value in options.items():
        name = name.rstrip("_").replace("_", "-")             # for_ is the option `for`
        if name == "model" and isinstance(value, dict):
            name = "config"
        if value is None or value is False:
            continue
        if name in ("config", "files"):
            body[name] = value
        elif isinstance(value, dict):
            body[name] = {key: _read(one, files) for key, one in value.items()}
        elif isinstance(value, (list, tuple)):
            body[name] = [_read(one, files) for one in value]
        else:
            body[name] = _read(value, files)
    for word in words:
        if isinstance(word, dict):
            body["config"] = word
        else:
            body.setdefault("words", []).append(_read(word, files))
    if files:
        body["files"] = {**body.get("files", {}), **files}
    return body


def _ask(verb, words, options):
    body = body_of(words, options)
    table_too = {"csv": True} if "csv" in VERBS[verb]["options"] else {}
    status, document, text, table = _library.ask(verb, json.dumps({**body, **table_too}))
    answer = json.loads(document, object_hook=Record)
    if status == _library.REFUSED:
        error = answer["error"]
        raise Error(error["what"], error.get("hint", ""), error.get("similar", ()))
    return Answer(answer, status, text, table, verb, body)


def verb(name):
    """The function of a verb."""
    said = VERBS[name]

    def ask(*words, **options):
        return _ask(name, words, options)

    ask.__name__ = ask.__qualname__ = name.replace("-", "_")
    ask.__module__ = "chalkline"
    ask.__doc__ = said["doc"]
    return ask
