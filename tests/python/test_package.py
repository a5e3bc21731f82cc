"""The package beside the command line: python3 test_package.py PROGRAM BUILD, from the root of the tree."""

import ast
import json
import os
import pathlib
import pickle
import shlex
import subprocess
import sys
import threading
import unittest

PROGRAM, BUILD = sys.argv.pop(1), sys.argv.pop(1)
sys.path.insert(0, BUILD)
import chalkline                                                        # noqa: E402

OPENAPI = json.loads(pathlib.Path(BUILD, "openapi.json").read_text())
SWITCHES = {name.split(".")[-1] for name, schema in OPENAPI["components"]["schemas"].items() if schema.get("type") == "boolean"}
SCENARIO = dict(on="h100-sxm", gpus=4)


def said(words):
    """What the command line says of these words: its JSON, or None where it refuses."""
    ran = subprocess.run([PROGRAM, *words, "--json"], capture_output=True, text=True, check=False)
    return None if ran.returncode == 2 else json.loads(ran.stdout)


def asked(words):
    """The same words as a call."""
    verb, *rest = words
    plain, options = [], {}
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            plain.append(word)
            continue
        name, given, value = word[2:].partition("=")
        if name in SWITCHES:
            options[name.replace("-", "_")] = True
        else:
            options.setdefault(name.replace("-", "_"), []).append(value if given else rest.pop(0))
    options = {name: value[0] if isinstance(value, list) and len(value) == 1 else value for name, value in options.items()}
    function = getattr(chalkline, verb + "_" * (verb == "import"))
    return function(*plain, **options)


def questions():
    for line in pathlib.Path("tests/questions.txt").read_text().splitlines():
        if line[:1] not in ("#", "=", ""):
            words = shlex.split(line.split(": ", 1)[1])
            if words[0] + "_" * (words[0] == "import") in chalkline.__all__ and "--emit" not in words:
                yield words


