"""Writes the model card of a bundle."""

import re
from html import escape
from typing import Any

from thinstack.bundle.front_matter import front_matter
from thinstack.errors import escaped
from thinstack.evaluate.accuracy import BINS
from thinstack.evaluate.figures import interval_line, mean_and_std, percent, shown
from thinstack.evaluate.suite_table import markdown
from thinstack.training.loop.seeds import SeedResult
from thinstack.training.publish.calibrate import Calibration
from thinstack.training.recipe import Recipe

ERRORS = {
    "root_calibration_error": "sentences",
    "phrase_calibration_error": "phrases",
    "calibration_error": "all",
}

_CHOSEN = {
    "dev": """Epoch and seed were chosen
by these figures on these very data, which makes them slightly too good.""",
    "held": """Epoch and seed were chosen
on a held-out tenth of the training examples, not on these data.""",
    "nothing": """The number of epochs was
fixed beforehand, and the first seed taken: these data chose neither.""",
}

_CARD = """\
{head}
# {name}

{description}

- Classes: {labels}.{sets}
- Cell `{model.cell.name}`, hidden size {model.cell.hidden_size}; leaf embedding \
`{model.embedding.registered}` of size {model.embedding.size}; task head
  `{model.head.name}`.
- Trees of raw words: {trees}.
- ONNX file: {megabytes:.2f} MB, weights stored as `{export.quantize}`.
- Trained by `thinstack train` on `{data.train}`, seed {result.seed}, {result.epoch} epochs{taught}.

## Figures

On `{data.reported}`, accuracies in percent. {explained}{chosen}

| trees | figures of | {headings} |
|---|---|{rules}|
{rows}
{more}{command}
## Calibration

{calibration}
{suites}
## Data and terms

{statement}
"""

_SUITES = """
## What it understands

English sentences of known polarity, from raw text: the reported halves of thinstack's suites, by
`thinstack evaluate BUNDLE --suite all`. *One side* counts sets of sentences that should get one
answer; docs/suite.md of thinstack says more.

{table}
"""


def card(
    recipe: Recipe,
    result: SeedResult,
    shipped: dict[str, dict[str, Any]],
    over_seeds: dict[str, Any],
    calibration: Calibration,
    suites: dict[str, dict[str, Any]],
    *,
    size: int,
) -> str:
    """The card, as Markdown with front matter. It says what the model is, how it was made, and what
    its data and terms are. It gives its figures, also on suites, and its calibration.

    `shipped`: the figures of the bundle, by tree source. `over_seeds`: their means over all seeds.
    `suites`: the figures of each suite. `size`: the bytes of the ONNX file.
    """
    names = recipe.task.columns(recipe.model.shown_labels)
    rows = []
    for source, figures in shipped.items():
        cells = " | ".join(shown(key, figures[key]) for key in names)
        rows.append(f"| {'auto, raw text' if source == 'text' else source} | this file | {cells} |")
    for source, spread in over_seeds.items():
        cells = " | ".join(mean_and_std(key, spread[key], "±") for key in names)
        trees = "auto" if "auto" in shipped and source == recipe.model.tree_source else source
        rows.append(f"| {trees} | all seeds, before quantisation | {cells} |")
    kind, source = recipe.model.trees, recipe.model.tree_source
    return _CARD.format(
        head=front_matter(
            *(recipe.name, recipe.model, shipped, over_seeds),
            reported=recipe.data.reported,
            **recipe.card.model_dump(),
        ),
        name=recipe.name,
        description=recipe.description.strip(),
        model=recipe.model,
        data=recipe.data,
        export=recipe.export,
        result=result,
        taught=_taught(recipe),
        labels=", ".join(map(_as_text, recipe.model.shown_labels)),
        sets=_sets(recipe),
        trees=f"`{source}`" if kind == "binary" else f"none, it reads `{kind}`",
        megabytes=size / 1e6,
        explained=_explained(recipe, shipped),
        chosen=_CHOSEN[recipe.training.stop_on],
        headings=" | ".join(names.values()),
        rules="|".join("---" for _ in names),
        rows="\n".join(rows),
        more=_more(recipe, result, shipped),
        command=_command(recipe, shipped) if shipped else "",
        calibration=_calibration(calibration),
        suites=_suites(suites),
        statement=recipe.data.statement.strip(),
    )


