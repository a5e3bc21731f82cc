"""An answer in place of llm-d's latency predictor, without training: TTFT and TPOT of a request at dispatch. Untested against
llm-d: written for the requests of llm-d/llm-d-latency-predictor at 147d369 (prediction_server.py, training_server.py).

    python3 llmd_latency.py --port 8001 --quantile 0.9 model=qwen3-32b on=h200-sxm gpus=1 engine=vllm

It answers POST /predict, /predict/bulk and /predict/bulk/strict, and GET /readyz. It learns from POST
/add_training_data_bulk: from 20 rows on, of TTFT or of TPOT, with a queue or without, its quantiles are those of measured over
predicted among them."""

import argparse
import bisect
import datetime
import http.server
import json
import math
import statistics
import threading

import chalkline

LEAST_ROWS, MOST_ROWS = 20, 2000
NORMAL = statistics.NormalDist()


class LatencyModel:
    """Times of a request that a router is about to send, from the state of the server then."""

    def __init__(self, **options):
        self.steps = chalkline.StepModel(**options)
        self.cache_tokens, self.step_tokens, self.api_time, self.ahead = [value_of(chalkline.eval(row, **options)) for row in (
            "kv_blocks_per_rank * kv_block_tokens", "step_tokens", "api_time", "steps_ahead")]
        # Sorted logarithms of measured over predicted, of rows with a queue and without.
        self.ratios = {(kind, queued): [] for kind in ("ttft", "tpot") for queued in (False, True)}
        self.lock = threading.Lock()

    @staticmethod
    def active(row):
        """Sequences that run. llm-d counts those that it has sent and that have not ended, so that those that wait are among them:
        only then are the tokens in the cache as many for each as its prompt and answer."""
        return max(int(row["num_request_running"] - row["num_request_waiting"]), 0)

    def decodes(self, row):
        """Tokens in the caches of the sequences that run, the same for each."""
        active = self.active(row)
        return [max(row["kv_cache_percentage"] * self.cache_tokens / active, 1)] * active if active else []

    def decode(self, row):
        """(seconds, low, high) of a step of the sequences that run and this one."""
        return self.steps.interval(decodes=self.decodes(row) + [max(row["input_token_length"], 1)])

    def prompt(self, row):
        """The same from dispatch to the first token: the prompts that wait, then its own, in steps of so many tokens beside the
        sequences that run; before them half of the step that runs when it arrives,
        and the steps that are formed ahead of it."""
        own = max(row["input_token_length"] * (1 - row["prefix_cache_score"]), 1)
        flight = row.get("prefill_tokens_in_flight", 0) / max(row["num_request_running"], 1)
        before = row["num_request_waiting"] * (flight or row["input_token_length"])
        decodes = self.decodes(row)
        room = max(self.step_tokens - len(decodes), 1)
        times = [one * (0.5 + self.ahead) for one in self.steps.interval(decodes=decodes)] if decodes else [0.0] * 3
        full, rest = divmod(before + own, room)
        for tokens, count in ((room, full), (rest, 1)):
            if tokens and count:
                one = self.steps.interval(prompts=[(tokens, max(row["input_token_length"] - tokens, 0))], decodes=decodes)
                times = [sum_ + count * time for sum_, time in zip(times, one)]
        return tuple(time + self.api_time for time in times)

    def at(self, kind, row, times, quantile):
        """Seconds at a quantile: of the rows that were learnt, or else of the interval of a step, taken as log-normal."""
        with self.lock:
            ratios = self.ratios[kind, row["num_request_waiting"] > 0]
            if len(ratios) >= LEAST_ROWS:
                place = quantile * (len(ratios) - 1)
                low = math.floor(place)
                high = min(low + 1, len(ratios) - 1)
                return times[0] * math.exp(ratios[low] + (place - low) * (ratios[high] - ratios[low]))
        end = times[2] if quantile > 0.5 else times[1]
        return times[0] * math.exp(abs(NORMAL.inv_cdf(quantile)) / NORMAL.inv_cdf(0.9) * math.log(end / times[0]))

    def predict(self, row, quantile):
        """(TTFT, TPOT), seconds."""
        return self.at("ttft", row, self.prompt(row), quantile), self.at("tpot", row, self.decode(row), quantile)

    def learn(self, row):
        """A row with actual_ttft_ms or actual_tpot_ms above 0; of each kind the first 2,000 count."""
        for kind, times in (("ttft", self.prompt), ("tpot", self.decode)):
            measured = row.get(f"actual_{kind}_ms") or 0
            if measured > 0:
                ratio = math.log(measured / 1e3 / times(row)[0])
                with self.lock:
                    ratios = self.ratios[kind, row["num_request_waiting"] > 0]
                    if len(ratios) < MOST_ROWS:
                        bisect.insort(ratios, ratio)