class Questions(unittest.TestCase):
    def test_the_figures_of_the_command_line(self):
        """Every figure has the same bits; what one refuses, the other refuses."""
        step = 7 if os.environ.get("CHALKLINE_SHORT") else 1
        compared = 0
        for words in list(questions())[::step]:
            with self.subTest(" ".join(words)):
                try:
                    answer = dict(asked(words))
                except chalkline.Error:
                    answer = None
                self.assertEqual(answer, said(words))
                compared += 1
        self.assertGreater(compared, 80 // step)


class Answers(unittest.TestCase):
    def test_keys_are_attributes(self):
        answer = chalkline.step("llama-3.3-70b", **SCENARIO)
        self.assertEqual(answer.predicted_tpot, answer["predicted_tpot"])
        self.assertIn("predicted_tpot", dir(answer))
        with self.assertRaisesRegex(AttributeError, "no 'tpot'; it has model"):
            answer.tpot
        self.assertEqual(pickle.loads(pickle.dumps(answer)).text, answer.text)

    def test_why_has_the_scenario(self):
        answer = chalkline.step("llama-3.3-70b", **SCENARIO).why("predicted_tpot")
        self.assertEqual(answer, chalkline.why("predicted_tpot", model="llama-3.3-70b", **SCENARIO))

    def test_a_table_has_numbers(self):
        table = chalkline.curve("predicted_tpot", "batch=1..64", model="qwen3-8b", on="h100-sxm", points=4).table
        self.assertEqual([row["batch"] for row in table][::3], [1, 64])
        self.assertIsInstance(table[0]["predicted_tpot"], float)
        self.assertEqual(chalkline.eval("bound_step").table[:0], [])

    def test_texts_have_units_and_lists_are_several(self):
        for ttft, rows in (("0.2s", ["batch=7"]), ("200ms", {"batch": 7}), (200, ("batch=7",))):
            one = chalkline.eval("ttft_limit", "batch", ttft=ttft, set=rows, model="qwen3-8b", on="h100-sxm")
            self.assertEqual((one.ttft_limit.value, one.batch.value), (0.2, 7))

    def test_a_model_is_a_dict_or_a_path(self):
        path = pathlib.Path("tests/fixtures/configs/qwen2.5-72b.json")
        by_path = chalkline.step(path, **SCENARIO).predicted_tpot
        self.assertEqual(by_path, chalkline.step(model=str(path), **SCENARIO).predicted_tpot)
        self.assertEqual(by_path, chalkline.step(json.loads(path.read_text()), **SCENARIO).predicted_tpot)
        self.assertEqual(by_path, chalkline.step(model=json.loads(path.read_text()), **SCENARIO).predicted_tpot)

    def test_errors_say_what_was_meant(self):
        for refused, what, similar in (
                (lambda: chalkline.step("depseek-v3", on="h100-sxm"), "unknown model 'depseek-v3'", ["deepseek-v3"]),
                (lambda: chalkline.step("deepseek-v3", onn="h100-sxm"), "'step' has no \"onn\"", []),
                (lambda: chalkline.step("deepseek-v3", on=object()), None, []),
                (lambda: chalkline.step(pathlib.Path("no/such.json"), on="h100-sxm"), "no/such.json: no such file", [])):
            with self.assertRaises(chalkline.Error) as caught:
                refused()
            self.assertEqual(caught.exception.similar, similar)
            if what:
                self.assertEqual(caught.exception.what, what)
            self.assertTrue(caught.exception.hint)
        self.assertEqual(chalkline.eval("1 + 1")["1 + 1"].value, 2)

    def test_a_notebook_shows_the_report(self):
        page = chalkline.tiers("qwen3-8b", on="h100-sxm")._repr_html_()
        self.assertTrue("&lt;svg" in page and "&gt;tiers&lt;" in page)
        self.assertIsNone(chalkline.eval("1 + 1")._repr_html_())

    def test_the_stub_is_python(self):
        stub = ast.parse(pathlib.Path(BUILD, "chalkline/__init__.pyi").read_text())
        named = {one.name for one in stub.body if isinstance(one, (ast.FunctionDef, ast.ClassDef))}
        self.assertEqual(named, set(chalkline.__all__))
        self.assertEqual(chalkline.design(power="1000W", for_="cost"), chalkline.design(power="1000W", **{"for": "cost"}))

    def test_progress_raises(self):
        chalkline.progress(lambda share: 1 / 0)
        try:
            with self.assertRaises(ZeroDivisionError):
                chalkline.simulate("poisson:rate=20,count=50000", model="llama-3.1-8b", on="h100-sxm", gpus=1)
        finally:
            chalkline.progress(None)

    def test_progress_cancels(self):
        chalkline.progress(lambda share: True)
        try:
            with self.assertRaises(KeyboardInterrupt):
                chalkline.simulate("poisson:rate=20,count=50000", model="llama-3.1-8b", on="h100-sxm", gpus=1)
        finally:
            chalkline.progress(None)
        self.assertEqual(chalkline.eval("1 + 1")["1 + 1"].value, 2)

    def test_threads_have_the_same_bits(self):
        def work(to):
            to.append([chalkline.step(model, **SCENARIO) for model in ("llama-3.3-70b", "qwen3-32b", "gpt-oss-120b")])
        results = []
        threads = [threading.Thread(target=work, args=(results,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(results), 8)
        self.assertTrue(all(one == results[0] for one in results))


class Rows(unittest.TestCase):
    def test_points_are_those_of_eval(self):
        rows = ["predicted_tpot", "bound_step"]
        both = chalkline.compile(rows, over=["batch", "context"], model="llama-3.3-70b", **SCENARIO)
        tpot, bound = both([1, 64], [1000, 3000])
        for k, (batch, context) in enumerate(((1, 1000), (64, 3000))):
            table = chalkline.curve(*rows, f"batch={batch}..65", points=2, context=context, model="llama-3.3-70b", **SCENARIO).table
            self.assertEqual((tpot[k], bound[k]), tuple(table[0][row] for row in rows))
        self.assertEqual(both(context=3000, batch=64), [tpot[1], bound[1]])

    def test_gradients_are_finite_differences(self):
        over = ["batch", "context", "hbm_bandwidth", "peak_flops", "params_active", "kv_per_token"]
        at = [64, 3000, 3.35e12, 9.9e14, 7e10, 3.3e5]
        slow = chalkline.compile("predicted_tpot", over=over[:3], gradient=True, model="llama-3.3-70b", tp=4, **SCENARIO)
        value, slopes = slow(*at[:3])
        for i, slope in enumerate(slopes):
            step = 1e-5 * at[i]
            ends = [slow(*(x + sign * step * (k == i) for k, x in enumerate(at[:3])))[0] for sign in (1, -1)]
            self.assertAlmostEqual(slope * at[i] / value, (ends[0] - ends[1]) / (2e-5 * value), delta=1e-5)

    def test_intervals_hold_the_points(self):
        row = chalkline.compile("bound_step", over=["batch", "context"], model="llama-3.3-70b", **SCENARIO)
        low, high = row.interval([1, 1000], [64, 2000])
        self.assertEqual((low, high), (row(1, 1000), row(64, 2000)))

    def test_arrays_of_numpy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("needs numpy")
        row = chalkline.compile("bound_step", over=["batch", "context"], model="llama-3.3-70b", **SCENARIO)
        grid = row(numpy.arange(1, 5).reshape(2, 2), 1000)
        self.assertEqual(grid.shape, (2, 2))
        self.assertEqual(grid[1, 0], row(3, 1000))

    def test_a_step_is_that_of_simulate(self):
        server = dict(model="llama-3.1-8b", on="h100-sxm", gpus=1)
        model = chalkline.StepModel(**server)
        run = chalkline.simulate("constant:rate=0.1,count=1,input=500,output=2", requests="-", **server)
        first, last = [float(cell) for cell in run.text.splitlines()[1].split(",")[4:6]]
        self.assertAlmostEqual(model.step(prompts=[(500, 0)]), first, delta=1e-9)
        self.assertAlmostEqual(model.step(decodes=[500]), last - first, delta=2e-9)
        value, low, high = model.interval(decodes=[1000] * 8)
        self.assertTrue(low < value < high)
        parts = model.parts(prompts=[(300, 0)], decodes=[1000] * 8)
        self.assertAlmostEqual(sum(parts.values()), model.step(prompts=[(300, 0)], decodes=[1000] * 8), delta=1e-12)
        self.assertGreater(parts["dense_ffn_time"], parts["attention_decode_time"])
        self.assertEqual(chalkline.StepModel(step_time="1ms", blocks=10).parts(decodes=[5]), {})

    def test_refusals(self):
        for refused in (lambda: chalkline.compile("bound_stepp", over=["batch"], model="qwen3-8b", on="h100-sxm"),
                        lambda: chalkline.compile("bound_step", over=["batch"], model="qwen3-8b", on="h100-sxm")(-1),
                        lambda: chalkline.StepModel(step_time="1ms", blocks=10).step(decodes=["many"]),
                        lambda: chalkline.StepModel(step_time="1ms", blocks=10).step(decodes=[-1]),
                        lambda: chalkline.StepModel(step_time="1ms", blocks=10).step(prompts=[5]),
                        lambda: chalkline.StepModel("qwen3-900b", on="h100-sxm")):
            with self.assertRaises(chalkline.Error):
                refused()
        with self.assertRaises(TypeError):
            chalkline.compile("bound_step", over=["batch"], model="qwen3-8b", on="h100-sxm")(1, 2)


class Readme(unittest.TestCase):
    def test_its_examples_run(self):
        """The blocks one after another, with the same names."""
        names = {"print": lambda *_: None}
        blocks = pathlib.Path("python/README.md").read_text().split("```python\n")[1:]
        for block in blocks:
            try:
                exec(block.split("```")[0], names)
            except ImportError as error:
                self.assertEqual(error.name, "numpy")
        self.assertEqual(len(blocks), 3)


if __name__ == "__main__":
    unittest.main()
