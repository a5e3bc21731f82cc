"""The time of vLLM's steps from chalkline, where a runner computes nothing. Untested against vllm: written for SchedulerOutput of
vllm-project/vllm at 00e8f1f and for pull request 47922 (`--simulate-forward`), which is open and has no time of its own.

    steps = chalkline.StepModel("qwen3-32b", on="h200-sxm", gpus=2, engine="vllm")
    vllm_forward.wrap(runner, steps)            # execute_model now takes as long as it would; or wait=clock.advance
"""

import functools
import math
import time


def batch_of(output):
    """(prompts, decodes, drafts) of a SchedulerOutput: pairs of tokens and cached tokens, and cached tokens; drafts are a
    mean over the decodes. A request that has written tokens decodes, unless it processes more than its drafts and one."""
    tokens, drafts = output.num_scheduled_tokens, output.scheduled_spec_decode_tokens
    prompts = [(tokens[one.req_id], one.num_computed_tokens) for one in output.scheduled_new_reqs]
    decodes, drafted = [], 0
    cached = output.scheduled_cached_reqs
    for request, computed, written in zip(cached.req_ids, cached.num_computed_tokens, cached.num_output_tokens):
        proposed = len(drafts.get(request, ()))
        if written and tokens[request] == 1 + proposed:
            decodes.append(computed)
            drafted += proposed
        else:
            prompts.append((tokens[request], computed))
    return prompts, decodes, drafted / len(decodes) if decodes else 0


def wrap(runner, steps, wait=time.sleep):
    """Have `runner.execute_model(scheduler_output)` wait for the seconds that the step would take: time.sleep for what is left
    of them when it returns, any other `wait` for all of them."""
    execute = runner.execute_model

    @functools.wraps(execute)
    def execute_model(scheduler_output, *rest, **named):
        begun = time.monotonic()
        result = execute(scheduler_output, *rest, **named)
        if scheduler_output.total_num_scheduled_tokens:
            prompts, decodes, drafts = batch_of(scheduler_output)
            seconds = steps.step(prompts=prompts, decodes=decodes, drafts=drafts)
            if math.isnan(seconds):
                raise ValueError(f"no time of this step: {prompts}, {decodes}")
            wait(max(seconds - (time.monotonic() - begun), 0) if wait is time.sleep else seconds)
        return result

    runner.execute_model = execute_model
