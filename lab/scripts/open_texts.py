"""Writes the files of `recipes/sentiment-open*.toml`, whose terms allow commercial use:

    python lab/scripts/open_texts.py --data DATA --out DATA

`open-trees.txt` has the trees of SNLI's captions (CC BY-SA 4.0), neutral as a whole: they state
what is seen. `open-texts.txt` has sentences of DBpedia and WikiText-2 (CC BY-SA 3.0) without
labels. `open-variants.txt` shows the teacher the words of Universal Dependencies EWT (CC BY-SA 4.0)
in other sentences: in its own with words exchanged for others of the same tag, and in frames.
"""

import argparse
import gzip
import json
import random
import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from thinstack.core import Tree
from thinstack.data.trees.brackets import from_brackets, to_brackets
from thinstack.errors import TreeError

TREES, MOST_WORDS = 9000, 40
SOURCES = ("dbpedia", "wiki")
VARIANTS, EXCHANGED, FRAMED = 2, 0.4, 2
"""Variants of a sentence; how often a word is exchanged; sentences by frames for each word."""
FRAMES = {
    "JJ": (
        "It was {JJ}.",
        "a {JJ} {NN}",
        "very {JJ}",
        "so {JJ} and {JJ}",
        "The {NN} is {RB} {JJ}.",
    ),
    "NN": ("What a {NN}!", "the {NN}", "The {NN} was a {NN}.", "no {NN}", "a {JJ} {NN}"),
    "NNS": ("The {NNS} were {JJ}.", "{JJ} {NNS}", "nothing but {NNS}", "full of {NNS}"),
    "VB": ("It will {VB} you.", "They did not {VB} it.", "to {VB} the {NN}", "You should {VB} it."),
    "VBD": ("They {VBD} us.", "It {VBD} {RB}.", "The {NN} {VBD}.", "I {VBD} it."),
    "VBG": ("They keep {VBG}.", "It is {VBG} {RB}.", "{VBG} the {NN}"),
    "VBN": ("I was {VBN}.", "{RB} {VBN}", "It has been {VBN}.", "a {VBN} {NN}"),
    "VBZ": ("It {VBZ} {RB}.", "The {NN} {VBZ}.", "She {VBZ} it."),
    "RB": ("{RB} {JJ}", "It works {RB}.", "They {VBD} {RB}."),
}
"""Short texts with slots, by the tag of their word."""
Words = dict[str, list[str]]
"""The words of a tag."""


class Token(NamedTuple):
    """A token: its form, its tag of the Penn Treebank, and the space behind it."""

    form: str
    tag: str
    space: str


def trees(path: Path) -> list[str]:
    """Trees with a neutral root and other labels unknown, "?"."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    sides = [f"{side}_binary_parse" for side in ("sentence1", "sentence2")]
    parses = dict.fromkeys(row[side] for row in rows for side in sides)
    lines = []
    for parse in parses:
        try:
            tree = from_brackets(parse, labelled=False)
            steps = tree.transitions
        except TreeError:  # a few are not binary
            continue
        if 2 < len(tree.words) <= MOST_WORDS:
            labels = ["?"] * (len(tree) - 1) + ["2"]
            lines.append(to_brackets(Tree.from_transitions(steps, tree.words, labels)))
    random.Random(0).shuffle(lines)
    return lines[:TREES]


def texts(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        pairs = [line.rstrip("\n").split("\t", 1) for line in file]
    return [text for source, text in pairs if source in SOURCES]


def tagged(path: Path) -> list[list[Token]]:
    """The tokens of the sentences of a CoNLL-U file, where "don't" is one."""
    sentences = []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        tokens, last = list[Token](), 0
        for row in (line.split("\t") for line in block.splitlines()):
            if len(row) == 10 and "." not in row[0] and int(row[0].split("-")[0]) > last:
                last = int(row[0].split("-")[-1])
                tokens.append(Token(row[1], row[4], "" if "SpaceAfter=No" in row[9] else " "))
        if tokens:
            sentences.append(tokens)
    return sentences


def variants(path: Path) -> list[str]:
    """The sentences of a CoNLL-U file with words exchanged for others of the same tag, and frames
    with each word."""
    sentences, draw, forms = tagged(path), random.Random(0), defaultdict[str, set[str]](set)
    for form, tag, _ in (token for sentence in sentences for token in sentence):
        if tag in FRAMES and form.islower() and form.isalpha() and len(form) > 2:
            forms[tag].add(form)
    words = {tag: sorted(forms[tag]) for tag in FRAMES}
    made = [
        exchanged(sentence, words, draw)
        for sentence in sentences
        for _ in range(VARIANTS)
        if 2 < len(sentence) <= MOST_WORDS
    ]
    for tag, frames in FRAMES.items():
        for word in words[tag]:
            made += [filled(one, tag, word, words, draw) for one in draw.sample(frames, FRAMED)]
    draw.shuffle(made)
    return list(dict.fromkeys(map(with_articles, made)))


def exchanged(sentence: list[Token], words: Words, draw: random.Random) -> str:
    """A sentence with some of its words exchanged; of adverbs, those in -ly."""
    text = ""
    for form, tag, space in sentence:
        may = form in words.get(tag, ()) and (tag != "RB" or form.endswith("ly"))
        text += (draw.choice(words[tag]) if may and draw.random() < EXCHANGED else form) + space
    return text.strip()


def filled(frame: str, tag: str, word: str, words: Words, draw: random.Random) -> str:
    """A frame with the word in the first slot of its tag, and others drawn."""
    frame = frame.replace(f"{{{tag}}}", word, 1)
    return re.sub(r"{(\w+)}", lambda slot: draw.choice(words[slot[1]]), frame)


def with_articles(text: str) -> str:
    """The text with "a" before consonants and "an" before vowels."""
    text = re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", text)
    return re.sub(r"\b([Aa])n (?=[bcdfgjklmnpqrstvwxyz])", r"\1 ", text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    chosen = parser.parse_args()
    parts = {
        "open-trees.txt": trees(chosen.data / "snli/train.jsonl"),
        "open-texts.txt": texts(chosen.data / "text/sentences.tsv.gz"),
        "open-variants.txt": variants(chosen.data / "ud_ewt/en_ewt-ud-train.conllu"),
    }
    for name, lines in parts.items():
        (chosen.out / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        Console().print(f"{name}: {len(lines):,} lines")


if __name__ == "__main__":
    main()
