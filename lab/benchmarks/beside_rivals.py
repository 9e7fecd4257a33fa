"""The models of `beside.py`: each gives texts a number and, by its own rule, a side."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

import thinstack
from thinstack.core.scale import FIVE, Scale

VADER_NEUTRAL: Final = 0.05
"""From here on a text is positive, and from its negative on negative: the README of VADER."""

MINILM: Final = "MiniLM, fine-tuned, no tree"

Scores = NDArray[np.float64]


class Opinions(NamedTuple):
    """The numbers (T,) of texts, from negative to positive, and the sides that the model names:
    -1, 0 for neutral, 1."""

    values: NDArray[np.float64]
    sides: NDArray[np.float64]


class Rival(NamedTuple):
    """A model by its name, its number in words, and its rule for a side."""

    name: str
    number: str
    rule: str
    opinions: Callable[[Sequence[str]], Opinions]

    def read(self, texts: Sequence[str]) -> tuple[Opinions, float]:
        """What it says of texts, and how many seconds of a processor it took."""
        start = time.process_time()
        found = self.opinions(texts)
        return found, time.process_time() - start


def bundle(name: str, path: str) -> Rival:
    """A bundle of thinstack, by its name or folder, on one thread."""
    model = thinstack.load(path, isolated=False, threads=1)
    scale = Scale.of(model.labels)
    if scale is None:
        raise SystemExit(f"{name}: expected a model of sentiment, found {', '.join(model.labels)}")
    sides = dict(zip(model.labels, scale.sides, strict=True)) | {None: 0}

    def opinions(texts: Sequence[str]) -> Opinions:
        found = [(result.polarity or 0.0, sides[result.label]) for result in model.stream(texts)]
        values, named = zip(*found, strict=True)
        return Opinions(np.array(values), np.array(named, float))

    return Rival(f"`{name}`", "`polarity`", "the most probable of its five classes", opinions)


def vader() -> Rival:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    score = SentimentIntensityAnalyzer().polarity_scores

    def opinions(texts: Sequence[str]) -> Opinions:
        values = np.array([score(text)["compound"] for text in texts])
        return Opinions(values, np.sign(values) * (abs(values) >= VADER_NEUTRAL))

    return Rival(
        "VADER",
        "`compound`",
        f"`compound` of at least {VADER_NEUTRAL}, or at most -{VADER_NEUTRAL}",
        opinions,
    )


def textblob() -> Rival:
    from textblob import TextBlob

    def opinions(texts: Sequence[str]) -> Opinions:
        values = np.array([TextBlob(text).sentiment.polarity for text in texts])
        return Opinions(values, np.sign(values))

    return Rival("TextBlob", "`polarity`", "the sign of `polarity`", opinions)


def minilm_scores(folder: Path, train: Path, runs: Path) -> Callable[[Sequence[str]], Scores]:
    """What gives texts the probabilities (T, 5) of `FIVE`: the encoder of a folder without a tree,
    as `sentiment_rivals.py` fine-tunes it. What it has learnt is kept in `runs`."""
    import torch
    from plain_encoder import Pieces, PlainEncoder, scores_of
    from safetensors.torch import load_file, save_file
    from sentiment_rivals import SETTINGS, fine_tuned, read_sst

    torch.set_num_threads(1)
    pieces, weights = Pieces(folder), runs / "minilm.safetensors"
    if not weights.is_file():
        runs.mkdir(parents=True, exist_ok=True)
        save_file(fine_tuned(folder, *read_sst(train, None), SETTINGS[-1], 1).state_dict(), weights)
    model = PlainEncoder(folder, len(FIVE))
    model.load_state_dict(load_file(weights))
    return lambda texts: scores_of(model, pieces(texts))


def minilm(folder: Path, train: Path, runs: Path) -> Rival:
    """The encoder of `minilm_scores`."""
    score = minilm_scores(folder, train, runs)
    scale = Scale.of(FIVE)
    assert scale is not None

    def opinions(texts: Sequence[str]) -> Opinions:
        scores = score(texts)
        return Opinions(scores @ np.array(scale.polarity), np.array(scale.sides)[scores.argmax(1)])

    number = "the mean of its classes' places"
    return Rival(MINILM, number, "the most probable of its five classes", opinions)
