"""`python -m reproduce heads`: the head words of lexicalised models beside those of a parse, and
pictures of trees with their head words (Teng & Zhang 2017, section 7.5 and Figure 5)."""

import shlex
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from rich.console import Console

from reproduce.head_shares import References, Shares
from reproduce.heads import IntArray, Lexicalised, follow
from reproduce.parser import PARSERS, figures, parse, train_parser
from reproduce.provenance import commit_of
from thinstack.bundle import Bundle, open_bundle
from thinstack.core import Tree
from thinstack.core.scale import Scale
from thinstack.data.files.writing import write_atomically
from thinstack.data.trees.brackets import from_brackets
from thinstack.data.trees.treebank import read_labelled
from thinstack.errors import InputError
from thinstack.integrations.show.marks import SIGNS
from thinstack.integrations.show.svg import svg
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.scored import Scored
from thinstack.runtime.views import View

TREEBANK: Final = ("ud_ewt/en_ewt-ud-train.conllu", "ud_ewt/en_ewt-ud-dev.conllu")
"""What the parser is trained and measured on, within the folder of the data."""

NEUTRAL: Final = 2
"""The tone of the class between negative and positive."""

DRAWN: Final = (
    "((The (quiet film)) ((turns (into (something rare))) .))",
    "((This ((is not) ((a (bad place)) (to begin)))) .)",
    "((((The (plan (of thieves))) (is clever)) ,) (but ((the ending) ((falls flat) .))))",
)
"""Trees of sentences that no treebank has, for the pictures."""

PAGE: Final = """\
# Head words

{shares}

Percent of phrases of two words or more of `{file}`. Of {phrases:,}, the {counted:,} count over
which the parse has one head. {spread}

- A phrase's head word is that of the child whose head vector is more like its own (Teng & Zhang
  2017, section 7.5).
- *Parse*: the head word is the only word whose governor is outside the phrase. The parser gets
  {uas:.1f}% of the governors of UD English EWT's development file right.
- *Function words first*: the same, but a preposition, auxiliary, copula or conjunction before that
  word is the head instead. This resembles Collins's rules, which need phrase labels that the
  treebank lacks; by them, the paper's model has 30.68% on the development and 25.72% on the test
  set.
- *Opinion*: of the phrases with a word whose class is not neutral, those with such a head word.
- *Left*: the head word is in the left child. *A coin* draws a child for each phrase.

The picture shows each phrase's head word, and the sign of its class by the first model, `{name}`.

![heads.svg](heads.svg)

Made by `{command}`, commit {commit}.
"""


def heads(bundles: Sequence[str], file: str, *, data: Path, out: Path, console: Console) -> None:
    """Write `out`/heads.md and `out`/heads.svg of the models of these bundles.

    `file`: a treebank of labelled binary trees in the folder `data`, which has the files of
    `TREEBANK` too. Bundles of one recipe are one row, with mean and standard deviation. The parser
    is trained once for all calls.

    Raises InputError for models without head words or of different classes, and what opening
    bundles, reading trees and training the parser raise.
    """
    opened = [open_bundle(bundle) for bundle in bundles]
    models = [Lexicalised(bundle) for bundle in opened]
    neutral = _neutral([model.labels for model in models])
    treebank = read_labelled(data / file, models[0].labels)
    learnt, measured = (data / path for path in TREEBANK)
    parser = train_parser(learnt, measured, PARSERS)
    trees = [tree for tree, _ in treebank]
    console.print(f"parsing {len(trees):,} sentences", highlight=False)
    references = References(treebank, parse(parser, [tree.words for tree in trees]), neutral)
    found: dict[str, list[Shares]] = {}
    for bundle, model in zip(opened, models, strict=True):
        found.setdefault(_name(bundle), []).append(references.shares(model.heads(trees)))
    found |= {name: [references.shares(own)] for name, own in _plain(trees, references)}
    words = [*bundles, "--data", "DATA", "--file", file]
    page = PAGE.format(
        shares="\n".join(_table(found)),
        counted=references.counted,
        phrases=references.phrases,
        spread="Mean ± standard deviation of the models." if len(bundles) > 1 else "One model.",
        file=file,
        uas=figures(parser)["uas"],
        name=_name(opened[0]),
        command=shlex.join(["python", "-m", "reproduce", "heads", *words]),
        commit=commit_of(Path(__file__)),
    )
    out.mkdir(parents=True, exist_ok=True)
    for path, content in {"heads.md": page, "heads.svg": picture(models[0])}.items():
        write_atomically(out / path, content)
        console.print(f"wrote {out / path}", highlight=False, soft_wrap=True)


def _neutral(labels: Sequence[Sequence[str]]) -> int:
    """The place of the neutral class among the labels of all models."""
    first = labels[0]
    scale = Scale.of(first)
    if scale is None or NEUTRAL not in scale.tones or any(other != first for other in labels):
        found = "; ".join(dict.fromkeys(", ".join(other) for other in labels))
        raise InputError(
            f"expected the same classes from negative over neutral to positive, found {found}: "
            "choose models of such classes"
        )
    return scale.tones.index(NEUTRAL)


def _name(bundle: Bundle) -> str:
    return str(bundle.manifest.metrics.get("recipe", bundle.path.name))


def _plain(trees: Sequence[Tree], references: References) -> Iterator[tuple[str, list[IntArray]]]:
    """What models are compared with, by its name."""
    coin = np.random.default_rng(0)
    yield "always the left child", [follow(tree, [0] * len(tree)) for tree in trees]
    yield "always the right child", [follow(tree, [1] * len(tree)) for tree in trees]
    yield "a coin", [follow(tree, coin.integers(2, size=len(tree))) for tree in trees]
    yield "the parse", references.parsed
    yield "the parse, function words first", references.function


def _table(found: Mapping[str, Sequence[Shares]]) -> Iterator[str]:
    yield "| | parse | function words first | opinion | left |"
    yield "|---|---:|---:|---:|---:|"
    for name, rows in found.items():
        cells = [_spread(column) for column in zip(*rows, strict=True)]
        title = f"{name}, {len(rows)} models" if len(rows) > 1 else name
        yield f"| {title} | {' | '.join(cells)} |"


def _spread(values: Sequence[float]) -> str:
    mean = f"{statistics.fmean(values):.1f}"
    return f"{mean} ± {statistics.stdev(values):.1f}" if len(values) > 1 else mean


def picture(model: Lexicalised, brackets: Sequence[str] = DRAWN) -> str:
    """An SVG picture of trees, in brackets without labels. Each node shows its head word, and the
    sign of its class by the model."""
    trees = [from_brackets(text, labelled=False) for text in brackets]
    scale = Scale.of(model.labels)
    assert scale is not None, "checked before models are measured"
    signs = [SIGNS[tone] for tone in scale.tones]
    drawn = []
    for tree, own, classes in zip(trees, model.heads(trees), model.classes(trees), strict=True):
        names = [
            f"{tree.words[head]} {signs[label]}"
            for head, label in zip(own.tolist(), classes.tolist(), strict=True)
        ]
        shown = tuple(dict.fromkeys(names))
        # One class for each name, which is certain: so a node is drawn with its name.
        scores = np.eye(len(shown), dtype=np.float32)[[shown.index(name) for name in names]]
        scored = Scored(tree.transitions, scores)
        drawn.append(Prediction.of_words(tree.words, scored, View.of(shown)))
    return svg(drawn)
