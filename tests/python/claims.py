"""Claims of five published summaries of the lecture, asked of named models, beside sums of another program.

usage: claims.py CHALKLINE PUBLISHED|- ["MODEL MACHINE GPUS BATCH"]...

A claim has a statement of data/lecture.csv, whose question and verdict it takes, and the two figures that decide. Here
both figures and the verdict are computed again for each pair of model and machine, from fields of its config.json
(data/models.csv) and facts of the machine and of tiers (data/), without a row of formulas/: `Sums` has all equations.
PUBLISHED, a table of the same claims for three models, is compared too, those of its figures that are there.
"""
import csv
import json
import math
import re
import subprocess
import sys

from questions import Rows

CONTEXT = 4096
NEAR, NEAR_PUBLISHED = 1e-5, 2e-3       # published costs have rents of tiers with more digits than data/tiers.csv
UNITS = {"TFLOP/s": 1e12, "GiB": 2**30, "GB": 1e9, "TB": 1e12, "TB/s": 1e12, "GB/s": 1e9, "Gb/s": 1e9 / 8, "1": 1,
         "USD/h": 1 / 3600, "USD": 1, "USD/GB": 1e-9}
KNOWN, NOT_KNOWN, APART = ("holds", "does not"), "not known", "does not apply"


class Claim:
    """The statement that answers it, and its two figures over rows.

    `own`: a comparison that the statement does not make; `given`: inputs of it; `needs`: where it is false the claim does
    not apply. `unknown`: where the statement does not apply, a fact is missing. `published`: the left figure as the
    published table has it, and `at`: the inputs it has there. `why`: the reason for any of these.
    """

    def __init__(self, statement, left="", right="", **more):
        self.statement, self.left, self.right = statement, left, right
        self.own, self.given, self.needs, self.at = (more.get(name, "") for name in ("own", "given", "needs", "at"))
        self.unknown, self.published = more.get("unknown", False), more.get("published", left)
        assert more.get("why") or not (self.own or self.given or self.needs or self.at or self.published != left)


