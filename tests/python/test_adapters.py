"""adapters/ beside recorded shapes of their peers: python3 test_adapters.py PROGRAM BUILD, from the root of the tree.

The peers are not here: what stands in for their modules has the names and types that the adapters' headings cite."""

import csv
import hashlib
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import types
import unittest
import urllib.error
import urllib.request

PROGRAM, BUILD = sys.argv.pop(1), sys.argv.pop(1)
sys.path[:0] = [BUILD, "adapters"]
import chalkline                                                        # noqa: E402
import llmd_latency                                                     # noqa: E402
import toy_scheduler                                                    # noqa: E402
import vllm_forward                                                     # noqa: E402

SERVER = dict(model="llama-3.1-8b", on="h100-sxm", gpus=1)
STEPS = chalkline.StepModel(**SERVER)


def simulator():
    """Modules with the names that sglang_chalkline.py imports."""
    base, config = types.ModuleType("sglang_simulator.time_predictor"), types.ModuleType("sglang_simulator.simulation.manager.config")

    class InferTimePredictor:
        def __init__(self, model, hw, config):
            self.model, self.hw, self.config = model, hw, config

    class ConfigManager:
        raw = {}

        @classmethod
        def _get_raw_config(cls):
            return cls.raw

        @classmethod
        def get_inference_time_predictor(cls, model, hw, scheduler):
            raise ValueError(f"Unknown predictor name: {cls.raw['predictor']['name']}")

    base.InferTimePredictor, config.ConfigManager = InferTimePredictor, ConfigManager
    manager = types.ModuleType("sglang_simulator.simulation.manager")
    manager.config = config
    sys.modules.update({"sglang_simulator": types.ModuleType("sglang_simulator"), "sglang_simulator.time_predictor": base,
                        "sglang_simulator.simulation": types.ModuleType("sglang_simulator.simulation"),
                        "sglang_simulator.simulation.manager": manager, "sglang_simulator.simulation.manager.config": config})
    return ConfigManager


