"""Predicates of the lecture's statements, evaluated by another program.

usage: questions.py CHALKLINE ["MODEL MACHINE [OPTION VALUE]..."]...

`lecture --json` says which inputs a question keeps, its comparison, and at which value of an input that changes. Here the
comparison is parsed and computed in Python from values of rows, which `eval` gives for the same inputs, and once more a
millionth below and above the root. AT(a, row=b) is a computed with row set to b.

Each number of a printed sentence is read back and compared with what `eval` says of its mark in data/lecture.csv.
"""
import csv
import json
import re
import subprocess
import sys

UNITS = {"token": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400}
LAYOUT = {"--gpus", "--tp", "--dp", "--pp", "--ep", "--cp", "--replicas", "--users", "--concurrency", "--rate",
          "--chunked-prefill-size", "--max-batched-tokens"}
OPTIONS = {"chips": "--gpus", "batch": "--batch", "context": "--context", "pipeline_parallel": "--pp"}
TOKEN = re.compile(r"\s*([0-9.]+(?:e[0-9]+)?[A-Za-z]*|[A-Za-z_][A-Za-z_0-9]*(?:\[[a-z]+\])?|<=|>=|[-+*/(),=<>])")


class Rows:
    """Values of rows for the inputs of one question, by `eval`."""

    def __init__(self, program, words, inputs):
        self.program, self.words, self.inputs, self.known = program, words, inputs, {}

    def command(self, rows):
        words, layout = [], "chips" in self.inputs
        for option, value in zip(self.words[::2], self.words[1::2]):
            row = value.split("=")[0] if option == "--set" else {v: k for k, v in OPTIONS.items()}.get(option)
            if row in self.inputs or layout and (option in LAYOUT or row == "arrival_rate"):
                continue
            words += [option, value]
        for row, value in self.inputs.items():
            words += ["--set", f"{row}={value!r}"]
        return [self.program, "eval", *rows, *words, "--json"]

    def read(self, rows):
        rows = [row for row in rows if row not in self.known]
        if not rows:
            return
        answer = subprocess.run(self.command(rows), capture_output=True, text=True, check=False)
        said = json.loads(answer.stdout or "{}")
        if any(row not in said for row in rows):
            raise ValueError(answer.stderr or answer.stdout)
        self.known.update({row: said[row]["value"] for row in rows})

    def moved(self, row, value):
        return Rows(self.program, self.words, {**self.inputs, row: value})


class Reader:
    """An expression by recursive descent, evaluated as it is read."""

    def __init__(self, text):
        self.tokens, self.at = TOKEN.findall(text), 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted=None):
        token = self.peek()
        if wanted and token != wanted:
            raise ValueError(f"{wanted} expected, {token} found")
        self.at += 1
        return token

    def sum(self, rows):
        value = self.product(rows)
        while self.peek() in "+-" and self.peek():
            value = value + self.product(rows) if self.take() == "+" else value - self.product(rows)
        return value

    def product(self, rows):
        value = self.atom(rows)
        while self.peek() in "*/" and self.peek():
            value = value * self.atom(rows) if self.take() == "*" else value / self.atom(rows)
        return value

    def atom(self, rows):
        token = self.take()
        if token == "(":
            value = self.sum(rows)
            self.take(")")
            return value
        if token in ("max", "min"):
            values = [self.sum(rows)] if self.take("(") else []
            while self.peek() == ",":
                self.take()
                values.append(self.sum(rows))
            self.take(")")
            return max(values) if token == "max" else min(values)
        if token == "AT":
            return self.moved(rows)
        number = re.match(r"[0-9.]+(?:e[0-9]+)?", token)
        if number:
            return float(number.group()) * UNITS.get(token[number.end():] or "token")
        rows.read([token])
        return rows.known[token]

    def moved(self, rows):
        self.take("(")
        begin, depth = self.at, 0
        while depth or self.peek() != ",":
            depth += {"(": 1, ")": -1}.get(self.take(), 0)
        inside, there = Reader(""), rows
        inside.tokens = self.tokens[begin:self.at]
        while self.peek() == ",":
            self.take()
            row = self.take()
            self.take("=")
            there = there.moved(row, self.sum(rows))
        self.take(")")
        return inside.sum(there)


def compared(text, rows):
    """Both sides, and whether the comparison is true."""
    reader = Reader(text)
    names = [t for t in reader.tokens if re.match(r"[a-z_]", t) and t not in ("max", "min", "pow")]
    if "AT" not in reader.tokens:
        rows.read(list(dict.fromkeys(names)))
    left = reader.sum(rows)
    sign = reader.take()
    right = reader.sum(rows)
    equal = abs(left - right) <= 1e-12 * max(abs(left), abs(right))
    true = {"<=": left < right or equal, ">=": left > right or equal, "<": left < right, ">": left > right}[sign]
    return left, right, true


