"""What trees give to vectors of phrases: three models that learn alike, over the trees of a parser,
over balanced trees and over random ones. Then the figures of each, as `vectors.py` has them:

    python lab/benchmarks/vector_controls.py --data DATA --work runs/controls --texts 150000

Each has no classes, starts from the leaf vectors of the model "vectors", and reads the first texts
of DATA/vectors-train.jsonl (`lab/scripts/vector_texts.py` writes them) so many times. The random
trees of a text are drawn again whenever it is read.
"""

import argparse
import json
import tomllib
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import vectors
from numpy.typing import NDArray

from thinstack.core.transitions import REDUCE, SHIFT, balanced
from thinstack.text import given_trees
from thinstack.training.recipe import Recipe
from thinstack.training.run_recipe import BUNDLE, run_recipe
from thinstack.training.tasks.vectors.encoder import StringEncoder

RECIPE = Path(__file__).parents[1] / "recipes/vectors.toml"
TREES = ("parser", "balanced", "random")
TEXTS = "control-texts.jsonl"
SLOT = "balanced"
"""The tree source in whose place random trees are made: a recipe can name no other."""


def random_shapes(seed: int) -> Callable[[int], NDArray[np.int8]]:
    """Makes the transitions of binary trees of n words, each cut at a place drawn at random."""
    draw = np.random.default_rng(seed)

    def shape(words: int) -> NDArray[np.int8]:
        if words == 1:
            return np.array([SHIFT], np.int8)
        cut = int(draw.integers(1, words))
        return np.concatenate([shape(cut), shape(words - cut), np.array([REDUCE], np.int8)])

    return shape


def recipe_over(trees: str, epochs: int) -> dict[str, Any]:
    """The recipe of the model "vectors" over such trees, without classes."""
    recipe = tomllib.loads(RECIPE.read_text(encoding="utf-8"))
    model = recipe["model"]
    model |= {"labels": [], "head": model.pop("vectors")}
    del model["aggregation"]  # trees over sentences need a parser
    if trees != "parser":
        del model["parser"]
        model["tree_source"] = SLOT
    recipe |= {"name": f"vectors-over-{trees}", "model": model}
    recipe["data"] |= {"train": TEXTS, "dev": "vectors-dev.jsonl"}
    recipe["init"] = {"bundle": "vectors", "parts": ["embedding"], "frozen": []}
    recipe["training"] |= {"epochs": epochs, "learning_rate": 2e-3}
    recipe["export"] |= {"gpu": False}
    return recipe


def figures_over(trees: str, data: Path, work: Path, epochs: int) -> dict[str, float]:
    """Train the model over such trees, and measure it over trees made in the same way."""
    if trees == "random":
        given_trees.SHAPES[SLOT] = random_shapes(1)
    recipe = Recipe.parse(recipe_over(trees, epochs), source=str(RECIPE))
    out = work / trees
    run_recipe(recipe, data=data, out=out, seeds=[1], threads=1, console=vectors.CONSOLE)
    teacher = StringEncoder(vectors.ENCODER, data, "mean")
    subject = vectors.Tree(str(out / BUNDLE))
    return vectors.quality(subject, vectors.Strings(teacher.encode), data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--texts", type=int, default=150_000)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--trees", choices=TREES, action="append", help="by default all three")
    options = parser.parse_args()
    with (options.data / "vectors-train.jsonl").open(encoding="utf-8") as file:
        lines = list(islice(file, options.texts))
    (options.data / TEXTS).write_text("".join(lines), encoding="utf-8")
    for trees in options.trees or TREES:
        figures = figures_over(trees, options.data, options.work, options.epochs)
        given_trees.SHAPES[SLOT] = balanced
        vectors.CONSOLE.print(f"{trees}: {json.dumps(figures)}")


if __name__ == "__main__":
    main()
