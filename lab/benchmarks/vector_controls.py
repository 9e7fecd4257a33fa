"""What the tree, the teacher and a margin give to vectors of phrases: models that learn alike but
for one thing. Prints the figures of each and of each seed, as `vectors.py` has them:

    python lab/benchmarks/vector_controls.py --data DATA --work runs/controls --seeds 1 2 3

`parser`, `balanced` and `random` differ in their trees. `no tree` reads the mean of the words, for
the same epochs. `margin` pushes phrases of opposite polarity apart, and `mpnet` learns from
all-mpnet-base-v2; both have the trees of `parser`. No model has classes. Each starts from the leaf
vectors of the model "vectors", and reads the first texts of DATA/vectors-train.jsonl
(`lab/scripts/vector_texts.py` writes them) so many times. A run that was stopped goes on.
"""

import argparse
import json
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
import vectors
from numpy.typing import NDArray
from torch import Tensor

import thinstack
from thinstack.core.transitions import REDUCE, SHIFT
from thinstack.text import given_trees
from thinstack.training.recipe import Recipe
from thinstack.training.run_recipe import BUNDLE, TEACHER_FOLDER, run_recipe
from thinstack.training.tasks.vectors import VectorsOfPhrases, learning
from thinstack.training.tasks.vectors.encoder import StringEncoder

RECIPE = Path(__file__).parents[1] / "recipes/vectors.toml"
MPNET = "encoders/all-mpnet-base-v2"
CONTROLS = ("parser", "balanced", "random", "no tree", "margin", "mpnet")
TEXTS = "control-texts.jsonl"
SLOT = "balanced"
"""The tree source in whose place random trees are made: a recipe can name no other."""
MARGIN, MARGIN_WEIGHT = 0.2, 0.2
"""The cosine from which phrases of opposite polarity are pushed apart, and the weight of that."""


def random_shapes(seed: int) -> Callable[[int], NDArray[np.int8]]:
    """Makes the transitions of binary trees of n words, each cut at a place drawn at random."""
    draw = np.random.default_rng(seed)

    def shape(words: int) -> NDArray[np.int8]:
        if words == 1:
            return np.array([SHIFT], np.int8)
        cut = int(draw.integers(1, words))
        return np.concatenate([shape(cut), shape(words - cut), np.array([REDUCE], np.int8)])

    return shape


def recipe_of(control: str, epochs: int) -> dict[str, Any]:
    """The recipe of the model "vectors" with this control's change, without classes."""
    recipe = tomllib.loads(RECIPE.read_text(encoding="utf-8"))
    model, task = recipe["model"], recipe["task"]
    model |= {"labels": [], "head": model.pop("vectors")}
    del model["aggregation"]  # trees over sentences need a parser
    if control in ("balanced", "random"):
        del model["parser"]
        model["tree_source"] = SLOT
    task |= {"mean_epochs": epochs} if control == "no tree" else {}
    task |= {"encoder": MPNET} if control == "mpnet" else {}
    recipe |= {"name": f"vectors-{control.replace(' ', '-')}", "model": model}
    recipe["data"] |= {"train": TEXTS, "dev": "vectors-dev.jsonl"}
    recipe["init"] = {"bundle": "vectors", "parts": ["embedding"], "frozen": []}
    recipe["training"] |= {"epochs": epochs, "learning_rate": 2e-3}
    recipe["export"] |= {"gpu": False}
    return recipe


@contextmanager
def changed(control: str) -> Iterator[None]:
    """Change what no recipe can name: random trees, a head without the state, a margin."""
    if control == "random":
        with mock.patch.dict(given_trees.SHAPES, {SLOT: random_shapes(1)}):
            yield
    elif control == "no tree":
        with mock.patch("thinstack.training.tasks.vectors.mean_losses", without_state):
            yield
    elif control == "margin":
        with (
            mock.patch.object(VectorsOfPhrases, "loss", loss_with_margin),
            mock.patch.object(learning, "similarity_loss", with_margin),
        ):
            yield
    else:
        yield


