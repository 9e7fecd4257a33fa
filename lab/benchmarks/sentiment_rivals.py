"""Models of sentiment beside what one would otherwise take: TF-IDF, spaCy's text classifier, and a
pretrained encoder without a tree.

    python lab/benchmarks/sentiment_rivals.py --data FOLDER --encoder FOLDER --runs FOLDER
    --out FILE [--model BUNDLE ...]

All are measured on SST's development sentences as raw text, of five classes and of two (the mass of
the five, neutral sentences left out), and on the reported half of the suite `polarity`. No rival is
chosen by either: spaCy stops, and the settings of the encoder are chosen, by every tenth training
sentence. The page grows row by row; rivals that are in the folder of runs are not learnt again, and
bundles are always measured.
"""

import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import numpy as np
import torch
import typer
from numpy.typing import NDArray
from plain_encoder import Pieces, PlainEncoder, Rates, fine_tune, scores_of
from rich.console import Console
from sentiment_page import TEXTCAT_EPOCHS, page_of, row_of
from texts import NAMES, SEEDS, learn_textcat

import thinstack
from thinstack.data.trees.treebank import read_labelled
from thinstack.evaluate.accuracy import text_figures
from thinstack.evaluate.suite import halves, read_suite
from thinstack.evaluate.suite_evaluation import polarity_figures
from thinstack.evaluate.text_evaluation import text_scores
from thinstack.text.raw_text import detokenize
from thinstack.text.sentences import splitter
from thinstack.training.lessons.alone import LONGEST, MIDDLE_KEPT, SHORTEST
from thinstack.training.tasks.texts.report import learn_plain

Score = Callable[[Sequence[str]], NDArray[np.float64]]
"""Gives texts the probabilities (T, 5) of the classes."""
Figures = dict[str, float]

EPOCHS: Final = 3
console = Console()


class Labelled(NamedTuple):
    """Texts and their classes, 0 to 4."""

    texts: list[str]
    classes: list[int]

    def take(self, places: Sequence[int]) -> "Labelled":
        return Labelled([self.texts[i] for i in places], [self.classes[i] for i in places])


class Setting(NamedTuple):
    """How the encoder is fine-tuned: the phrases read beside each sentence, and its rates."""

    phrases: int
    rates: Rates

    def __str__(self) -> str:
        decay = f", {self.rates.decay} of it in the layer below" if self.rates.decay < 1 else ""
        phrases = "1 phrase" if self.phrases == 1 else f"{self.phrases} phrases"
        return f"{phrases} a sentence, a rate of {self.rates.top:g}{decay}"


SETTINGS: Final = (Setting(0, Rates(1.5e-4, 0.9)), Setting(1, Rates(1.5e-4, 0.9)))


def read_sst(path: Path, limit: int | None) -> tuple[Labelled, list[Labelled]]:
    """The sentences of a treebank as raw text, and the phrases of each."""
    sentences, phrases = Labelled([], []), []
    for tree, classes in read_labelled(path, NAMES)[:limit]:
        texts = [detokenize(tree.words[start:end]) for start, end in tree.spans.tolist()]
        sentences.texts.append(texts[tree.root])
        sentences.classes.append(int(classes[tree.root]))
        phrases.append(Labelled(texts, classes.tolist()))
    return sentences, phrases


def two_parts(count: int) -> tuple[list[int], list[int]]:
    """The places of nine tenths, and of every tenth."""
    every = range(count)
    return [place for place in every if place % 10], list(every[::10])


def unique(parts: Sequence[Labelled]) -> Labelled:
    """All texts of these, each once."""
    pairs = (pair for part in parts for pair in zip(*part, strict=True))
    known = dict(pairs)
    return Labelled(list(known), list(known.values()))


def read_alone(phrases: Labelled, draw: np.random.Generator, count: int) -> list[int]:
    """The places of so many phrases, drawn as `thinstack.training.lessons.alone` draws them: of 3
    to 20 words, neutral ones less often."""
    words = np.array([len(text.split()) for text in phrases.texts])
    fits = (words >= SHORTEST) & (words <= LONGEST)
    fits &= (np.array(phrases.classes) != 2) | (draw.random(len(words)) < MIDDLE_KEPT)
    found = np.flatnonzero(fits)
    return draw.choice(found, min(count, len(found)), replace=False).tolist()


