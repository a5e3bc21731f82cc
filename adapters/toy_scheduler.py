"""A scheduler of vLLM's kind over chalkline.StepModel: first come, first served, prompts in parts beside decodes, no cache that
fills, no prefixes. Its times are those of `chalkline simulate --no-async-scheduling --api-time 0s`:

    steps = chalkline.StepModel("llama-3.1-8b", on="h100-sxm", gpus=1)
    requests = [toy_scheduler.Request(arrival=0.1 * i, known=1000, left=200) for i in range(100)]
    toy_scheduler.run(steps, requests, budget=8192, seats=256)
    print(requests[99].first - requests[99].arrival)            # its time to the first token, s
"""

import collections
import dataclasses


@dataclasses.dataclass
class Request:
    """Seconds and tokens; `known` grows by what it writes, `computed` is in the cache."""
    arrival: float
    known: int
    left: int
    computed: int = 0
    first: float = None
    last: float = None


def run(steps, requests, budget, seats):
    """Serve requests in order of arrival with at most `budget` tokens and `seats` sequences a step; sets `first` and `last`."""
    now, later, waiting, running = 0.0, collections.deque(requests), collections.deque(), []
    while later or waiting or running:
        if not waiting and not running:
            now = max(now, later[0].arrival)
        while later and later[0].arrival <= now:
            waiting.append(later.popleft())
        left, parts = budget, []
        for one in running:
            part = min(one.known - one.computed, left)
            left -= part
            parts += [(one, part)] * (part > 0)
        while waiting and left and len(running) < seats:
            running.append(waiting.popleft())
            part = min(running[-1].known, left)
            left -= part
            parts.append((running[-1], part))
        now += steps.step(prompts=[(part, one.computed) for one, part in parts if one.first is None],
                          decodes=[one.computed for one, part in parts if one.first is not None])
        for one, part in parts:
            one.computed += part
            if one.computed == one.known:           # its prompt is done, or it decodes: it writes a token
                one.first = now if one.first is None else one.first
                one.last, one.known, one.left = now, one.known + 1, one.left - 1
        running = [one for one in running if one.left]