def without_state(step: Any, teacher: Tensor, task: VectorsOfPhrases) -> Any:
    """The losses of the mean of words, where the head's weights of the state, which get no
    gradient, are 0: so its vectors are those of the mean after training, too."""
    cell, head = learning.cell_of(step.model), learning.head_of_vectors(step.model)
    with torch.no_grad():
        for weight in (head.linear.weight, head.net[0].weight):
            weight[:, : sum(cell.state_sizes[: cell.own])] = 0
    return learning.mean_losses(step, teacher, task)


def loss_with_margin(task: VectorsOfPhrases, step: Any) -> Any:
    return learning.vector_losses(step, with_polarity(task, step.batch.targets), task)


def with_polarity(task: VectorsOfPhrases, targets: NDArray[Any]) -> Tensor:
    """The teacher's vectors of the targets, and a column with their polarity by "sentiment"."""
    table = task._teacher
    assert table is not None
    polarity = getattr(table, "polarity", np.zeros(0, np.float32))
    if len(polarity) < len(table.vectors):
        results = thinstack.load().stream([*table._rows][len(polarity) :])
        more = np.array([result.polarity or 0.0 for result in results], np.float32)
        table.polarity = polarity = np.concatenate([polarity, more])  # type: ignore[attr-defined]
    rows = targets[targets >= 0]
    columns = [table.vectors[rows].astype(np.float32), polarity[rows, None]]
    return torch.from_numpy(np.concatenate(columns, 1))


def with_margin(rows: Tensor, teacher: Tensor, task: VectorsOfPhrases) -> Tensor:
    """The loss of the task without the pairs of opposite polarity, plus the mean of
    relu(cosine - 0.2) |p1 - p2| / 2 over those that it pushes apart."""
    teacher, polarity = teacher[:, :-1], teacher[:, -1]
    apart = (polarity[:, None] * polarity) < 0
    gap = (polarity[:, None] - polarity).abs() / 2

    def loss(rows: Tensor, teacher: Tensor) -> Tensor:
        rows = torch.nn.functional.normalize(rows)
        differences = (rows @ rows.T - teacher @ teacher.T).masked_fill(apart, 0)
        pairs = (differences * differences).sum() / max((~apart).sum().item() - len(rows), 1)
        return (1 - (rows * teacher).sum(1)).mean() + learning.SIMILARITY_WEIGHT * pairs

    unit = torch.nn.functional.normalize(rows)
    over = (torch.relu(unit @ unit.T - MARGIN) * gap)[apart]
    push = over.sum() / (over > 0).sum().clamp(min=1)
    cut = slice(task.short)
    short = loss(rows[:, cut], torch.nn.functional.normalize(teacher[:, cut]))
    return loss(rows, teacher) + task.short_weight * short + MARGIN_WEIGHT * push


def figures_of(control: str, seed: int, data: Path, work: Path, epochs: int) -> dict[str, float]:
    """Train the model with this change, and measure it beside its teacher."""
    out = work / f"{control.replace(' ', '-')}-{seed}"
    answers = work / f"answers-{control if control in ('balanced', 'random', 'mpnet') else ''}"
    for folder in (out, answers):
        folder.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        (out / TEACHER_FOLDER).symlink_to(answers.absolute(), target_is_directory=True)
    recipe = Recipe.parse(recipe_of(control, epochs), source=str(RECIPE))
    encoder = StringEncoder(recipe.task.encoder, data, "mean")  # type: ignore[attr-defined]
    with changed(control):
        run_recipe(recipe, data=data, out=out, seeds=[seed], threads=1, console=vectors.CONSOLE)
        subject = vectors.Tree(str(out / BUNDLE))
        return vectors.quality(subject, vectors.Strings(encoder.encode), data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--texts", type=int, default=40_000)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--controls", choices=CONTROLS, nargs="+", default=CONTROLS)
    options = parser.parse_args()
    with (options.data / "vectors-train.jsonl").open(encoding="utf-8") as file:
        lines = list(islice(file, options.texts))
    (options.data / TEXTS).write_text("".join(lines), encoding="utf-8")
    for control in options.controls:
        for seed in options.seeds:
            figures = figures_of(control, seed, options.data, options.work, options.epochs)
            vectors.CONSOLE.print(f"{control}, seed {seed}: {json.dumps(figures)}", soft_wrap=True)


if __name__ == "__main__":
    main()