def near(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def quantity(text, large=False):
    """A printed number with its unit, in base units: "1.44 MB", "8,312 tokens", "47.9 %", "15 T tokens"; None: words."""
    found = re.match(r"(-?[0-9][0-9,]*(?:\.[0-9]+)?(?:e-?[0-9]+)?)(?: (.*))?$", text)
    if not found:
        return None
    value, unit = float(found.group(1).replace(",", "")), found.group(2) or ""
    count = re.match(r"([kMBTP])(?: tokens?| token/s)?$", unit)
    if count and (large or unit != "B"):
        return value * {"k": 1e3, "M": 1e6, "B": 1e9, "T": 1e12, "P": 1e15}[count.group(1)]
    scaled = re.match(r"(us|ns|ms|s|min|h|d|years|[kMGTP]?(?:B|FLOP)|%|tokens?)?(/token|/s)?$", unit)
    if scaled:
        head = scaled.group(1) or ""
        times = {"us": 1e-6, "ns": 1e-9, "ms": 1e-3, "min": 60, "h": 3600, "d": 86400, "years": 365.25 * 86400,
                 "%": 0.01}.get(head)
        prefix = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}.get(head[:1] if len(head) > 1 else "", 1)
        return value * (times or (prefix if head.endswith(("B", "FLOP")) else 1))
    return value * {"USD": 1, "USD/h": 1 / 3600, "USD/Mtoken": 1e-6, "USD/GB": 1e-9}[unit]


def spoken(statement, template, rows, wrong):
    """Compare the marks of the sentence; the number of those that are numbers."""
    marks = re.findall(r"\{([^}]*)\}", template)
    plural = re.sub(r"\\ (chip|stage|layer|expert|domain|sequence)s\b", r"\\ \1s?", re.escape(template))
    pattern = re.sub(r"\\\{.*?\\\}", "(.+?)", plural) + "$"
    found = re.match(pattern, statement["here"]["conclusion"])
    if not found:
        wrong.append(f"{statement['id']}: its sentence is not that of the sheet")
        return 0
    count = 0
    for mark, text in zip(marks, found.groups()):
        if mark.endswith(".binds"):
            continue
        row = mark[:-1] if mark[-1] in "%@!-" else mark
        rows.read([row])
        said, value = quantity(text, mark.endswith("@")), rows.known[row]
        count += 1
        if said is None or abs(said - value) > 6e-3 * abs(value):
            wrong.append(f"{statement['id']}: {mark} is {text} in the sentence, {value:.6g} by eval")
    return count


def check(program, pair, sheet):
    model, machine, *more = pair.split()
    answer = subprocess.run([program, "lecture", "--model", model, "--on", machine, *more, "--json"], capture_output=True,
                            text=True, check=True)
    said, wrong, predicates, roots, numbers = json.loads(answer.stdout), [], 0, 0, 0
    for statement in said["statements"]:
        here = statement.get("here")
        if not here or not here["applies"]:
            continue
        predicate, flips = here["predicate"], here["flips"]
        rows = Rows(program, said["words"], here["question"])
        one = sheet[statement["id"]]
        rows.read([here["figure_row"]])
        if not near(rows.known[here["figure_row"]], here["figure"]):
            wrong.append(f"{statement['id']}: {here['figure']:.12g}, {rows.known[here['figure_row']]:.12g} by eval")
        numbers += spoken(statement, one["here_fails" if predicate and not predicate["holds"] else "here"], rows, wrong)
        if not predicate:
            continue
        predicates += 1
        left, right, true = compared(predicate["text"], rows)
        if not near(left, predicate["left"]) or not near(right, predicate["right"]) or true != predicate["holds"]:
            wrong.append(f"{statement['id']}: {predicate['text']}: {left:.12g} and {right:.12g} here, "
                         f"{predicate['left']:.12g} and {predicate['right']:.12g} there")
        if not flips or flips["at"] is None:
            continue
        roots += 1
        below, above = (compared(predicate["text"], rows.moved(flips["input"], flips["at"] * x))[2]
                        for x in (1 - 1e-6, 1 + 1e-6))
        if below == above:
            wrong.append(f"{statement['id']}: {flips['input']} = {flips['at']:.12g} turns nothing")
    for line in wrong:
        print(f"{pair}: {line}")
    print(f"  {pair}: {predicates} comparisons computed, {roots} roots turn them, {numbers} numbers of sentences read, "
          f"{len(wrong)} differ")
    return not wrong


if __name__ == "__main__":
    with open("data/lecture.csv", encoding="utf-8") as lines:
        known = {row["id"]: row for row in csv.DictReader(line for line in lines if not line.startswith("#"))}
    sys.exit(0 if all([check(sys.argv[1], pair, known) for pair in sys.argv[2:]]) else 1)
