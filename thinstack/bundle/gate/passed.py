"""The ONNX files of the models of thinstack's repository, which have passed the gate.

What was checked before a release need not be checked at every load. A file is known by its SHA-256,
wherever it lies, and the list is part of the program: whoever can only write to the folder of a
bundle cannot add to it. `scripts/passed_models.py` writes `passed.txt`, and a test passes every
file of the repository through the gate again.
"""

from functools import cache
from pathlib import Path
from typing import Final

PASSED: Final = Path(__file__).with_name("passed.txt")
"""A line a file: its SHA-256 in hex digits, two spaces, and its path, as `sha256sum` has them."""


def has_passed(digest: str) -> bool:
    """Whether the ONNX file with this SHA-256 (hex) has passed `check_onnx`."""
    return digest in _digests()


@cache
def _digests() -> frozenset[str]:
    lines = PASSED.read_text(encoding="utf-8").splitlines()
    return frozenset(line.partition("  ")[0] for line in lines)
