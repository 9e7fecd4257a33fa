"""Sentences with dependency trees, and recipes over them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from training import tiny_recipe

from thinstack.core import Tree
from thinstack.data.trees.conllu import write_conllu
from thinstack.data.trees.treebank import read_trees
from thinstack.training.recipe import Recipe

KINDS: dict[str, dict[str, Any]] = {
    "binary": {"name": "nary_lstm.v1"},
    "dependency": {"name": "child_sum_lstm.v1"},
    "sequence": {"name": "nary_lstm.v1", "options": {"arity": 1}},
}
"""A cell for each kind of trees."""


def heads_of(words: Sequence[str]) -> list[int]:
    """The head of each word, from 0: the middle word is the root, each other word depends on the
    next one towards it."""
    count, middle = len(words), len(words) // 2
    return [*range(1, middle + 1), -1, *range(middle, count - 1)]


def dependency_tree(words: Sequence[str]) -> Tree:
    heads = heads_of(words)
    return Tree.from_parents(heads, words, ["root" if head < 0 else "dep" for head in heads])


def classified(phrases: Tree) -> Tree:
    """The `dependency_tree` of a sentence: each node has the class of the phrase over its words."""
    classes = dict(zip(map(tuple, phrases.spans.tolist()), phrases.labels, strict=True))
    tree = dependency_tree(phrases.words)
    return tree.with_labels(classes.get(span) for span in map(tuple, tree.spans.tolist()))


def write_data(folder: Path) -> Path:
    """A folder of `train.conllu` and `dev.conllu`, and of what `tiny_recipe` writes."""
    tiny_recipe.write_data(folder)
    for name in ("train", "dev"):
        phrases = read_trees(folder / f"{name}.txt")
        write_conllu(map(classified, phrases), folder / f"{name}.conllu")
    return folder


def recipe(trees: str, **settings: Any) -> Recipe:
    """A recipe of phrases read as `trees`; settings as those of `tiny_recipe.recipe`."""
    data = {}
    if trees == "dependency":
        data = {"train": "train.conllu", "dev": "dev.conllu", "format": "conllu.v1"}
    return recipe_of(trees, data, {}, settings)


def recipe_of(
    trees: str, data: dict[str, Any], model: dict[str, Any], settings: dict[str, Any]
) -> Recipe:
    """A recipe over models of `trees`, with what `settings` change of `data` and `model`."""
    given = {name: settings.pop(name, {}) for name in ("data", "model", "cell")}
    return tiny_recipe.recipe(
        data={**data, **given["data"]},
        model={"trees": trees, **model, **given["model"]},
        cell={**KINDS[trees], **given["cell"]},
        **{"sources": (), **settings},
    )
