"""The code in the pages of the documentation."""

import linecache
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)

PLACEHOLDER = re.compile(r"\b(BUNDLE|FILE|MODEL|NAME|OUT|PIPELINE|TABLE|TEXT)\b")


def read(page):
    """The text of a page, given by its path."""
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page, *languages):
    """The code blocks of a page in these languages (`""`: that name none)."""
    return [block for language, block in BLOCK.findall(read(page)) if language in languages]


def command_lines(page):
    """The calls of `thinstack` in its code blocks, then those in its text, without placeholders."""
    lines = [line for block in blocks(page, "", "sh") for line in block.splitlines()]
    calls = [call[1] for line in lines if (call := re.match(r"(?:\$ )?(thinstack .*)", line))]
    text = BLOCK.sub("", read(page))
    spans = (" ".join(span.split()) for span in re.findall(r"`(thinstack \w+ [^`]+)`", text))
    return calls + [span for span in spans if not PLACEHOLDER.search(span)]


def execute(block, name, names):
    """Run a block, which finds and leaves its names in `names`."""
    # TorchScript reads the source.
    linecache.cache[name] = (len(block), None, block.splitlines(keepends=True), name)
    exec(compile(block, name, "exec"), names)


def run(page, word):
    """Run the one block of a page that holds `word`; returns its names."""
    (block,) = [block for block in blocks(page, "python") if word in block]
    names = {"__name__": "page"}
    execute(block, f"<{page}, {word}>", names)
    return names
