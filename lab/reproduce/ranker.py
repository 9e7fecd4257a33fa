"""Trains a model to rank the candidates of sentences (Teng & Zhang 2017, section 8.1)."""

import copy
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reproduce.candidates import Ranked, by_score, cases_of, span_f1
from thinstack.core.forest import join
from thinstack.core.model.model import Model
from thinstack.training.examples.example import minibatch_places
from thinstack.training.loop.initial import initial_model
from thinstack.training.loop.learner import build_optimizers, process_settings, set_rates
from thinstack.training.recipe import Recipe

Scores = list[NDArray[np.float64]]
WEIGHTS = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0, 50.0)
"""What the weight of a ranker beside the parser is chosen from."""


@process_settings()
def train_ranker(
    recipe: Recipe,
    table: NDArray[np.float32],
    sentences: Sequence[Ranked],
    held: Sequence[Ranked],
    kappa: float,
    seed: int,
) -> tuple[Model, list[float]]:
    """A ranker that has learnt from `sentences`, with the weights of the epoch whose F1 by the
    ranker alone is best on those `held` out; and that F1 after each epoch."""
    torch.manual_seed(seed)
    model = initial_model(recipe, table)
    optimizers = build_optimizers(model, recipe.training)
    lengths = [int(one.words.lengths[0]) for one in sentences]
    best, found = copy.deepcopy(model), list[float]()
    for epoch in range(recipe.training.epochs):
        draw, done = np.random.default_rng([seed, epoch]), 0
        torch.manual_seed(int(draw.integers(2**31)))
        order = draw.permutation(len(sentences))
        for places in minibatch_places(order, lengths, recipe.training, draw):
            set_rates(optimizers, recipe.training, epoch + done / len(sentences))
            loss = _loss(model, [sentences[place] for place in places], kappa)
            for optimizer in optimizers.values():
                optimizer.zero_grad(set_to_none=True)
            if loss is not None:
                loss.backward()  # type: ignore[no-untyped-call]
                for optimizer in optimizers.values():
                    optimizer.step()
            done += len(places)
        figure = span_f1(cases_of(held, by_score(held, scores_of(model, held), np.inf)))
        found.append(figure or 0.0)
        if found[-1] > max(found[:-1], default=-1.0):
            best = copy.deepcopy(model)
    return best.eval(), found


def _loss(model: Model, sentences: Sequence[Ranked], kappa: float) -> Tensor | None:
    """The mean of r_i, (21) and (22), over sentences; None where it is 0."""
    pairs = pairs_to_learn(sentences, scores_of(model, sentences), kappa)
    if not pairs:
        return None
    model.train()
    joint = model.joint(model.inputs(join(one.forest(place) for one, place in pairs)))
    beyond = [one.beyond[place] for one, place in pairs]
    candidates = np.stack([np.arange(len(pairs)) // 2, beyond], 1)
    return model.head.loss(joint.logits, torch.from_numpy(candidates)) / len(sentences)


def pairs_to_learn(
    sentences: Sequence[Ranked], scores: Scores, kappa: float
) -> list[tuple[Ranked, int]]:
    """The best rival and the oracle of each sentence, one after the other, where they differ. In
    (22) no other candidate has a gradient, so these alone are read with one."""
    pairs: list[tuple[Ranked, int]] = []
    for one, own in zip(sentences, scores, strict=True):
        rival = int(np.argmax(own + kappa * one.beyond))
        if rival != one.oracle:
            pairs += [(one, rival), (one, one.oracle)]
    return pairs


@torch.inference_mode()
def scores_of(model: Model, sentences: Sequence[Ranked], together: int = 32) -> Scores:
    """The scores f (k,) of the candidates of each sentence, (19)."""
    model.eval()
    return [own for part in _parts(sentences, together) for own in _scores(model, part)]


def _parts(sentences: Sequence[Ranked], together: int) -> Iterator[Sequence[Ranked]]:
    for start in range(0, len(sentences), together):
        yield sentences[start : start + together]


def _scores(model: Model, sentences: Sequence[Ranked]) -> Scores:
    counts = [len(one.wrong) for one in sentences]
    forests = (
        one.forest(place)
        for one, count in zip(sentences, counts, strict=True)
        for place in range(count)
    )
    scores = model(model.inputs(join(forests)))["tree_scores"].squeeze(1).double().numpy()
    return np.split(scores, np.cumsum(counts)[:-1])


def choose_weight(sentences: Sequence[Ranked], scores: Scores) -> float:
    """The weight of `WEIGHTS` with the best F1 of the sum of both; the least of several."""
    figures = [
        span_f1(cases_of(sentences, by_score(sentences, scores, weight))) or 0.0
        for weight in WEIGHTS
    ]
    return WEIGHTS[int(np.argmax(figures))]