IDENTITY = "the statement is true by definition, the claim is about its size"
CLAIMS = {
    "C01": Claim("experts.ratio", "bandwidth_ratio", "8"),
    "C02": Claim("experts.two_racks", "all_to_all_time_two_domains", "bound_step"),
    "C03": Claim("experts.domains", "scale_up_chips", "previous_chips"),
    "C04": Claim("pipeline.bw_not_capacity", "bound_memory", "bound_compute"),
    "C05": Claim("batch.sparsity", "params_active", "params_total"),
    "C06": Claim("batch.kv_raises", "context_over_crossover", "1"),
    "C07": Claim("batch.moe_margin", "max(bound_compute, bound_weights)", "max(dense_compute, dense_weights)"),
    "C08": Claim("batch.crossover", "batch_crossover", "machine_balance", own=">", needs="experts > 1",
                 why="the statement compares the batch with 300 times the sparsity, the claim with a dense model's"),
    "C09": Claim("pipeline.capex", "memory_share_of_cost", "0.5",
                 at="hbm_cost=15e-9; host_memory=236e9; host_memory_cost=5e-9",
                 why="the published share has one price of memory for all machines, the statement one of each machine's year"),
    "C10": Claim("pipeline.phones", unknown=True),
    "C11": Claim("pipeline.two_enough", "kv_needed", "weights_stored", own=">", given="context=200000",
                 why="the statement asks for the stages after which caches outgrow weights, at the user's context"),
    "C12": Claim("memory.drain_rule", "drain_time", "tier_drain_time[flash]"),
    "C13": Claim("memory.cxl", "512GB/(32GB/s)", "tier_drain_time[flash]"),
    "C14": Claim("memory.wall", "cost_growth", "100"),
    "C15": Claim("prices.output_input", "output_input_ratio", "5"),
    "C16": Claim("prices.hit", "cheapest_hit_ratio", "hit_ratio"),
    "C17": Claim("prices.write_short", "write_price_short/hit_ratio", "10", own="within 1.01", why=IDENTITY),
    "C18": Claim("prices.seller", "margin_growth", "1"),
    "C19": Claim("prices.step_50", "AT(cost_growth, context=price_step_context)", "price_step"),
    "C20": Claim("prices.kv_from_step", "context_crossover", "price_step_context"),
    "C21": Claim("prices.share_layers", "kv_per_token/layers", "2048"),
    "C22": Claim("batch.fast_batch", "speed_at_price", "speed_ratio"),
    "C23": Claim("batch.slow_mode", "slow_mode_saving_limit", "2"),
    "C24": Claim("batch.unbatched", "unbatched_cost_ratio", "1000"),
    "C25": Claim("batch.balance", "machine_balance", "300"),
    "C26": Claim("batch.crossover", "batch_crossover", "300*sparsity"),
    "C27": Claim("batch.floor", "latency_floor", "weights_stored"),
    "C28": Claim("batch.floor", "latency_floor", "0.02", own="within 1.5", why=IDENTITY),
    "C29": Claim("batch.drain", "drain_time", "0.02"),
    "C30": Claim("batch.throughput", "bound_throughput", "128000", own="within 3.2", why=IDENTITY),
    "C31": Claim("batch.routed", "routed_reference_dense/routed_reference_params", "4"),
    "C32": Claim("batch.sparsity_wins", "bound_compute", "bound_weights"),
    "C33": Claim("experts.stall", "weights_stored", "hbm_total"),
    "C34": Claim("experts.torus"),
    "C35": Claim("pipeline.kv_cancels", "weights_per_chip", "kv_per_chip"),
    "C36": Claim("pipeline.activations", "min(pipeline_stages, micro_batches)*stacked_layers/pipeline_stages",
                 "stacked_layers"),
    "C37": Claim("pipeline.free", "scale_up_over_scale_out", "1", published="scale_up_over_scale_out/exchange_over_hop",
                 why="the published ratio has equal bytes for the exchange and the hop, not 3 for 2 where tokens go in 8 bits"),
    "C38": Claim("pipeline.not_wise", "layers/(pipeline_stages*ceil(layers/pipeline_stages))", "1", own="<", why=IDENTITY),
    "C39": Claim("training.thirds_rl", unknown=True),
    "C40": Claim("training.overtraining", "trained_tokens", "20*params_active", unknown=True),
    "C41": Claim("training.served_one", "inference_tokens", "2e14", own="within 1.5",
                 why="the statement allows the lecture's own rounding alone"),
    "C42": Claim("training.overtraining", "trained_tokens", "150e12", own="within 3.2", unknown=True,
                 why="the statement compares with 20 tokens a parameter, the claim with one count"),
    "C43": Claim("training.thirds_rl", unknown=True),
    "C44": Claim("memory.disk", "tier_drain_time[disk]", "3600"),
    "C45": Claim("memory.plateau", "context_crossover", "200000"),
    "C46": Claim("memory.sqrt", "AT(kv_read, context=long_context)/AT(kv_read, context=price_step_context)",
                 "pow(long_context/price_step_context, sparse_power)", own="within 1.5", needs="sparse_mode = 1", why=IDENTITY),
    "C47": Claim("prices.speculate", "tokens_to_balance", "2"),
    "C48": Claim("reversible.feistel", "feistel_undone", "feistel_right"),
    "C49": Claim("training.equal_costs", "optimum_cost_ratio", "1"),
    "C50": Claim("prices.by_year", "cost_fall_per_year", "10"),
    "C51": Claim("memory.wall", "cost_growth", "100"),
    "C52": Claim("experts.hops", "exchange_links", "2"),
    "C53": Claim("prices.disclosures"),
}


# ---- another program ---------------------------------------------------------------------------

def sheet(path, name):
    """The facts of an entry, those that are chosen, numbers in base units."""
    facts = {}
    with open(path, encoding="utf-8") as lines:
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            if row["name"] != name or row.get("mark") == "not chosen":
                continue
            value = row["value"]
            facts[row.get("fact") or row["key"]] = float(value) * UNITS[row["unit"]] if row.get("unit") in UNITS and \
                re.match(r"[0-9.e]+$", value) else value
    return {**sheet(path, facts["same_as"]), **facts} if "same_as" in facts else facts


