"""The functions of chalkline.h, called through ctypes: no compiler is needed where this is installed."""

import ctypes
import os
import pathlib

OUT_OF_MEMORY, CANCELLED = 3, 4


class _Error(ctypes.Structure):
    _fields_ = [("what", ctypes.c_char * 768), ("hint", ctypes.c_char * 512), ("similar", ctypes.c_char * 256)]


def _load():
    """The library beside this file; CHALKLINE_LIBRARY names another one."""
    beside = pathlib.Path(__file__).with_name("libchalkline.so.0")
    return ctypes.CDLL(os.environ.get("CHALKLINE_LIBRARY") or (str(beside) if beside.exists() else "libchalkline.so.0"))


functions = _load()


def _declare(name, result, *arguments):
    function = getattr(functions, name)
    function.restype, function.argtypes = result, arguments


_declare("chalkline_version", ctypes.c_char_p)
_declare("chalkline_open", ctypes.c_void_p, ctypes.POINTER(_Error))
_declare("chalkline_ask", ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p))
for _text in "json", "text", "csv":
    _declare("chalkline_" + _text, ctypes.c_char_p, ctypes.c_void_p)
_declare("chalkline_free", None, ctypes.c_void_p)

version = functions.chalkline_version().decode()
handle = functions.chalkline_open(None)
if not handle:
    raise MemoryError("chalkline: the library could not be opened")


def ask(verb, body):
    """Ask a verb with a body of JSON: (status, JSON, text, CSV), the last three as texts."""
    answer = ctypes.c_void_p()
    status = functions.chalkline_ask(handle, verb.encode(), body.encode(), ctypes.byref(answer))
    try:
        texts = [getattr(functions, "chalkline_" + kind)(answer).decode() for kind in ("json", "text", "csv")]
    finally:
        functions.chalkline_free(answer)
    return status, *texts
