"""A process of a team that trains tiny recipes, for `torchrun`; and the same recipes for one
process, with minibatches as large as those of two."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import tiny_pairs
import tiny_recipe
import tiny_texts
from runs import weights

from thinstack.training.examples.datasets import load_datasets
from thinstack.training.loop.seeds import train_seed
from thinstack.training.loop.team import joined
from thinstack.training.recipe import Recipe

NO_DROPOUT: dict[str, Any] = {
    "embedding": {"dropout": 0.0},
    "model": {"head": {"name": "node_classifier.v1"}},
}
TURNING = "(2 (1 never) (0 bad))\n(0 (1 never) (2 good))\n"
LESSONS = ({"name": "alone.v1", "share": 0.5}, {"name": "turning.v1", "share": 0.2})
CLASSES = ("down", "mid", "up")
PARTS = ("embedding", "encoder", "parser", "head")


def write_data(folder: Path) -> Path:
    """A folder that `recipes` read."""
    tiny_pairs.write_data(folder, train=13)
    with (folder / "train.txt").open("a") as file:
        file.write(TURNING)
    tiny_texts.table(folder / "texts.csv", 32)
    tiny_texts.start(folder / "start", labels=CLASSES)
    return folder


def recipes(data: Path, batch: int) -> dict[str, Recipe]:
    """Recipes of all that trains in a way of its own, by name. The last minibatch of pairs is one
    pair, so that a process has none."""
    tree = {**NO_DROPOUT, "batch_size": batch, "stop_on": "held", "average": 0.5, "epochs": 3}
    every = tiny_recipe.recipe(**tree, clip=0.5, warm_up=0.2, lessons=LESSONS)
    spinn = {"cell": {"name": "spinn_lstm.v1"}, "embedding": NO_DROPOUT["embedding"]}
    tracker = NO_DROPOUT["model"] | {"encoder": {"tracker": {"size": 3, "lookahead": 2}}}
    options = {**tiny_texts.PARSER["options"], "dropout": 0.0, "input_dropout": 0.0}
    parser = NO_DROPOUT["model"] | {"parser": {"name": "distances.v1", "options": options}}
    small: dict[str, Any] = {"batch_size": batch, "epochs": 2}
    texts = tiny_texts.recipe(
        data / "start",
        model={"labels": CLASSES, "head": {"name": "node_classifier.v1"}},
        batch_size=batch,
        phrase_penalty=2.0,
        neighbours=0.2,
    )
    init = texts.init.model_copy(update={"parts": PARTS})
    pairs = {"embedding": NO_DROPOUT["embedding"], "batch_size": batch, "vector_rule": "adagrad"}
    papers = tiny_recipe.recipe(
        **{**tree, "average": 0.0},
        rule="adam",
        vector_rule="adam",
        vector_learning_rate=0.01,
        rate_factor=0.75,
        rate_epochs=0.4,
        clip=0.5,
    )
    return {
        "every": every,
        "papers": papers,
        "spinn": tiny_recipe.recipe(**spinn, **small, model=tracker, alpha=0.7, sources=("self",)),
        "parser": tiny_recipe.recipe(
            embedding=NO_DROPOUT["embedding"], **small, model=parser, parser_epochs=2, sources=()
        ),
        "texts": texts.model_copy(update={"init": init}),
        "pairs": tiny_pairs.recipe(**pairs),
    }


def main(data: Path, out: Path) -> None:
    """Train each recipe, with minibatches of 2 a process; leave each process's weights."""
    with joined() as team:
        for name, recipe in recipes(data, 2).items():
            datasets = load_datasets(recipe, data)
            model, _ = train_seed(recipe, datasets, 1, out / name, team=team)
            np.savez(out / f"{name}-{team.rank}.npz", **weights(model))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
