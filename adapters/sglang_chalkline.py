"""SGLang Simulator's time of a batch from chalkline. Untested against sglang: written for tools/sglang-simulator of
sgl-project/sglang at 04b91ac, whose types it uses.

The simulator chooses its predictor by "predictor": {"name": ...} of its JSON and has no place for others, so import this
module before it starts and call register(). Then

    "predictor": {"name": "chalkline", "on": "h100-sxm", "model": "llama-3.1-8b"}

asks chalkline; its other members are options of chalkline.StepModel, and win over what "scheduler" says of the layout."""

import math

import chalkline
from sglang_simulator.simulation.manager import config as manager
from sglang_simulator.time_predictor import InferTimePredictor


def options_of(scheduler, given):
    """Options of StepModel: the layout of a SchedulerConfig, then what is given. Attention ranks (dp) divide tp there."""
    def size(name):
        return getattr(scheduler, name, None) or 1
    layout = {"gpus": size("tp_size") * size("pp_size"), "tp": size("tp_size") // size("dp_size"), "pp": size("pp_size"),
              "dp": size("dp_size"), "ep": size("ep_size"), "engine": "sglang"}
    return {**{name: value for name, value in layout.items() if value != 1 or name == "gpus"}, **given}


class ChalklineTimePredictor(InferTimePredictor):
    """Seconds of one forward pass. A request of one token after others is a decode, as the simulator has it."""

    def __init__(self, model, hw, config, options):
        super().__init__(model, hw, config)
        self.steps = chalkline.StepModel(**options_of(config, options))

    def predict_infer_time(self, batch):
        sizes = [(one.extend_length, one.past_kv_length) for one in batch.reqs]
        seconds = self.steps.step(prompts=[one for one in sizes if one[0] > 1 or not one[1]],
                                  decodes=[past for extend, past in sizes if extend == 1 and past])
        return -1.0 if math.isnan(seconds) else seconds        # a negative time: it failed


def register():
    """Have the simulator's JSON choose between its own predictors and this one."""
    asked = manager.ConfigManager.get_inference_time_predictor.__func__

    def choose(cls, model, hw, scheduler):
        given = dict(cls._get_raw_config().get("predictor", {}))
        if given.pop("name", None) != "chalkline":
            return asked(cls, model, hw, scheduler)
        return ChalklineTimePredictor(model, hw, scheduler, given)

    manager.ConfigManager.get_inference_time_predictor = classmethod(choose)