def figures_of(dev: Labelled, of_dev: NDArray[np.floating], of_texts: Score) -> Figures:
    """The figures of a model with these scores of the sentences, and of what it says of the
    suite."""
    known = text_figures(of_dev, np.array(dev.classes), NAMES)
    cases = halves(read_suite("polarity"), "reported")
    suite = polarity_figures(cases, of_texts([case.text for case in cases]), NAMES).figures
    found = {name: known[name] or 0.0 for name in ("accuracy", "binary_accuracy")}
    kinds = ("negated_negatives", "negated_positives")
    found |= {kind: suite["kinds"][kind]["accuracy"] for kind in kinds}
    return found | {"suite": suite["accuracy"]}


def figures_of_learnt(learn: Callable[[], Score], dev: Labelled) -> Figures:
    """The figures of what is learnt, and how long that takes."""
    start = time.perf_counter()
    score = learn()
    seconds = time.perf_counter() - start
    return figures_of(dev, score(dev.texts), score) | {"seconds": seconds}


def tf_idf(train: Labelled) -> Score:
    """What `learn_plain` learns; words are those that the splitter cuts."""
    cut = splitter(sentences=False)

    def spaced(texts: Sequence[str]) -> list[str]:
        return [" ".join(word for part in parts for word in part.words) for parts in cut(texts)]

    score = learn_plain(spaced(train.texts), [NAMES[one] for one in train.classes], NAMES)
    return lambda texts: score(spaced(texts))


def textcat(train: Labelled, folder: Path, ensemble: bool, seed: int) -> Score:
    """spaCy's ensemble or bag of words, learnt from nine tenths of the sentences."""
    parts = {}
    for name, places in zip(("train", "dev"), two_parts(len(train.texts)), strict=True):
        part = train.take(places)
        parts[name] = [(text, NAMES[one]) for text, one in zip(*part, strict=True)]
    (folder / str(seed)).mkdir(parents=True, exist_ok=True)
    nlp, _ = learn_textcat(
        folder / str(seed),
        seed,
        parts,
        "--training.max_epochs",
        str(TEXTCAT_EPOCHS),
        ensemble=ensemble,
    )
    return lambda texts: np.array([[doc.cats[name] for name in NAMES] for doc in nlp.pipe(texts)])


def fine_tuned(
    folder: Path, train: Labelled, phrases: Sequence[Labelled], setting: Setting, seed: int
) -> PlainEncoder:
    """The encoder of a folder without a tree, fine-tuned on sentences and phrases."""
    torch.manual_seed(seed)
    pieces, model = Pieces(folder), PlainEncoder(folder, len(NAMES))
    rows = list(zip(pieces(train.texts), train.classes, strict=True))
    pool = unique(phrases) if setting.phrases else Labelled([], [])

    def epoch_of(draw: np.random.Generator) -> list[tuple[Sequence[int], int]]:
        if not setting.phrases:
            return [*rows]
        some = pool.take(read_alone(pool, draw, setting.phrases * len(rows)))
        return [*rows, *zip(pieces(some.texts), some.classes, strict=True)]

    fine_tune(model, epoch_of, setting.rates, epochs=EPOCHS, seed=seed)
    return model


def encoder(
    folder: Path, train: Labelled, phrases: Sequence[Labelled], setting: Setting, seed: int
) -> Score:
    """The encoder without a tree."""
    pieces, model = Pieces(folder), fine_tuned(folder, train, phrases, setting, seed)
    return lambda texts: scores_of(model, pieces(texts))


def figures_of_bundle(name: str, dev: Labelled) -> Figures:
    """Sentences are scored whole, texts of the suite read as a user's would be."""
    predictor = thinstack.load(name, isolated=False)
    results = predictor.stream(dev.texts, split=False)
    of_dev = np.stack([result.sentences[-1].node_scores[-1] for result in results])

    def of_texts(texts: Sequence[str]) -> NDArray[np.floating]:
        return text_scores(predictor, texts, source="auto", where="the suite")

    return figures_of(dev, of_dev, of_texts)


