"""The functions of chalkline.h, called through ctypes: no compiler is needed where this is installed."""

import ctypes
import os
import pathlib

REFUSED, OUT_OF_MEMORY, CANCELLED = 2, 3, 4


class Said(ctypes.Structure):
    """struct chalkline_error"""
    _fields_ = [("what", ctypes.c_char * 768), ("hint", ctypes.c_char * 512), ("similar", ctypes.c_char * 256)]


class Batch(ctypes.Structure):
    """struct chalkline_batch"""
    _fields_ = [(name, ctypes.c_double) for name in (
        "sequences", "decoding", "decode_cached", "drafts", "prompt", "prompt_cached", "prompt_pairs", "begun", "imbalance")]


class Part(ctypes.Structure):
    """struct chalkline_part"""
    _fields_ = [("name", ctypes.c_char_p), ("seconds", ctypes.c_double)]


def _load():
    """The library beside this file; CHALKLINE_LIBRARY names another one."""
    beside = pathlib.Path(__file__).with_name("libchalkline.so.0")
    path = os.environ.get("CHALKLINE_LIBRARY") or (str(beside) if beside.exists() else "libchalkline.so.0")
    try:
        return ctypes.CDLL(path)
    except OSError as reason:
        raise ImportError(f"chalkline: the library cannot be loaded: {reason}\n"
                          "  expected: libchalkline.so.0 beside this package, where the system looks, or in CHALKLINE_LIBRARY") from None


_pointer, _text, _number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_double
_to = ctypes.POINTER(_pointer)
_function = ctypes.CFUNCTYPE(ctypes.c_int, _pointer, _number)
functions = _load()
for _name, _result, _arguments in (
        ("version", _text, ()), ("open", _pointer, (ctypes.POINTER(Said),)), ("progress", None, (_pointer, _function, _pointer)),
        ("ask", ctypes.c_int, (_pointer, _text, _text, _to)), ("report", ctypes.c_int, (_pointer, _text, _text, _to)),
        ("json", _text, (_pointer,)), ("text", _text, (_pointer,)), ("csv", _text, (_pointer,)), ("free", None, (_pointer,)),
        ("compile", ctypes.c_int, (_pointer, _text, ctypes.POINTER(_text), ctypes.POINTER(_text), _to, ctypes.POINTER(Said))),
        ("run", ctypes.c_int, (_pointer, _to, ctypes.c_size_t, _to, _to, ctypes.POINTER(Said))),
        ("intervals", ctypes.c_int, (_pointer, _to, _to, ctypes.c_size_t, _to, _to, ctypes.POINTER(Said))),
        ("compiled_free", None, (_pointer,)),
        ("step_open", ctypes.c_int, (_pointer, _text, _to, ctypes.POINTER(Said))),
        ("batch_add", None, (ctypes.POINTER(Batch), _number, _number, ctypes.c_int)),
        ("step", _number, (_pointer, ctypes.POINTER(Batch), ctypes.POINTER(_number))),
        ("step_parts", ctypes.c_size_t, (_pointer, ctypes.POINTER(Batch), ctypes.POINTER(Part), ctypes.c_size_t)), ("step_close", None, (_pointer,))):
    getattr(functions, "chalkline_" + _name).restype = _result
    getattr(functions, "chalkline_" + _name).argtypes = _arguments

version = functions.chalkline_version().decode()
handle = functions.chalkline_open(None)
if not handle:
    raise MemoryError("chalkline: the library could not be opened")


class Error(ValueError):
    """A question that was refused: `what` is wrong, the `hint` what would have been accepted, and `similar` names that may
    have been meant."""

    def __init__(self, what, hint="", similar=()):
        super().__init__(f"{what}\n  {hint}" if hint else what)
        self.what, self.hint, self.similar = what, hint, list(similar)

    def __reduce__(self):
        return Error, (self.what, self.hint, self.similar)


def ask(verb, body, function=functions.chalkline_ask):
    """Ask a verb with a body of JSON: (status, JSON, text, CSV), the last three as texts."""
    answer = _pointer()
    status = function(handle, verb.encode(), body.encode(), ctypes.byref(answer))
    try:
        texts = [getattr(functions, "chalkline_" + kind)(answer).decode() for kind in ("json", "text", "csv")]
    finally:
        functions.chalkline_free(answer)
    ended(status)
    return status, *texts


def ended(status, said=None):
    """Raise what a status and a struct chalkline_error say."""
    if status == OUT_OF_MEMORY:
        raise MemoryError("chalkline: out of memory")
    if status == CANCELLED:
        raise _watch.raised.pop() if _watch.raised else KeyboardInterrupt("chalkline: cancelled")
    if status == REFUSED and said is not None:
        raise Error(said.what.decode(), said.hint.decode(), said.similar.decode().splitlines())


def strings(names):
    """char *[] that NULL ends."""
    return (_text * (len(names) + 1))(*[name.encode() for name in names], None)


class _Watch:
    """A function that is called during long answers, kept as long as the library may call it, and what it raised."""

    def __init__(self, function=None):
        self.function, self.raised = function, []
        self.called = _function(self.ask) if function else _function()

    def ask(self, _, share):
        try:
            return bool(self.function(share))
        except BaseException as error:                          # raised again where the question was asked
            self.raised.append(error)
            return True


_watch = _Watch()


def progress(function):
    """Have `function(share)` called during long answers, from 0 to 1; an answer that is true cancels the question, which
    then ends with KeyboardInterrupt, or with what the function raised. None: no more."""
    global _watch
    watch = _Watch(function)
    functions.chalkline_progress(handle, watch.called, None)
    _watch = watch
