"""Trains a parser by itself at the end, when the rest of its model no longer changes."""

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
import torch
from torch import Tensor

from thinstack.core.model.model import Model
from thinstack.core.model.parsing_encoder import ParsingEncoder
from thinstack.training.examples.example import Example, minibatch, minibatch_places
from thinstack.training.learner import Learner
from thinstack.training.loop.optimizers import lower_parser_rate
from thinstack.training.loop.precision import lower_precision
from thinstack.training.loop.team import ALONE, Team
from thinstack.training.recipe import TrainingConfig


def fit_parser(
    model: Model,
    examples: Sequence[Example],
    config: TrainingConfig,
    seed: int,
    on_batch: Callable[[int, int, int], None],
    team: Team = ALONE,
) -> None:
    """Train only the parser of a model, for `parser_epochs` epochs, on the treebank's trees.
    Examples that are not `parsed` are left out.

    `on_batch` and `team` are as in `training.loop.train`; the epochs count on from the model's
    last. While the vectors of words change, a parser lags behind them. On SST these epochs are
    worth a point of F1.
    """
    encoder = cast(ParsingEncoder, model.encoder)
    examples = [example for example in examples if example.parsed]
    learner = Learner(model, config)
    rates = config.model_copy(update={"epochs": config.parser_epochs})
    wide = config.model_copy(update={"batch_size": team.size * config.batch_size})
    lengths = [example.words for example in examples]
    model.eval()
    encoder.parser.train()
    for epoch in range(config.parser_epochs):
        draw = np.random.default_rng([seed, config.epochs, epoch])
        torch.manual_seed(int(draw.integers(2**31)) + team.rank)
        done = 0
        order = draw.permutation(len(examples))
        for chosen in minibatch_places(order, lengths, wide, draw):
            lower_parser_rate(learner.optimizers, rates, epoch + done / len(examples))
            if mine := [examples[i] for i in team.deal(chosen)]:
                learner.learn(_loss(model, encoder, mine, config) / len(chosen))
            learner.step(team)
            done += len(chosen)
            on_batch(config.epochs + epoch + 1, done, len(examples))
    model.eval()


def _loss(
    model: Model, encoder: ParsingEncoder, examples: Sequence[Example], config: TrainingConfig
) -> Tensor:
    """The sum of the losses of the parser's choices, over all examples."""
    batch = minibatch(examples, ["gold"] * len(examples), "static")
    inputs = model.inputs(batch.forest)
    with torch.no_grad(), lower_precision(model, config):
        words = model.embed(inputs).float()
    choices = encoder.parser(words, inputs["lengths"].long()).unsqueeze(1)
    wanted = torch.from_numpy(batch.right)
    return encoder.judge(choices, wanted[:0], wanted).loss
