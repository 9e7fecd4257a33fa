"""Whether the sentiment of a model stays where it should: neutral on neutral words, questions and
negations, and the same with a link, a handle, a hashtag, another name, place or number, or a typing
error.

    python lab/benchmarks/steady_words.py --data DATA [--models sentiment ...] [--json]

Words, sentences and values are those of `lab/probes`, which no lesson shows. Links, handles,
hashtags and typing errors are added to the first sentences of SST's dev.txt. A figure is a share:
of texts with another side than neutral, or of changes that give another side (negative, neutral,
positive) and move the polarity by more than 0.1. `everyday` counts sentences of
`everyday.tsv` with the right side.
"""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Annotated, Any, Final

import typer
from rich.console import Console

from thinstack import load
from thinstack.data.trees.treebank import read_labelled
from thinstack.text.raw_text import detokenize
from thinstack_lab.lessons.typos import misspell

PROBES: Final = Path(__file__).parents[1] / "probes"
MOVES: Final = 0.1
"""The polarity by which a change must move a text to count, from -1 to 1."""
Scored = tuple[str, float]
"""The side and the polarity of a text."""
Score = Callable[[Sequence[str]], list[Scored]]


def scorer(model: str) -> Score:
    """What gives texts their sides and polarities by a bundle, or by VADER, whose sides are those
    that its authors recommend."""
    if model == "vader":
        return rated_by_vader
    predictor = load(model, threads=1, isolated=False)

    def score(texts: Sequence[str]) -> list[Scored]:
        return [
            (result.label.removeprefix("very "), result.polarity)
            for result in predictor.stream(texts)
        ]

    return score


def rated_by_vader(texts: Sequence[str]) -> list[Scored]:
    """The sides and compound scores of VADER."""
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    rate = SentimentIntensityAnalyzer().polarity_scores
    scores = [float(rate(text)["compound"]) for text in texts]
    sides = ("negative", "neutral", "positive")
    return [(sides[1 + (one >= 0.05) - (one <= -0.05)], one) for one in scores]


def values() -> dict[str, list[str]]:
    """What stands in the slots of sentences, by the name of the slot."""
    return dict(json.loads((PROBES / "slot_values.json").read_text(encoding="utf-8")))


def changed(sentences: Sequence[str], seed: int = 0) -> Iterator[tuple[str, str, str]]:
    """The name of a change, a text and the text with that change."""
    draw, slots = Random(seed), values()
    for sentence in sentences:
        bare = sentence.rstrip(" .")
        for name in ("link", "tag"):
            yield f"{name}s", sentence, f"{sentence} {draw.choice(slots[name])}"
            yield f"{name}s", bare, f"{bare} {draw.choice(slots[name])}"
        yield "handles", sentence, f"{draw.choice(slots['handle'])} {sentence}"
        yield "handles", bare, f"{bare} {draw.choice(slots['handle'])}"
        words = sentence.split()
        for name in ("one typing error", "two typing errors"):
            misspell(words, draw)
            yield name, sentence, " ".join(words)
    for sentence in (PROBES / "slots.txt").read_text(encoding="utf-8").splitlines():
        name = sentence[sentence.index("{") + 1 : sentence.index("}")]
        first, *others = (sentence.replace(f"{{{name}}}", value) for value in slots[name])
        yield from ((f"{name}s", first, other) for other in others)


def neutral() -> Iterator[tuple[str, str]]:
    """Texts that are neutral, with the name of their figure."""
    slots = values()
    for word in (PROBES / "neutral_words.txt").read_text(encoding="utf-8").split():
        yield "neutral words", word
        yield "neutral words after 'the'", f"the {word}"
    for name in ("question", "negation"):
        for frame in slots[name]:
            yield from ((f"neutral {name}s", frame.format(kind=kind)) for kind in slots["kind"])


def everyday() -> list[tuple[str, str]]:
    """The everyday sentences, with their sides."""
    _, *rows = (PROBES / "everyday.tsv").read_text(encoding="utf-8").splitlines()
    return [(side, text) for side, _, text in (row.partition("\t") for row in rows)]


def measure(score: Score, sentences: Sequence[str]) -> dict[str, Any]:
    """The figures of a model, by name; and the everyday sentences that it gets wrong."""
    found, rows = dict[str, list[bool]](), list(neutral())
    for (name, _), (side, _) in zip(rows, score([text for _, text in rows]), strict=True):
        found.setdefault(name, []).append(side != "neutral")
    changes = list(changed(sentences))
    texts = list(dict.fromkeys(text for _, *pair in changes for text in pair))
    scored = dict(zip(texts, score(texts), strict=True))
    for name, before, after in changes:
        (side, polarity), (other, moved) = scored[before], scored[after]
        found.setdefault(name, []).append(side != other and abs(moved - polarity) > MOVES)
    labelled = everyday()
    sides = [side for side, _ in score([text for _, text in labelled])]
    wrong = [
        f"{text} ({side})"
        for (right, text), side in zip(labelled, sides, strict=True)
        if side != right
    ]
    shares = {name: round(sum(fails) / len(fails), 4) for name, fails in found.items()}
    return {
        "shares": shares,
        "everyday": {"right": len(labelled) - len(wrong), "of": len(labelled), "wrong": wrong},
    }


def main(
    data: Annotated[Path, typer.Option(help="The folder with sst/dev.txt.")],
    models: Annotated[list[str] | None, typer.Option(help="Names, folders, or vader.")] = None,
    count: Annotated[int, typer.Option(help="Sentences of dev.txt.")] = 300,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Measure whether the sentiment stays where it should."""
    treebank = read_labelled(data / "sst/dev.txt", tuple("01234"))[:count]
    sentences = [detokenize(tree.words) for tree, _ in treebank]
    names = models or ["sentiment"]
    text = json.dumps({name: measure(scorer(name), sentences) for name in names})
    sys.stdout.write(f"{text}\n") if as_json else Console().print_json(text)


if __name__ == "__main__":
    typer.run(main)
