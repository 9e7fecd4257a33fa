"""The code in the pages of the documentation."""

import linecache
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page, *languages):
    """The code blocks of a page, given by its path, in these languages (`""`: that name none)."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [block for language, block in BLOCK.findall(text) if language in languages]


def execute(block, name, names):
    """Run a block, which finds and leaves its names in `names`."""
    # TorchScript reads the source.
    linecache.cache[name] = (len(block), None, block.splitlines(keepends=True), name)
    exec(compile(block, name, "exec"), names)


def run(page, word):
    """Run the one block of a page that holds `word`; returns its names."""
    (block,) = [block for block in blocks(page, "python") if word in block]
    found = {"__name__": "page"}
    execute(block, f"<{page}, {word}>", found)
    return found
