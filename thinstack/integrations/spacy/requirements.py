"""The packages that a packaged pipeline needs beside spaCy."""

from typing import Any

from spacy.util import get_minor_version_range, split_requirement

from thinstack._version import __version__
from thinstack.core.config import Device


def note_requirement(meta: dict[str, Any], device: Device) -> None:
    """Add thinstack to the requirements in a pipeline's `meta`, unless it is there already.

    `spacy package` writes them into the wheel. By itself it finds only packages that have a file
    top_level.txt, which thinstack's build does not write.
    """
    known = meta.setdefault("requirements", [])
    if "thinstack" not in [split_requirement(line)[0] for line in known]:
        extra = "gpu" if device == "cuda" else "cpu"
        known.append(f"thinstack[{extra}]{get_minor_version_range(__version__)}")
