"""Sentence pairs in the formats of SICK and SNLI, and recipes over them."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tiny_dependencies import dependency_tree, recipe_of
from training import tiny_recipe

from thinstack.core import Tree
from thinstack.data.trees.brackets import to_brackets
from thinstack.data.trees.text_files import write_lines
from thinstack.training.recipe import Recipe
from thinstack_lab.parent_arrays import write_constituency_trees, write_dependency_trees

RATINGS = ("1", "2", "3", "4", "5")
TRACKED = {"encoder": {"tracker": {"size": 3, "feeds": False}}}
CLASSES = ("contradiction", "neutral", "entailment")
HEADS = {"relatedness": (RATINGS, "similarity.v1"), "entailment": (CLASSES, "entailment.v1")}


class TinyPair(NamedTuple):
    first: list[str]
    second: list[str]
    rating: float
    label: str


def pairs(count: int, *, seed: int) -> list[TinyPair]:
    """Pairs rated by the words that they share; with "not" in the second sentence, they contradict
    each other."""
    generator, found = random.Random(seed), []
    words = [*sorted(tiny_recipe.VALUES), "not"]
    for _ in range(count):
        first, second = (generator.choices(words, k=generator.randrange(1, 6)) for _ in range(2))
        shared = len({*first} & {*second}) / len({*first, *second})
        label = "contradiction" if "not" in second else "entailment" if shared > 0.3 else "neutral"
        found.append(TinyPair(first, second, round(1 + 4 * shared, 1), label))
    return found


def write_sick(folder: Path, found: Sequence[TinyPair], table: Path) -> None:
    """A folder as SICK's, with right-branching trees, and the table that has its classes."""
    folder.mkdir(parents=True)
    for side, name in enumerate("ab"):
        toks, *others = (folder / f"{name}.{kind}" for kind in ("toks", "parents", "rels"))
        write_dependency_trees([dependency_tree(pair[side]) for pair in found], toks, *others)
        trees = [Tree.right(pair[side]) for pair in found]
        write_constituency_trees(trees, toks, folder / f"{name}.cparents")
    write_lines(folder / "id.txt", [str(number) for number in range(1, len(found) + 1)])
    write_lines(folder / "sim.txt", [str(pair.rating) for pair in found])
    rows = [f"{number}\t{pair.label.upper()}" for number, pair in enumerate(found, start=1)]
    write_lines(table, ["pair_ID\tentailment_judgment", *rows])


def write_snli(path: Path, found: Sequence[TinyPair]) -> None:
    lines = []
    for number, pair in enumerate(found):
        line = {"pairID": str(number), "gold_label": pair.label}
        for side in (1, 2):
            tree = Tree.right(pair[side - 1])
            line[f"sentence{side}_binary_parse"] = to_brackets(tree, labelled=False)
        lines.append(json.dumps(line))
    write_lines(path, lines)


def write_data(folder: Path, *, train: int = 12, dev: int = 6) -> Path:
    """A folder of `train`, `dev` (SICK), `train.jsonl`, `dev.jsonl` (SNLI), and of what
    `tiny_recipe` writes."""
    tiny_recipe.write_data(folder)
    tables = {"train": "SICK_train.txt", "dev": "SICK_trial.txt"}
    drawn = {"train": pairs(train, seed=1), "dev": pairs(dev, seed=2)}
    for name, table in tables.items():
        write_sick(folder / name, drawn[name], folder / table)
        write_snli(folder / f"{name}.jsonl", drawn[name])
    return folder


def recipe(
    task: str = "relatedness", trees: str = "binary", *, snli: bool = False, **settings: Any
) -> Recipe:
    """A recipe over `write_data`; settings as those of `tiny_recipe.recipe`."""
    labels, head = HEADS[task]
    files = {"train": "train", "dev": "dev", "format": "sick.v1"}
    if snli:
        files = {"train": "train.jsonl", "dev": "dev.jsonl", "format": "snli.v1"}
    files |= {"task": f"{task}_of_trees"}
    return recipe_of(trees, files, {"labels": labels, "head": {"name": head}}, settings)
