"""The sentences of a page: what is left of its prose without code, tables and addresses."""

import re

from pages import ROOT

LEFT_OUT = re.compile(
    r"^---\n.*?^---$|^ *```.*?^ *```$|<!--.*?-->|^ *\|.*?$|^#.*?$", re.MULTILINE | re.DOTALL
)
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
ITEM = re.compile(r"^ *(?:[-*]|\d+\.) ", re.MULTILINE)
END = re.compile(r"(?<=[.?!;])(?<! al\.)(?<!e\.g\.)(?<!i\.e\.)[\")*]*\s")


def sentences(page):
    """The sentences of a page; `page` is its path in the repository. A span of code is one word,
    and an item of a list starts a sentence."""
    text = LEFT_OUT.sub("\n", (ROOT / page).read_text(encoding="utf-8"))
    text = LINK.sub(r"\1", CODE.sub("code", text))
    paragraphs = re.split(r"\n\s*\n", ITEM.sub("\n\n", text))
    found = [END.split(" ".join(each.replace("*", "").split())) for each in paragraphs]
    return [sentence for each in found for sentence in each if sentence]


def words(sentence):
    """How many words a sentence has: what holds a letter or a digit, between spaces."""
    return sum(re.search(r"\w", word) is not None for word in sentence.split())
