"""Writes the neutral words of the family `words_alone` of `composed.v1`, by part of speech:

    python lab/scripts/neutral_words.py --data DATA

They are the lemmas of the training part of Universal Dependencies EWT that occur often enough, that
the Stanford Sentiment Treebank never labels as anything but neutral or seldom does, and that the
bundled model scores near zero. Those of `lab/probes/neutral_words.txt` are for measuring, and left
out, as are their plurals.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rich.console import Console

from thinstack import load
from thinstack.data.trees.treebank import read_labelled

LAB: Final = Path(__file__).parents[1]
OUT: Final = LAB / "recipes" / "grammar" / "composed-neutral-words.json"
PROBES: Final = LAB / "probes" / "neutral_words.txt"
LISTS: Final = {"NOUN": "neutral_noun", "VERB": "neutral_verb", "ADJ": "neutral_adjective"}
OTHERS: Final = "neutral_other"
"""The list of adverbs, and of other forms of nouns and verbs."""
LEAST: Final = 4
"""How often a lemma occurs."""
MOST_LABELLED: Final = 0.15
"""The greatest share of its leaves in the treebank that are not neutral."""
MOST_SCORE: Final = 0.15
"""The score, from -1 to 1, beyond which the bundled model does not take a word for neutral."""
LEFT_OUT: Final = Path(__file__).with_name("not_neutral.txt")
"""Words that praise or complain more often than treebank and model show."""


def lemmas(path: Path) -> Iterator[tuple[str, str, str]]:
    """The lemma, the form and the part of speech of each word of a CoNLL-U file, in lower case."""
    for line in path.read_text(encoding="utf-8").splitlines():
        columns = line.split("\t")
        if len(columns) > 3 and columns[0].isdigit():
            yield columns[2].lower(), columns[1].lower(), columns[3]


def labelled_share(path: Path) -> dict[str, float]:
    """The share of the leaves of each word that are not neutral."""
    leaves = defaultdict[str, list[bool]](list)
    for tree, labels in read_labelled(path, tuple("01234")):
        for token, label in zip(tree.tokens, labels.tolist(), strict=True):
            if token is not None:
                leaves[token.lower()].append(label != 2)
    return {word: sum(marked) / len(marked) for word, marked in leaves.items()}


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    tokens = list(lemmas(data / "ud_ewt/en_ewt-ud-train.conllu"))
    of_form = {form: lemma for lemma, form, _ in tokens}
    probes = PROBES.read_text(encoding="utf-8").split()
    left_out = {*LEFT_OUT.read_text(encoding="utf-8").split()} | {
        lemma for word in probes for lemma in (word, of_form.get(word, word))
    }
    counts = Counter((lemma, part) for lemma, _, part in tokens)
    forms = Counter((form, lemma) for lemma, form, part in tokens if part in ("NOUN", "VERB"))
    by_list = defaultdict[str, set[str]](set)
    for (lemma, part), count in counts.items():
        name = LISTS.get(part, OTHERS if part == "ADV" else "")
        if name and count >= LEAST and lemma not in left_out:
            by_list[name].add(lemma)
    by_list[OTHERS] |= {
        form
        for (form, lemma), count in forms.items()
        if count >= LEAST and form != lemma and not {form, lemma} & left_out
    }
    share, model = labelled_share(data / "sst/train.txt"), load("sentiment")
    lists = {}
    for name, words in sorted(by_list.items()):
        plain = sorted(
            word
            for word in words
            if word.isascii() and word.isalpha() and len(word) > 1
            if share.get(word, 0.0) <= MOST_LABELLED
            if share.get(of_form.get(word, word), 0.0) <= MOST_LABELLED
        )
        scores = [result.polarity for result in map(model, plain)]
        lists[name] = [
            word for word, score in zip(plain, scores, strict=True) if abs(score) <= MOST_SCORE
        ]
    OUT.write_text(json.dumps({"lists": lists}, indent=0) + "\n", encoding="utf-8")
    Console().print({name: len(words) for name, words in lists.items()})


if __name__ == "__main__":
    main()
