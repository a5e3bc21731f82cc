"""Rows over arrays, and the time of a step, as functions of Python."""

import array
import ctypes
import json

from . import _library
from ._answers import body_of

_call = _library.functions


class Compiled:
    """Rows as a function of arrays: `function(batch=..., context=...)`, or by position in the order of `over`.

    Arguments are arrays of doubles of one shape, numpy's or any with the buffer protocol, lists, or numbers, which are
    repeated; numpy's arrays of doubles are read where they lie. The answer is an array, or a list of arrays where several rows were compiled; with `gradient=True`, a pair of
    it and the derivatives, [row][input]. Arrays are numpy's where an argument is. An instance may be called from several
    threads."""

    def __init__(self, rows, over, gradient, options):
        self._at = ctypes.c_void_p()
        self._several = not isinstance(rows, str)
        over = [over] if isinstance(over, str) else over
        if not over:
            raise TypeError("over: the names of the inputs")
        self.rows, self.over, self.gradient = [rows] if isinstance(rows, str) else list(rows), list(over), gradient
        said = _library.Said()
        body = json.dumps(body_of([], options))
        _library.ended(_call.chalkline_compile(_library.handle, body.encode(), _library.strings(self.rows),
                                               _library.strings(self.over), ctypes.byref(self._at), ctypes.byref(said)), said)

    def __del__(self):
        _call.chalkline_compiled_free(self._at)

    def _columns(self, given, named):
        given = [*given, *(named.pop(name) for name in self.over[len(given):] if name in named)]
        if named or len(given) != len(self.over):
            raise TypeError(f"arguments: {', '.join(self.over)}")
        return given

    def __call__(self, *given, **named):
        columns, room, make = _filled(self._columns(given, named))
        count = len(columns[0])
        values = [room(count) for _ in self.rows]
        slopes = [room(count) for _ in self.rows for _ in self.over] if self.gradient else []
        said = _library.Said()
        _library.ended(_call.chalkline_run(self._at, _addresses(columns), count, _addresses(values),
                                           _addresses(slopes) if slopes else None, ctypes.byref(said)), said)
        out = [make(one) for one in values]
        answer = out if self._several else out[0]
        if not self.gradient:
            return answer
        width = len(self.over)
        rows = [[make(slopes[j * width + i]) for i in range(width)] for j in range(len(self.rows))]
        return answer, rows if self._several else rows[0]

    def interval(self, low, high):
        """Bounds of the rows where each input lies between its `low` and `high`, two lists of arrays in the order of
        `over`: (low, high), each as a call answers."""
        both, room, make = _filled([*low, *high])
        lows, highs = both[:len(low)], both[len(low):]
        if len(lows) != len(self.over) or len(highs) != len(self.over):
            raise TypeError(f"bounds of: {', '.join(self.over)}")
        count = len(both[0])
        ends = [[room(count) for _ in self.rows] for _ in range(2)]
        said = _library.Said()
        _library.ended(_call.chalkline_intervals(self._at, _addresses(lows), _addresses(highs), count, _addresses(ends[0]),
                                                 _addresses(ends[1]), ctypes.byref(said)), said)
        made = [[make(one) for one in end] for end in ends]
        return tuple(made) if self._several else (made[0][0], made[1][0])


def _addresses(columns):
    """double *[]: numpy's arrays and Python's without a copy."""
    at = [one.ctypes.data if hasattr(one, "ctypes") else one.buffer_info()[0] for one in columns]
    return (ctypes.c_void_p * len(at))(*at)


def _filled(given):
    """Columns of one length from numbers, lists and arrays, what makes room for as many doubles, and what makes the answer
    of them."""
    if any(hasattr(one, "__array__") for one in given):
        import numpy
        whole = numpy.broadcast_arrays(*(numpy.asarray(one, dtype=float) for one in given))
        columns = [numpy.ascontiguousarray(one).reshape(-1) for one in whole]
        return columns, numpy.empty, lambda values: values.reshape(whole[0].shape)
    lists = [list(one) if hasattr(one, "__len__") else None for one in given]
    lengths = {len(one) for one in lists if one is not None}
    if len(lengths) > 1:
        raise ValueError(f"arguments of different lengths: {', '.join(map(str, sorted(lengths)))}")
    count = lengths.pop() if lengths else 1
    columns = [array.array("d", one if one is not None else [value] * count) for one, value in zip(lists, given)]
    alone = all(one is None for one in lists)
    return columns, lambda size: array.array("d", [0.0]) * size, lambda values: values[0] if alone else values


def compile(rows, over, *, gradient=False, **options):
    """Rows, or one row, as a function of the inputs `over`, all else fixed by the options, which are those of `eval`, and by
    what is chosen once where they leave it open, such as a layout."""
    return Compiled(rows, over, gradient, options)


def _batch_of(prompts, decodes, drafts):
    batch = _library.Batch()
    try:
        for tokens, cached in prompts:
            _call.chalkline_batch_add(batch, float(tokens), float(cached), 0)
        for cached in decodes:
            _call.chalkline_batch_add(batch, 1 + float(drafts), float(cached), 1)
    except (TypeError, ValueError, OverflowError) as reason:
        raise _library.Error(f"the sequences of a step must be numbers: {reason}", "expected: prompts=[(tokens, cached), ...], "
                             "decodes=[cached, ...], drafts=N") from None
    return batch


class StepModel:
    """The time of a step of a replica, for schedulers and simulators: the function that `simulate` uses.

    Options are those of `simulate`: StepModel("llama-3.3-70b", on="h100-sxm", gpus=4)."""

    def __init__(self, model=None, **options):
        self._at = ctypes.c_void_p()
        said = _library.Said()
        body = json.dumps(body_of([], {"model": model, **options}))
        _library.ended(_call.chalkline_step_open(_library.handle, body.encode(), ctypes.byref(self._at), ctypes.byref(said)), said)

    def __del__(self):
        _call.chalkline_step_close(self._at)

    def step(self, prompts=(), decodes=(), drafts=0):
        """Seconds of a step: `prompts` are pairs of the prompt tokens that it processes and the tokens cached before them;
        `decodes` the cached tokens of each sequence that decodes. With step_time=... each verifies so many `drafts`; of a
        model draft=N says how many."""
        return self.interval(prompts, decodes, drafts)[0]

    def interval(self, prompts=(), decodes=(), drafts=0):
        """(seconds, low, high): the step with the ends of its 80 % interval."""
        ends = (ctypes.c_double * 2)()
        seconds = _call.chalkline_step(self._at, _batch_of(prompts, decodes, drafts), ends)
        if seconds != seconds:
            raise _library.Error("the step has no time: tokens of its sequences are negative or infinite", "expected: counts of tokens")
        return seconds, ends[0], ends[1]

    def parts(self, prompts=(), decodes=(), drafts=0):
        """{row: seconds}: where the time of the step goes, the largest part first. They add up to it."""
        batch, room = _batch_of(prompts, decodes, drafts), 0
        while (count := _call.chalkline_step_parts(self._at, batch, parts := (_library.Part * room)(), room)) > room:
            room = count
        return {part.name.decode(): part.seconds for part in parts[:count]}