class Runs:
    """Figures that are kept in a folder, so that nothing is learnt twice."""

    def __init__(self, folder: Path):
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / "figures.json"
        self._found = json.loads(self._path.read_text()) if self._path.is_file() else {}

    def __call__(self, name: str, make: Callable[[], Figures]) -> Figures:
        if name not in self._found:
            self._found[name] = make()
            self._path.write_text(json.dumps(self._found, indent=2))
            console.print(name, self._found[name])
        figures: Figures = self._found[name]
        return figures


def chosen(
    folder: Path, train: Labelled, phrases: Sequence[Labelled], runs: Runs
) -> tuple[Setting, list[str]]:
    """The setting whose accuracies of every tenth sentence, of five classes and of two, have the
    greatest sum; and what each had, as lines."""
    fit, aside = two_parts(len(train.texts))
    some, held_out = train.take(fit), train.take(aside)
    sums, lines = [], []
    for setting in SETTINGS:
        learn = partial(encoder, folder, some, [phrases[i] for i in fit], setting, SEEDS[0])
        found = runs(
            f"every tenth sentence: {setting}", partial(figures_of_learnt, learn, held_out)
        )
        sums.append(found["accuracy"] + found["binary_accuracy"])
        lines.append(f"- {setting}: {found['accuracy']:.1f} / {found['binary_accuracy']:.1f}")
    return SETTINGS[int(np.argmax(sums))], lines


def main(
    data: Annotated[Path, typer.Option(envvar="THINSTACK_DATA", help="Folder that holds sst/.")],
    encoder_folder: Annotated[Path, typer.Option("--encoder", help="Folder of a small BERT.")],
    runs_folder: Annotated[Path, typer.Option("--runs", help="Folder of what was learnt.")],
    out: Annotated[Path, typer.Option(help="File that the table is written to.")],
    model: Annotated[list[str] | None, typer.Option(help="Bundles.  [default: sentiment]")] = None,
    seed: Annotated[list[int] | None, typer.Option(help="Seeds.  [default: 1, 2, 3]")] = None,
    ensemble: Annotated[
        bool, typer.Option(help="Of spaCy the ensemble, which takes long, or its bag of words.")
    ] = True,
    note: Annotated[str, typer.Option(help="A sentence for the page, such as on the CPU.")] = "",
    limit: Annotated[int | None, typer.Option(help="So many sentences, for trying.")] = None,
) -> None:
    """Measure rivals and bundles, and write the table."""
    (train, phrases), (dev, _) = (
        read_sst(data / f"sst/{part}.txt", limit) for part in ("train", "dev")
    )
    runs, seeds, rows, tried = Runs(runs_folder), seed or SEEDS, list[str](), list[str]()

    def add(name: str, figures: Sequence[Figures]) -> None:
        rows.append(row_of(name, figures))
        out.write_text(page_of(rows, tried, seeds=len(seeds), note=note), encoding="utf-8")

    for name in model or ["sentiment"]:
        add(Path(name).name, [figures_of_bundle(name, dev)])
    every = unique([train, *phrases])
    for what, part in (("sentences", train), ("all phrases", every)):
        name = f"TF-IDF, logistic regression; {what}"
        add(name, [runs(name, partial(figures_of_learnt, partial(tf_idf, part), dev))])
    setting, tried = chosen(encoder_folder, train, phrases, runs)
    name = f"{encoder_folder.name} without a tree; sentences, {setting}"
    with_encoder = partial(encoder, encoder_folder, train, phrases, setting)
    with_spacy = partial(textcat, train, runs_folder, ensemble)
    kind = "ensemble" if ensemble else "bag of words"
    for what, learn in ((name, with_encoder), (f"spaCy textcat {kind}; sentences", with_spacy)):
        found = [
            runs(f"{what}, seed {one}", partial(figures_of_learnt, partial(learn, one), dev))
            for one in seeds
        ]
        add(what, found)


if __name__ == "__main__":
    typer.run(main)
