"""What libraries of drivers print, which tell it no other way."""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

_STDERR = 2
_WARNING = re.compile(r"^Warning: (.+?)\.?\n(?:[ \t].*\n|\n)*", re.MULTILINE)
"""As Dawn, the library of WebGPU, has it: the lines below say where in its code."""


@contextmanager
def printed_warnings() -> Iterator[list[str]]:
    """The warnings that libraries print on standard error in the block; the list is filled behind
    it. All else that anybody prints there comes behind the block, as it was."""
    found: list[str] = []
    try:
        before = os.dup(_STDERR)
    except OSError:  # a program without standard error
        yield found
        return
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), _STDERR)
        try:
            yield found
        finally:
            os.dup2(before, _STDERR)
            os.close(before)
            file.seek(0)
            text = file.read().decode(errors="replace")
            found += _WARNING.findall(text)
            os.write(_STDERR, _WARNING.sub("", text).encode())