class Toy(unittest.TestCase):
    def test_its_times_are_those_of_simulate(self):
        for seed, rate, budget, seats in ((1, 2, 2048, 256), (2, 12, 2048, 256), (3, 20, 512, 16), (4, 40, 8192, 64)):
            drawn, at, rows = random.Random(seed), 0, []
            for i in range(300):
                at += drawn.expovariate(rate) * (i > 0)
                rows.append((round(at, 6), drawn.randint(1, 3000), drawn.randint(1, 300)))
            with tempfile.NamedTemporaryFile("w", suffix=".csv") as trace:
                trace.write("arrival,input,output\n" + "".join(f"{a},{p},{o}\n" for a, p, o in rows))
                trace.flush()
                options = dict(max_batched_tokens=budget, max_seqs=seats, no_async_scheduling=True, api_time="0s", blocks=100000)
                run = chalkline.simulate(trace.name, requests="-", **options, **SERVER)
            requests = [toy_scheduler.Request(*row) for row in rows]
            toy_scheduler.run(STEPS, requests, budget, seats)
            self.assertEqual(len(run.text.splitlines()), 1 + len(requests))
            for line, one in zip(run.text.splitlines()[1:], requests):
                self.assertEqual(line.split(",")[4:6], [f"{one.first:.9f}", f"{one.last:.9f}"])

    def test_eight_threads_have_the_same_bits(self):
        batches = [([(256, 64 * i)] * (i % 2), [1000 + i] * (1 + i)) for i in range(64)]
        alone, together = [STEPS.interval(*one) for one in batches], [None] * 8

        def ask(i):
            together[i] = [STEPS.interval(*one) for one in batches]
        threads = [threading.Thread(target=ask, args=(i,)) for i in range(8)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        self.assertTrue(all(one == alone for one in together))


class SglangSimulator(unittest.TestCase):
    def test_the_json_chooses_it(self):
        manager = simulator()
        import sglang_chalkline as adapter
        adapter.register()
        scheduler = types.SimpleNamespace(tp_size=2, dp_size=1, pp_size=1, ep_size=1)
        manager.raw = {"predictor": {"name": "chalkline", "model": "llama-3.1-8b", "on": "h100-sxm"}}
        predictor = manager.get_inference_time_predictor(None, None, scheduler)
        batch = types.SimpleNamespace(reqs=[types.SimpleNamespace(extend_length=e, past_kv_length=p)
                                            for e, p in ((512, 0), (1, 0), (1, 700), (1, 900), (64, 2000))])
        same = chalkline.StepModel("llama-3.1-8b", on="h100-sxm", gpus=2, tp=2, engine="sglang")
        self.assertEqual(predictor.predict_infer_time(batch), same.step([(512, 0), (1, 0), (64, 2000)], [700, 900]))
        manager.raw = {"predictor": {"name": "aiconfigurator"}}
        with self.assertRaises(ValueError):
            manager.get_inference_time_predictor(None, None, scheduler)


class Vllm(unittest.TestCase):
    def test_a_step_takes_its_time(self):
        new = types.SimpleNamespace(req_id="new", num_computed_tokens=64)
        cached = types.SimpleNamespace(req_ids=["decode", "drafted", "prompt", "again"], num_computed_tokens=[900, 800, 2048, 10],
                                       num_output_tokens=[5, 7, 0, 3])
        output = types.SimpleNamespace(
            scheduled_new_reqs=[new], scheduled_cached_reqs=cached, scheduled_spec_decode_tokens={"drafted": [1, 2, 3]},
            num_scheduled_tokens={"new": 100, "decode": 1, "drafted": 4, "prompt": 1, "again": 500}, total_num_scheduled_tokens=606)
        self.assertEqual(vllm_forward.batch_of(output), ([(100, 64), (1, 2048), (500, 10)], [900, 800], 1.5))
        waited, runner = [], types.SimpleNamespace(execute_model=lambda output: "tokens")
        vllm_forward.wrap(runner, STEPS, wait=waited.append)
        self.assertEqual(runner.execute_model(output), "tokens")
        self.assertEqual(waited, [STEPS.step([(100, 64), (1, 2048), (500, 10)], [900, 800], 1.5)])
        output.total_num_scheduled_tokens = 0
        runner.execute_model(output)
        self.assertEqual(len(waited), 1)


class LlmD(unittest.TestCase):
    ROW = {"kv_cache_percentage": 0.2, "input_token_length": 800, "num_request_waiting": 2, "num_request_running": 12,
           "num_tokens_generated": 0, "prefix_cache_score": 0.25}

    def setUp(self):
        self.server = llmd_latency.server(("127.0.0.1", 0), 0.5, dict(SERVER, engine="vllm"))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()

    def post(self, path, body):
        request = urllib.request.Request(f"http://127.0.0.1:{self.server.server_port}{path}", json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as answer:
            return answer.code, json.loads(answer.read())

    def test_it_answers_and_learns(self):
        status, cold = self.post("/predict", self.ROW)
        self.assertEqual(status, 200)
        more = self.post("/predict/bulk/strict", {"requests": [self.ROW, dict(self.ROW, num_request_waiting=9)]})[1]["predictions"]
        self.assertEqual(more[0]["ttft_ms"], cold["ttft_ms"])
        self.assertGreater(more[1]["ttft_ms"], cold["ttft_ms"])
        entries = [dict(self.ROW, actual_ttft_ms=2 * cold["ttft_ms"], actual_tpot_ms=0)] * 30
        self.assertEqual(self.post("/add_training_data_bulk", {"entries": entries})[0], 202)
        warm = self.post("/predict", self.ROW)[1]
        self.assertAlmostEqual(warm["ttft_ms"], 2 * cold["ttft_ms"])
        self.assertEqual(warm["tpot_ms"], cold["tpot_ms"])

    def test_it_refuses(self):
        for path, body, status in (("/predict", {}, 422), ("/predict/bulk", {"requests": []}, 422), ("/predict/bulk", [], 422),
                                   ("/predict", dict(self.ROW, num_request_running=-1), 422), ("/nowhere", self.ROW, 404)):
            self.assertEqual(self.post(path, body)[0], status)


class TrainingRows(unittest.TestCase):
    """What --training-rows says was there at each request, counted again from --requests."""

    def test_rows_of_simulate(self):
        for traffic, replicas in (("poisson:rate=30,count=2000,input=1000,output=200", 1), ("poisson:rate=3,count=300,input=500,output=100", 1),
                                  ("poisson:rate=70,count=2000,input=1000,output=200", 2)):
            with tempfile.TemporaryDirectory() as folder:
                rows, requests = pathlib.Path(folder, "rows.jsonl"), pathlib.Path(folder, "requests.csv")
                subprocess.run([PROGRAM, "simulate", traffic, "--model", "llama-3.1-8b", "--on", "h100-sxm", "--gpus", "1", "--replicas",
                                str(replicas), "--api-time", "0s", "--training-rows", rows, "--requests", requests], check=True, capture_output=True)
                rows = [json.loads(line) for line in rows.read_text().splitlines()]
                spans = [(float(one["arrival"]), float(one["completed_at"])) for one in csv.DictReader(requests.read_text().splitlines())]
            self.assertEqual(len(rows), len(spans))
            open_ = [sum(begin < at < end for begin, end in spans[:i]) for i, (at, _) in enumerate(spans)]
            running = [row["num_request_running"] for row in rows]
            if replicas == 1:
                self.assertEqual(running, open_)
                self.assertEqual([row["prefill_tokens_in_flight"] for row in rows], [one * rows[0]["input_token_length"] for one in open_])
            else:
                self.assertTrue(all(one <= all_ for one, all_ in zip(running, open_)))
            self.assertTrue(all(row["num_request_waiting"] <= row["num_request_running"] and 0 <= row["kv_cache_percentage"] <= 1 for row in rows))
            if traffic.startswith("poisson:rate=30"):           # every class of llm-d's queue
                self.assertEqual({(w > 0) + (w > 2) + (w > 5) + (w > 10) for w in (row["num_request_waiting"] for row in rows)}, set(range(5)))


class Traces(unittest.TestCase):
    """Rows of llm-d's public traces (docs/adapters.md). Those with an odd hash were looked at once, after every choice."""
    #             kind and trace              median error, %: as it is; after 50 rows
    MOST = {("ttft", "sharegpt-h200"): (14, 17), ("ttft", "bimodal-h200"): (7, 5), ("ttft", "chatbot-synthetic-h200"): (60, 22),
            ("tpot", "sharegpt-h200"): (6, 4), ("tpot", "bimodal-h200"): (39, 6), ("tpot", "chatbot-synthetic-h200"): (38, 16)}

    @staticmethod
    def rows():
        for row in csv.DictReader(pathlib.Path("tests/fixtures/llmd/h200.csv").read_text().splitlines()):
            digest = hashlib.sha256(f"{row['trace']},{row['read']},{row['position']}".encode()).digest()
            yield digest, row["kind"], row["trace"], float(row["value_ms"]), {
                "kv_cache_percentage": float(row["kv_share"]), "input_token_length": int(row["input_tokens"]),
                "num_request_waiting": int(row["waiting"]), "num_request_running": int(row["running"]),
                "prefix_cache_score": float(row["prefix_score"]), "prefill_tokens_in_flight": int(row["prefill_in_flight"])}

    def test_times_at_dispatch(self):
        rows = sorted(self.rows(), key=lambda row: row[0])
        for (kind, trace), most in self.MOST.items():
            model = llmd_latency.LatencyModel(model="qwen3-32b", on="h200-sxm", gpus=1, engine="vllm")
            mine = [row for row in rows if row[1:3] == (kind, trace)]
            kept = [row for row in mine if row[0][0] % 2]
            at = ("ttft", "tpot").index(kind)

            def error():
                return 100 * statistics.median(abs(1e3 * model.predict(row[4], 0.5)[at] / row[3] - 1) for row in kept)
            errors = [error()]
            for row in [row for row in mine if not row[0][0] % 2][:50]:
                model.learn({**row[4], f"actual_{kind}_ms": row[3]})
            errors.append(error())
            self.assertTrue(all(map(float.__le__, errors, map(float, most))), (kind, trace, errors))


if __name__ == "__main__":
    unittest.main()