NEEDED = ("kv_cache_percentage", "input_token_length", "num_request_waiting", "num_request_running", "prefix_cache_score")
MAY = ("prefill_tokens_in_flight", "actual_ttft_ms", "actual_tpot_ms")


def refused(row):
    """Why a row cannot be predicted; None: it can."""
    if not isinstance(row, dict):
        return "an object"
    for name in NEEDED + tuple(name for name in MAY if name in row):
        if not isinstance(row.get(name), (int, float)) or not 0 <= row[name] < 1e12:
            return f"{name}: a number that is 0 or more"
    return None


class Answers(http.server.BaseHTTPRequestHandler):
    """The routes; `model` and `quantile` are those of the server."""
    protocol_version = "HTTP/1.1"
    MOST_BYTES, MOST_REQUESTS = 16 << 20, 10000

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def predicted(self, row):
        ttft, tpot = self.server.model.predict(row, self.server.quantile)
        return {"ttft_ms": 1e3 * ttft, "tpot_ms": 1e3 * tpot, "predicted_at": datetime.datetime.now(datetime.timezone.utc).isoformat(),
                "model_type": "chalkline", "objective_type": "quantile", "quantile": self.server.quantile, "last_model_load": None}

    def do_GET(self):
        if self.path in ("/readyz", "/healthz"):
            self.answer(200, {"status": "ready"})
        else:
            self.answer(404, {"detail": f"nothing is at {self.path}"})

    def do_POST(self):
        size = self.headers.get("Content-Length", "")
        if not size.isdigit() or int(size) > self.MOST_BYTES:
            self.close_connection = True
            return self.answer(413, {"detail": f"a body of at most {self.MOST_BYTES} bytes, with Content-Length"})
        try:
            body = json.loads(self.rfile.read(int(size)))
        except ValueError:
            return self.answer(400, {"detail": "the body is not JSON"})
        lists = {"/predict": None, "/predict/bulk": "requests", "/predict/bulk/strict": "requests", "/add_training_data_bulk": "entries"}
        if self.path not in lists:
            return self.answer(404, {"detail": f"nothing is at {self.path}"})
        rows = [body] if lists[self.path] is None else body.get(lists[self.path]) if isinstance(body, dict) else None
        if not isinstance(rows, list) or not 1 <= len(rows) <= self.MOST_REQUESTS:
            return self.answer(422, {"detail": f"{lists[self.path]}: 1 to {self.MOST_REQUESTS} rows"})
        wrong = [f"row {i}: {why}" for i, why in enumerate(map(refused, rows)) if why]
        if wrong:
            return self.answer(422, {"detail": wrong[0]})
        if self.path == "/add_training_data_bulk":
            for row in rows:
                self.server.model.learn(row)
            return self.answer(202, {"message": f"{len(rows)} rows"})
        answers = [self.predicted(row) for row in rows]
        return self.answer(200, answers[0] if self.path == "/predict" else
                           {"predictions": answers, "total_requests": len(rows), "successful_predictions": len(rows), "failed_predictions": 0})


def server(address, quantile, options):
    """A server of the routes."""
    http_server = http.server.ThreadingHTTPServer(address, Answers)
    http_server.model = LatencyModel(**options)
    http_server.quantile = quantile
    return http_server


def value_of(answer):
    return next(figure["value"] for figure in answer.values() if isinstance(figure, dict) and "value" in figure)


def main():
    asked = argparse.ArgumentParser(description=__doc__.split(" Untested")[0])
    asked.add_argument("--port", type=int, default=8001)
    asked.add_argument("--host", default="127.0.0.1")
    asked.add_argument("--quantile", type=float, default=0.9)
    asked.add_argument("options", nargs="+", metavar="NAME=VALUE", help="of `chalkline simulate`: model=qwen3-32b on=h200-sxm gpus=1")
    given = asked.parse_args()
    if not 0 < given.quantile < 1:
        asked.error("--quantile: a share between 0 and 1")
    options = dict(one.partition("=")[::2] for one in given.options)
    try:
        http_server = server((given.host, given.port), given.quantile, options)
    except (chalkline.Error, OSError) as error:
        asked.exit(2, f"llmd_latency.py: {error}\n")
    print(f"http://{given.host}:{http_server.server_port}/predict answers for {' '.join(given.options)}", flush=True)
    http_server.serve_forever()


if __name__ == "__main__":
    main()
