"""chalkline: speed, memory, concurrency and cost of large language models on real machines.

    import chalkline
    answer = chalkline.step("llama-3.3-70b", on="h100-sxm", gpus=4)
    answer.predicted_tpot                       # seconds
    answer.why("predicted_tpot").text

Each verb of the command line is a function. Its words are positional arguments, its options keyword arguments with `_` in
place of `-`. A number means what the same digits mean on the command line; a text may have a unit, such as ttft="200ms".
"""

import keyword as _keyword

from ._answers import Answer, Record, Table, verb as _verb
from ._library import Error, progress, version as __version__
from ._models import Compiled, StepModel, compile
from ._verbs import VERBS as _VERBS

# `import` is a word of Python, so its function is `import_`; `step-time` is `step_time`.
_functions = {name.replace("-", "_") + "_" * _keyword.iskeyword(name): _verb(name) for name in _VERBS}
globals().update(_functions)
__all__ = ["Answer", "Compiled", "Error", "Record", "StepModel", "Table", "compile", "progress", *_functions]