def within(factor, a, b):
    return max(a / b, b / a) <= factor


def root(f, low, high):
    """Where a falling or rising function is 0, by bisection of the logarithm; None: it has one sign."""
    if f(low) * f(high) > 0:
        return None
    sign = math.copysign(1, f(low))
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if sign * f(middle) > 0 else (low, middle)
    return low


class Shape:
    """What a config.json says of a model: matrices, by how a token uses them, and its cache."""

    def __init__(self, name):
        said = sheet("data/models.csv", name)
        of = lambda *keys, default=0: next((int(said[key]) for key in keys if said.get(key, "null") != "null"), default)
        hidden, self.layers, heads = of("hidden_size"), of("num_hidden_layers"), of("num_attention_heads")
        self.hidden, self.published, self.tokens = hidden, of("params_total_published"), float(said.get("trained_tokens", 0))
        self.experts, self.chosen = of("n_routed_experts", "num_experts", "num_local_experts"), of("num_experts_per_tok")
        self.narrow = said.get("quantization_config.quant_method") == "fp8"
        head = of("head_dim", default=hidden // heads)
        latent, rope = of("kv_lora_rank"), of("qk_rope_head_dim")
        if latent:
            nope, value, query = of("qk_nope_head_dim"), of("v_head_dim"), of("q_lora_rank")
            attention = [(query, hidden), (heads * (nope + rope), query), (latent + rope, hidden),
                         (heads * (nope + value), latent), (hidden, heads * value)]
            norms, kept = 2 * hidden + query + latent, latent + rope
            self.decode, self.prefill = heads * (2 * latent + rope), heads * (nope + rope + value)
        else:
            few = of("num_key_value_heads", default=heads)
            attention = [(heads * head, hidden), (few * head, hidden), (few * head, hidden), (hidden, heads * head)]
            norms, kept = 2 * hidden + (2 * head if said["model_type"].startswith("qwen3") else 0), 2 * few * head
            self.decode = self.prefill = 2 * heads * head
        self.cache = 2 * self.layers * kept                                     # bytes of a token, 16 bits
        self.sparse = self.layers - of("first_k_dense_replace") if self.experts > 1 else 0
        mlp = lambda width: [(width, hidden), (width, hidden), (hidden, width)]
        expert = mlp(of("moe_intermediate_size", "intermediate_size"))
        bias = self.experts if said.get("topk_method") == "noaux_tc" else 0
        # matrix, how many of it, share of them that a token uses, is it narrow
        self.parts = [((of("vocab_size"), hidden), 1, 1, False)]                # the head
        self.parts += [(m, self.layers, 1, self.narrow) for m in attention]
        self.parts += [(m, self.layers - self.sparse, 1, self.narrow) for m in mlp(of("intermediate_size"))]
        if self.sparse:
            share = self.chosen / self.experts
            self.parts += [(m, self.sparse * self.experts, share, self.narrow) for m in expert]
            self.parts += [(m, self.sparse * of("n_shared_experts"), 1, self.narrow) for m in expert]
            self.parts += [((self.experts, hidden), self.sparse, 1, False)]     # the router
        self.other = self.layers * norms + hidden + self.sparse * bias
        self.table = 0 if said.get("tie_word_embeddings") == "true" else of("vocab_size") * hidden
        self.total = sum(a * b * n for (a, b), n, _, _ in self.parts) + self.other + self.table
        self.active = sum(a * b * n * share for (a, b), n, share, _ in self.parts) + self.other + self.table

    @staticmethod
    def size(matrix, narrow):
        """Bytes: 16 bits, or 8 bits with a scale of 4 bytes for each block of 128 x 128."""
        a, b = matrix
        return a * b + 4 * math.ceil(a / 128) * math.ceil(b / 128) if narrow else 2 * a * b


class Sums:
    """Times, sizes and costs of a model on chips, as the lecture defines them."""

    def __init__(self, model, machine, chips, batch):
        self.of, self.at = Shape(model), sheet("data/hardware.csv", machine)
        self.tiers = {tier: sheet("data/tiers.csv", tier) for tier in ("ddr", "flash", "disk")}
        self.chips, self.batch, self.domain = chips, batch, int(self.at["scale_up_chips"])
        self.peak = self.at["peak_fp8"] if self.of.narrow else self.at["peak_bf16"]
        self.weight = 1 + 4 / 128**2 if self.of.narrow else 2
        self.stored = sum(self.of.size(m, narrow) * n for m, n, _, narrow in self.of.parts) + 2 * (self.of.other + self.of.table)

    def multiply(self):
        """Chip time of one token's matrices, norms and biases."""
        rate = {False: self.at["peak_bf16"], True: self.at["peak_fp8"]}
        return 2 * self.of.other / rate[False] + sum(2 * a * b * n * share / rate[narrow]
                                                     for (a, b), n, share, narrow in self.of.parts)

    def compute(self, batch, context=CONTEXT):
        return batch * (self.multiply() + 2 * self.of.layers * self.of.decode * context / self.at["peak_bf16"]) / self.chips

    def prompt(self, context=CONTEXT):
        """Chip time of a token of a prompt: it attends to half of it on average."""
        return self.multiply() + self.of.layers * self.of.prefill * context / self.at["peak_bf16"]

    def reading(self, tokens):
        """Bytes of weights: each token's line of the table, and no expert that no token chose."""
        lines = min(tokens * self.of.hidden, self.of.table)
        return 2 * (self.of.other + lines) + sum(self.of.size(m, narrow) * n * (1 - (1 - share)**tokens)
                                                 for m, n, share, narrow in self.of.parts)

    def weights(self, tokens):
        return self.reading(tokens) / (self.chips * self.at["hbm_bandwidth"])

    def caches(self, batch, context=CONTEXT):
        return batch * context * self.of.cache / (self.chips * self.at["hbm_bandwidth"])

    def step(self, batch, context=CONTEXT):
        return max(self.compute(batch, context), self.weights(batch) + self.caches(batch, context))

    def floor(self, context=CONTEXT):
        """Time of a sequence in an endless batch."""
        return max(self.compute(1, context), self.caches(1, context))

    def crossover(self):
        """Batch that multiplies as long as it reads the weights."""
        return root(lambda batch: self.weights(batch) - self.compute(batch), 1, 1e6)

    def context(self):
        """Context whose cache takes as long to read as the compute."""
        return root(lambda length: self.caches(1, length) - self.compute(1, length), 1, 1e9)

    def balance(self):
        return self.peak * self.weight / (2 * self.at["hbm_bandwidth"])

    def exchange(self, domains):
        """Time of dispatch and combine on `chips` chips; half of the bytes leave, if there are two domains."""
        each = math.ceil(self.of.experts / self.chips)
        full = self.of.experts // each
        missed = lambda held: math.comb(self.of.experts - held, self.of.chosen) / math.comb(self.of.experts, self.of.chosen)
        copies = full * (1 - missed(each)) + 1 - missed(self.of.experts - full * each)
        sent = self.of.sparse * self.batch * copies * self.of.hidden * ((1 if self.of.narrow else 2) + 2) / self.chips \
            * (1 - 1 / self.chips)
        leaving = (domains - 1) / domains
        return copies, max(sent * (1 - leaving) / self.at["scale_up_bandwidth"], sent * leaving / self.at["scale_out_bandwidth"])

    def hit(self, hold=300):
        """The cheapest way to bring a token of cache back, over computing it."""
        again = self.at["chip_price"] * self.prompt()
        cost = [self.at["chip_price"] / self.at["hbm_capacity"] * self.of.cache * hold]
        cost += [self.of.cache * tier["tier_price"] * (hold / tier["tier_capacity"] + 1 / tier["tier_bandwidth"])
                 for tier in self.tiers.values()]
        return min([again, *cost]) / again

    def drain(self, tier):
        return self.tiers[tier]["tier_capacity"] / self.tiers[tier]["tier_bandwidth"]

    def elsewhere(self, **changed):
        other = Sums.__new__(Sums)
        other.__dict__.update({**self.__dict__, **changed})
        return other

    def answers(self):
        """Left, right and verdict of each claim; a figure of None is not compared."""
        of, at, batch = self.of, self.at, self.batch
        verdict = lambda true, applies=True: APART if not applies else KNOWN[0] if true else KNOWN[1]
        said = lambda left, right, true, applies=True: (left, right, verdict(true, applies))
        moe, ratio, drained = of.experts > 1, at["scale_up_bandwidth"] / at["scale_out_bandwidth"], \
            at["hbm_capacity"] / at["hbm_bandwidth"]
        compute, weights, caches, step = self.compute(batch), self.weights(batch), self.caches(batch), self.step(batch)
        crossing, context, floor = self.crossover(), self.context(), self.floor()
        rack = self.elsewhere(chips=self.domain)
        growth = lambda length: self.floor(length) / self.floor(1)
        all_ = {}
        all_["C01"] = said(ratio, 8, within(1.5, ratio, 8))
        all_["C02"] = (None, None, APART)
        if moe:
            two = rack.exchange(2)[1]
            all_["C02"] = said(two, rack.step(batch), two > rack.step(batch))
        all_["C03"] = said(self.domain, 8, True)
        all_["C04"] = said(weights + caches, compute, weights + caches >= compute)
        all_["C05"] = said(of.active, of.total, True, moe)
        all_["C06"] = said(caches / compute, 1, caches < compute)
        # a point of a published curve: 64 experts of 370 M parameters are as good as 1.3 B
        alike = of.active * (of.experts / of.chosen) ** (math.log(1.3e9 / 370e6) / math.log(64)) if moe else of.active
        dense = max(batch * (self.multiply() * alike / of.active + 2 * of.layers * of.decode * CONTEXT / at["peak_bf16"])
                    / self.chips, alike * self.weight / (self.chips * at["hbm_bandwidth"]))
        all_["C07"] = said(max(compute, weights), dense, max(compute, weights) <= dense, moe)
        all_["C08"] = said(crossing, self.balance(), crossing > self.balance(), moe)
        if "hbm_cost" in at:
            share = (at["hbm_capacity"] * at["hbm_cost"] + at.get("host_memory", 236e9) * at["host_memory_cost"]) \
                / at["machine_cost"]
            all_["C09"] = said(share, 0.5, share >= 1 / 3)
        else:
            all_["C09"] = (None, None, APART)
        all_["C10"] = all_["C39"] = all_["C43"] = (None, None, NOT_KNOWN)
        long = batch * 200000 * of.cache
        all_["C11"] = said(long, self.stored, long > self.stored)
        all_["C12"], all_["C13"] = said(drained, self.drain("flash"), True), said(16, self.drain("flash"), True)
        all_["C14"] = all_["C51"] = said(growth(1e8), 100, growth(1e8) >= 100)
        dear = step / (batch * self.prompt() / self.chips)
        all_["C15"] = said(dear, 5, within(1.67, dear, 5))
        all_["C16"] = said(self.hit(), 0.1, self.hit() <= 0.1)
        all_["C17"] = said(12.5, 10, False)
        margin = (1 - 0.8 * 0.9) / (1 - 0.8 * (1 - self.hit()))
        all_["C18"] = said(margin, 1, margin > 1)
        all_["C19"] = said(growth(2e5), 1.5, growth(2e5) <= 1.5)
        all_["C20"] = said(context, 2e5, context and within(2, context, 2e5), context)
        all_["C21"] = said(of.cache / of.layers, 2048, True)
        paid = root(lambda b: self.step(b) / b - 6 * step / batch, 1, 1e6) or 1
        all_["C22"] = said(step / self.step(paid), 2.5, step / self.step(paid) >= 2.5)
        saving = step / batch / floor
        all_["C23"] = said(saving, 2, saving <= 2)
        alone = self.step(1) / floor
        all_["C24"] = said(alone, 1000, alone >= 1000 / math.sqrt(10))
        all_["C25"] = said(self.balance(), 300, within(1.5, self.balance(), 300))
        lecture = 300 * of.total / of.active
        all_["C26"] = said(crossing, lecture, within(1.5, crossing, lecture))
        least = self.stored / (self.chips * at["hbm_bandwidth"])
        all_["C27"], all_["C28"] = said(least, self.stored, True), said(least, 0.02, within(1.5, least, 0.02))
        all_["C29"] = said(drained, 0.02, within(1.5, drained, 0.02))
        all_["C30"] = said(batch / step, 128000, within(3.2, batch / step, 128000))
        all_["C31"] = said(1.3e9 / 370e6, 4, False, False)
        all_["C32"] = said(compute, weights, compute >= weights, moe)
        all_["C33"] = said(self.stored, 640e9, self.stored <= 640e9)
        all_["C34"] = (None, None, APART)                                       # all machines here have switches
        all_["C35"] = said(self.stored / (4 * self.domain), batch * CONTEXT * of.cache / self.domain, True)
        all_["C36"] = said(of.layers, of.layers, True)
        all_["C37"] = (None, None, APART)
        if moe:
            # dispatch and combine of each layer against one hop of 16 bits
            inside = (3 if of.narrow else 4) / 2 * rack.exchange(1)[0] * (of.sparse // 2) / ratio
            all_["C37"] = said(inside, 1, inside >= 1)
        used = of.layers / (8 * math.ceil(of.layers / 8))
        all_["C38"] = said(used, 1, used < 1)
        all_["C40"] = said(of.tokens, 20 * of.active, of.tokens / (20 * of.active) >= 10**1.5)
        all_["C42"] = said(of.tokens, 150e12, of.tokens and within(3.2, of.tokens, 150e12))
        if not of.tokens:
            all_["C40"] = all_["C42"] = (None, None, NOT_KNOWN)
        served = 5e7 * 60 * 86400
        all_["C41"] = said(served, 2e14, within(1.5, served, 2e14))
        all_["C44"] = said(self.drain("disk"), 3600, within(2, self.drain("disk"), 3600))
        all_["C45"] = said(context, 2e5, context and 5e4 <= context <= 4e5, context)
        all_["C46"] = said(500, math.sqrt(500), False, False)                   # each layer reads all of the context
        # new tokens of one pass attend to each other
        free = root(lambda n: self.compute(n * batch, CONTEXT + (n - 1) / 2) - self.weights(n * batch) - caches, 1, 1e6) or 1
        all_["C47"] = said(free, 2, free >= 2)
        all_["C48"], all_["C49"], all_["C52"] = said(5, 5, True), said(1, 1, True), said(2, 2, True)
        generations = [sheet("data/hardware.csv", machine) for machine in ("h100-sxm", "gb200-nvl72")]
        cost = [self.elsewhere(at=one).floor() * one["chip_price"] for one in generations]
        fall = (cost[0] / cost[1]) ** (1 / (generations[1]["release_year"] - generations[0]["release_year"]))
        all_["C50"] = said(fall, 10, fall < 10)
        all_["C53"] = (None, None, APART)
        return all_


# ---- what chalkline says -------------------------------------------------------------------------

def true(sign, left, right):
    if sign.startswith("within "):
        return within(float(sign[7:]), left, right)
    return {"<": left < right, ">": left > right, "=": left == right}[sign]


def inputs(text):
    return {row.strip(): value for row, value in (one.split("=", 1) for one in text.split(";") if "=" in one)}


class Said:
    """`lecture` for one pair, and `eval` of the figures of its claims."""

    def __init__(self, program, pair):
        model, machine, gpus, batch = pair
        words = ["--model", model, "--on", machine, "--gpus", gpus, "--batch", batch, "--context", str(CONTEXT)]
        answer = subprocess.run([program, "lecture", *words, "--json"], capture_output=True, text=True, check=True)
        said = json.loads(answer.stdout)
        self.program, self.words, self.asked = program, said["words"], {}
        self.statements = {one["id"]: one for one in said["statements"]}

    def rows(self, question, given):
        key = (json.dumps(question), given)
        if key not in self.asked:
            numbers = {row: float(value) for row, value in inputs(given).items()}
            self.asked[key] = Rows(self.program, self.words, {**question, **numbers})
        return self.asked[key]

    def figures(self, claim, published):
        """Left and right, and what the claim needs."""
        statement = self.statements[claim.statement]
        rows = self.rows(statement.get("here", statement)["question"], claim.at if published and claim.at else claim.given)
        left = claim.published if published else claim.left
        wanted = [text for text in (left, claim.right, claim.needs.split(" ")[0]) if text]
        rows.read([text for text in wanted if not re.match(r"[0-9.e]+$", text)])
        return [float(text) if re.match(r"[0-9.e]+$", text) else rows.known[text] for text in wanted]

    def answer(self, claim, published=False):
        statement = self.statements[claim.statement]
        here = statement.get("here")
        apart = (here and not here["applies"]) or (claim.unknown and not here)
        try:
            figures = self.figures(claim, published) if claim.left else []
        except ValueError:
            figures = []                        # a model without experts has none to a stage
            if not apart:
                raise
        left, right = figures[:2] or (None, None)
        if apart:
            return left, right, NOT_KNOWN if claim.unknown else APART
        if claim.needs and not true(claim.needs.split(" ")[1], figures[2], float(claim.needs.split(" ")[2])):
            return left, right, APART
        holds = true(claim.own, left, right) if claim.own else statement["holds"] if not here else \
            here["predicate"]["holds"] if here["predicate"] else True
        return left, right, KNOWN[0] if holds else KNOWN[1]


def compare(name, said, other, near, wrong, whose):
    """Verdict and figures of a claim; figures count where both are numbers. The number of figures compared."""
    if said[2] != other[2]:
        wrong.append(f"{name}: {said[2]} here, {other[2]} {whose}")
    count = 0
    for a, b in zip(said[:2], other[:2]):
        if a is None or b is None:
            continue
        count += 1
        if abs(a - b) > near * max(abs(a), abs(b)):
            wrong.append(f"{name}: {a:.9g} here, {b:.9g} {whose}")
    return count


def report(what, verdicts, figures, wrong):
    for line in wrong:
        print(f"{what}: {line}")
    print(f"  {what}: {verdicts} verdicts and {figures} figures compared, {len(wrong)} differ")
    return not wrong


def check(program, pair):
    said, wrong, figures = Said(program, pair), [], 0
    sums = Sums(pair[0], pair[1], int(pair[2]), int(pair[3]))
    if sums.of.published and sums.of.published != sums.of.total:
        wrong.append(f"{sums.of.total} parameters here, {sums.of.published} published")
    answers = sums.answers()
    for name, claim in CLAIMS.items():
        figures += compare(name, said.answer(claim), answers[name], NEAR, wrong, "by other sums")
    return report(" ".join(pair), len(CLAIMS), figures, wrong)


def check_published(program, path):
    with open(path, encoding="utf-8") as lines:
        table = list(csv.DictReader(lines))
    asked, wrong, figures = {}, [], 0
    for row in table:
        pair = tuple(row[key] for key in ("model", "machine", "gpus", "batch"))
        asked[pair] = asked.get(pair) or Said(program, pair)
        number = lambda key: float(row[key]) if row[key] else None
        other = number("left_value"), number("right_value"), row["verdict"]
        said = asked[pair].answer(CLAIMS[row["claim"]], published=True)
        figures += compare(f"{row['claim']} {row['model']}", said, other, NEAR_PUBLISHED, wrong, "published")
    return report("published claims", len(table), figures, wrong)


if __name__ == "__main__":
    right = [check(sys.argv[1], tuple(pair.split())) for pair in sys.argv[3:]]
    right += [] if sys.argv[2] == "-" else [check_published(sys.argv[1], sys.argv[2])]
    sys.exit(0 if all(right) else 1)