def _sets(recipe: Recipe) -> str:
    """What labels of a user stand for."""
    sets = recipe.model.class_sets
    meant = "; ".join(f"{_as_text(one)} is {' or '.join(sets[one])}" for one in sets)
    of = f" They are shown in place of the model's own, which phrases keep: {meant}."
    return of if sets else ""


def _as_text(label: str) -> str:
    """Markdown that shows a label of a user as it is, whatever marks are in it."""
    return re.sub(r"([\\`*_\[\]#|~])", r"\\\1", escape(escaped(label), quote=False))


def _more(recipe: Recipe, result: SeedResult, shipped: dict[str, dict[str, Any]]) -> str:
    """How far an accuracy may be off, and the figures on the file that chose nothing."""
    lines = [f"O{line[1:]}" for line in map(interval_line, shipped.values()) if line][-1:]
    for source, figures in result.test.items():
        named = recipe.task.line(figures, recipe.model.shown_labels)
        interval = f"; {line}" if (line := interval_line(figures)) else ""
        lines.append(
            f"On `{recipe.data.test}`, which chose nothing, before quantisation, {source} trees: "
            f"{named}{interval}"
        )
    return "".join(f"\n{line}.\n" for line in lines)


def _taught(recipe: Recipe) -> str:
    """Who taught it, on what beside the training file."""
    teachers = recipe.teacher.names if recipe.teacher else ()
    names = ", ".join(f"`{name}`" for name in teachers)
    lessons = ", ".join(f"`{lesson.name}`" for lesson in recipe.lessons)
    return (f", taught by {names}" if names else "") + (f", lessons {lessons}" if lessons else "")


def _command(recipe: Recipe, shipped: dict[str, dict[str, Any]]) -> str:
    """The command that gives the figures of the file. There is no such command for examples that
    were set aside, or that `thinstack evaluate` does not read."""
    options = recipe.task.evaluate_options
    if recipe.data.dev is None or options is None:
        return ""
    text = "; for raw text, with `--source auto --raw-text`" if "text" in shipped else ""
    command = f"`thinstack evaluate BUNDLE DATA/{recipe.data.dev}{options}`"
    auto = ", and with `--source auto`" if "auto" in shipped else ""
    return f"""
The figures of this file come from
{command}{auto}{text}.
"""


def _explained(recipe: Recipe, shipped: dict[str, dict[str, Any]]) -> str:
    """What the columns and the trees are, and how well the trees that raw words get agree with
    those of the data."""
    columns = recipe.task.explained(recipe.model.shown_labels)
    if "auto" not in shipped:
        return columns
    spans, exact = (percent(shipped["auto"][key]) for key in ("span_f1", "exact_trees"))
    raw = "*Raw text* is the sentences\ndetokenised, and cut into words again. "
    return f"""{columns}Trees are *gold*, or *auto*:
made from the words, as raw text gets them. Phrases of *auto* are only those that the gold tree \
has too, so their accuracy cannot be
compared with that of gold trees. These trees have
{spans}% of the gold trees' phrases, not counting whole sentences and single words, and equal \
them for
{exact}% of the sentences. {raw if "text" in shipped else ""}"""


def _calibration(calibration: Calibration) -> str:
    """The temperature, and the calibration errors before and after it."""
    rows = "\n".join(
        f"| {ERRORS[name]} | {percent(errors['before'])} | {percent(errors['after'])} |"
        for name, errors in calibration.errors.items()
    )
    table = f"\n\n| | before | after |\n|---|---|---|\n{rows}" if rows else ""
    what = f"""Expected calibration error (Guo et al. 2017, (3), {BINS} bins) on the same data, in
percentage points, trees `{calibration.trees}`, before quantisation"""
    if calibration.temperature is None:
        errors = f"\n{what}.{table}" if rows else ""
        return f"No temperature was fitted: {calibration.reason}.{errors}"
    even, odd = calibration.of_halves
    temperature = f"{calibration.temperature:.3f}"
    return f"""The logits are divided by a temperature, {temperature}, that was fitted
on {calibration.cases:,} cases of the same data; it is part of the weights. The most probable
class of a sentence or phrase stays the same. Figures that use sums and means of scores (*binary*,
texts of several sentences, terms) may move a little.

{what}. For "after", each half of the
examples (every other one) has the temperature of the other half: {even:.3f} and
{odd:.3f}.{table}"""


def _suites(suites: dict[str, dict[str, Any]]) -> str:
    """The section of the suites, with their figures."""
    return _SUITES.format(table=markdown(suites)) if suites else ""
