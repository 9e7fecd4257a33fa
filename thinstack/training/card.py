"""The model card of a bundle."""

from typing import Any

from thinstack.config import Recipe
from thinstack.metrics import percent
from thinstack.training.recipe import SeedResult

__all__ = ["ACCURACIES", "card"]

ACCURACIES = ("root_accuracy", "root_binary_accuracy", "phrase_accuracy")

_CHOSEN = {
    "dev": "Epoch and seed were chosen\nby the sum of these accuracies on this very file, which makes them slightly too good.",
    "held": "Epoch and seed were chosen\non a held-out tenth of the training trees, not on this file.",
    "nothing": "The number of epochs was\nfixed beforehand, and the first seed taken; this file was not looked at.",
}

_CARD = """\
# {name}

{description}

- Classes: {labels}.
- Cell `{cell}`, hidden size {hidden}; leaf embedding `{embedding}` of size {columns}; task head `{head}`.
- Trees of raw words: `{source}`.
- ONNX file: {megabytes:.2f} MB, weights stored as `{quantize}`.
- Trained by `thinstack train` on `{train}`, seed {seed}, {epochs} epochs.

## Accuracy

On `{dev}`, in percent. *Binary* is positive against negative mass, neutral sentences left out. Trees are *gold*, or *auto*:
made from the words, as raw text gets them; phrases are then those that the gold tree has too, so that their accuracy is not to
be compared with that of gold trees. {parser}{chosen}

| trees | figures of | sentences | binary | phrases |
|---|---|---|---|---|
{rows}

## Data and terms

{statement}
"""


def card(
    recipe: Recipe, result: SeedResult, shipped: dict[str, dict[str, Any]], over_seeds: dict[str, Any], *, size: int
) -> str:
    """The card, Markdown: what the model is, how it was made, its figures as shipped and over all seeds, data and terms.

    `size`: bytes of the ONNX file.
    """
    rows = []
    for source, figures in shipped.items():
        cells = " | ".join(percent(figures[key]) for key in ACCURACIES)
        rows.append(f"| {source} | this file | {cells} |")
    for source, spread in over_seeds.items():
        cells = " | ".join(f"{percent(spread[key]['mean'])} ± {percent(spread[key]['std'])}" for key in ACCURACIES)
        shown = "auto" if source == recipe.model.tree_source else source
        rows.append(f"| {shown} | all seeds, before quantisation | {cells} |")
    model = recipe.model
    return _CARD.format(
        name=recipe.name,
        description=recipe.description.strip(),
        labels=", ".join(model.labels),
        cell=model.cell.name,
        hidden=model.cell.hidden_size,
        embedding=model.embedding.registered,
        columns=model.embedding.size,
        head=model.head.name,
        source=model.tree_source,
        megabytes=size / 1e6,
        quantize=recipe.export.quantize,
        train=recipe.data.train,
        seed=result.seed,
        epochs=result.epoch,
        dev=recipe.data.dev,
        parser=_parser(shipped),
        chosen=_CHOSEN[recipe.training.stop_on],
        rows="\n".join(rows),
        statement=recipe.data.statement.strip(),
    )


def _parser(shipped: dict[str, dict[str, Any]]) -> str:
    """How well the trees that raw words get agree with the development file's."""
    figures = shipped["auto"]
    return (
        f"These trees have\n{percent(figures['span_f1'])}% of the gold trees' phrases, whole sentences and single words not "
        f"counted, and are equal to them for\n{percent(figures['exact_trees'])}% of the sentences. "
    )
