"""`thinstack train`: trains on a table of texts, or from a recipe, and writes a bundle."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from rich.console import Console
from rich.text import Text

from thinstack._lazy import imports_that_stay
from thinstack.cli.options import TableFormat, argument, chosen, grouped, listed, option
from thinstack.data.files.signals import stoppable
from thinstack.data.files.writing import locked
from thinstack.data.tables.dialects import TABLE_SUFFIXES, holds_table
from thinstack.errors import InputError, StoppedError, escaped, needs_extra

TABLES: Final = ", ".join((*TABLE_SUFFIXES, ".spacy"))
_STOPPED: Final = "stopped; run the same command again, and training resumes"


@dataclass(frozen=True)
class TableSettings(TableFormat):
    """The options of a table, named like those of `TableOptions`."""

    text_column: list[str] | None = option(
        "For a table: the text column. For pairs of sentences, pass two.  [default: text, or "
        "text_a and text_b]",
        "--text",
    )
    label_column: str | None = option("For a table: the label column.  [default: label]", "--label")
    score_column: str | None = option(
        "For a table of pairs: the rating column.  [default: score]", "--score"
    )
    add: Path | None = option(
        "For a table: a second table to train on, such as the corrections from thinstack serve "
        "--table. Its rows replace rows with the same text."
    )
    dev: Path | None = option(
        "For a table: a development table, used to choose the best epoch.  [default: a tenth of "
        "the rows, set aside]"
    )
    test: Path | None = option(
        "For a table: a held-out table, used to evaluate the finished model."
    )
    epochs: int | None = option(
        "For a table: the maximum number of epochs.  [default: depends on the number of rows]",
        min=1,
    )
    init: str | None = option(
        "For a table: the model to fine-tune, by name or folder, or none to start from word "
        "vectors only.  [default: if installed, vectors for pairs, sentiment-context or vectors "
        "for topics, aspects for aspects; otherwise sentiment]"
    )
    labels: str | None = option("For a table: all labels in order, separated by commas.")
    scale: bool | None = option(
        "For a table of texts: whether the labels form an ordered scale. With --scale, numbers "
        "count as sentiment, such as stars.  [default: detected from the names of the labels and "
        "the column]",
        "--scale/--no-scale",
    )
    task: Literal["texts", "spans", "aspects"] | None = option(
        "For a table of texts: what the labels describe. texts: whole texts. spans: phrases from "
        "start to end. aspects: opinions about terms from start to end.  [default: texts]"
    )
    span_group: str | None = option("For a .spacy file: the span group to train on.")

    def options(self) -> dict[str, Any]:
        """Return the options that are set, by field."""
        options = {name: getattr(self, name) for name in chosen(self)}
        if labels := options.pop("labels", None):
            options["labels"] = named = tuple(name.strip() for name in labels.split(","))
            if "" in named:
                raise InputError(f"--labels: expected names between the commas, found {labels!r}")
        return options


@grouped
def train(
    *,
    file: Path = argument(
        "A table of texts and labels (.csv, .tsv, .json, .jsonl, .parquet, .spacy; also "
        ".gz), or a recipe (.toml)."
    ),
    out: Path = option("Folder for checkpoints, results and the bundle model-best.", default=...),
    table: TableSettings,
    data: Path | None = option(
        "For a recipe: the folder with its data files.", envvar="THINSTACK_DATA"
    ),
    seed: list[int] | None = option(
        "Train with this seed instead of the recipe's. Repeat it to train with several seeds.",
        min=0,
        max=2**63 - 1,
    ),
    threads: int | None = option(
        "Number of PyTorch threads.  [default: 1 for a table, all for a recipe]", min=1, max=256
    ),
) -> None:
    """Train a model on a table of texts, or from a recipe.

    A table contains texts or pairs of texts, with labels or ratings. For a table, thinstack first
    writes a recipe, recipe.toml in the output folder. After training, it evaluates the model and
    writes it as a bundle.

    With several seeds, exports the model of the best seed if the recipe watches a metric, otherwise
    that of the first seed. If training stops, run the same command again to resume.
    """
    of_table, console, suffix = table.options(), Console(), file.suffix.lower()
    as_table = bool(chosen(table, "separator", "header")) and suffix != ".toml"
    try:
        with stoppable(_STOPPED):
            if suffix == ".spacy" or as_table or holds_table(file):
                if data is not None and str(data) != os.environ.get("THINSTACK_DATA"):
                    raise InputError("--data: works only with recipes (.toml): remove it")
                with needs_extra("export"), imports_that_stay():
                    from thinstack.training.text_recipe import TableOptions
                    from thinstack.training.train_texts import train_table
                options = TableOptions(**of_table, seeds=tuple(seed or (1,)))
                with locked(out):
                    advice = train_table(file, out, options, threads=threads or 1, console=console)
                for line in advice:
                    console.print(Text(escaped(line)), soft_wrap=True)
                return
            _check_recipe(file, of_table)
            # Tasks import its packages when a recipe is read.
            with needs_extra("export"), imports_that_stay():
                from thinstack.training.recipe import Recipe
                from thinstack.training.run_recipe import run_recipe
            recipe, data = Recipe.read(file), data or Path()
            seeds = tuple(seed or recipe.training.seeds)
            with locked(out):
                run_recipe(
                    recipe, data=data, out=out, seeds=seeds, threads=threads, console=console
                )
    except OSError as error:  # a file that cannot be written, for example on a full disk
        epochs = "".join(getattr(error, "__notes__", ()))
        problem = f"{error}; fix this and run the same command again, and training resumes{epochs}"
        raise StoppedError(problem) from None


def _check_recipe(file: Path, of_table: dict[str, Any]) -> None:
    """Raise InputError for other types of files, and for options of tables."""
    if file.suffix.lower() != ".toml":
        raise InputError(
            f"{file}: expected a table ({TABLES}) or a recipe (.toml): rename the file, pass "
            "another, or set a table's separator with --sep"
        )
    if options := listed(of_table):
        raise InputError(
            f"{options}: works only with tables ({TABLES}), but {file} is a recipe: "
            "remove it, and edit the recipe instead"
        )
