"""Runs a recipe for `thinstack train`: shows progress, prints figures, and writes the bundle."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from rich import progress as bars
from rich.console import Console

from thinstack._onnxruntime import import_onnxruntime
from thinstack.bundle.writing import check_replaceable
from thinstack.data.files.outputs import check_apart, check_output
from thinstack.data.files.writing import write_atomically
from thinstack.errors import ConfigError
from thinstack.integrations.show.marks import as_text
from thinstack.training.examples.datasets import Datasets, load_datasets
from thinstack.training.examples.inputs import Inputs, data_digests
from thinstack.training.loop.seeds import SeedResult, run_seed, summary
from thinstack.training.loop.teacher import AnswerCache
from thinstack.training.publish.assembly import publish
from thinstack.training.publish.calibrate import calibrate
from thinstack.training.publish.reports import show_test
from thinstack.training.recipe import Recipe
from thinstack.training.tasks._table import SKIPPED_FILE

RECIPE_FILE = "recipe.json"
RESULTS_FILE = "results.json"
BUNDLE = "model-best"
SEEDS_FOLDER = "seeds"
TEACHER_FOLDER = "teacher"


def run_recipe(
    recipe: Recipe,
    *,
    data: Path | Inputs,
    out: Path,
    seeds: Sequence[int],
    threads: int | None,
    console: Console,
) -> None:
    """Train the `seeds` of a recipe in the folder `out`, and write `results.json` and the bundle
    `model-best` there. `data`: the folder of the recipe's files, or its open `Inputs`.

    The bundle contains the seed with the best watched figure, or the first seed if nothing was
    watched. `threads`: of torch and of a teacher; None keeps their defaults.

    Raises ConfigError if a seed is repeated, or if `out` contains the run of another recipe or of
    other data, and MissingExtraError without onnxruntime.
    """
    if len(set(seeds)) != len(seeds):
        raise ConfigError(f"seeds must differ, found {list(seeds)}; list each once")
    import_onnxruntime()  # The bundle is run at the end: better to fail before training.
    if threads is not None:
        torch.set_num_threads(threads)
    inputs = Inputs.of(data)
    _claim(out, recipe, inputs)
    datasets = _load(recipe, inputs, out / TEACHER_FOLDER, threads, console)
    _print_data(recipe, datasets, out, console)
    results = [
        _run_seed(recipe, datasets, seed, out / SEEDS_FOLDER / str(seed), console) for seed in seeds
    ]
    _finish(recipe, datasets, results, out=out, console=console)


def _print_data(recipe: Recipe, datasets: Datasets, out: Path, console: Console) -> None:
    train, watched, dev = map(len, (datasets.train, datasets.watched, datasets.dev))
    early = f"{watched:,} for early stopping, " if watched else ""
    console.print(
        f"{as_text(recipe.name)}: {train:,} training examples, {early}{dev:,} for development; "
        f"vocabulary of {len(datasets.table):,}"
    )
    for line in datasets.notes:
        console.print(as_text(line), soft_wrap=True)
    recipe.task.report_data(recipe, datasets, out, console)
    if recipe.teacher is not None:
        counts = ", ".join(f"{count:,} {source}" for source, count in datasets.taught.items())
        console.print(f"labeled by {as_text(', '.join(recipe.teacher.bundles))}: {counts}")


def _finish(
    recipe: Recipe,
    datasets: Datasets,
    results: Sequence[SeedResult],
    *,
    out: Path,
    console: Console,
) -> None:
    best = max(results, key=lambda result: result.selection)
    over_seeds = summary(results)
    calibrations = [calibrate(one.model, datasets.dev, recipe) for one in results]
    rival = recipe.task.rival(datasets, recipe.model.shown_labels)
    figures: dict[str, Any] = {
        "recipe": recipe.model_dump(mode="json"),
        "seeds": {
            str(one.seed): {
                "dev": one.dev,
                **({"test": one.test} if one.test else {}),
                "epochs": one.history,
                "calibration": asdict(calibration),
            }
            for one, calibration in zip(results, calibrations, strict=True)
        },
        "dev": over_seeds,
        "exported_seed": best.seed,
    }
    if rival is not None:
        figures["rival"] = dict([rival])
    if best.test:
        figures["test"] = summary(results, "test")
    _write_json(out / RESULTS_FILE, figures)
    recipe.task.report(results, over_seeds, rival, recipe, console)
    recipe.task.report_changes(best, datasets, recipe, console)
    if best.test:
        show_test(best.test, recipe, console)
    calibration, path = calibrations[results.index(best)], out / BUNDLE
    bundle = publish(recipe, datasets, best, over_seeds, calibration, path=path, console=console)
    if suites := bundle.manifest.metrics["suites"]:
        _write_json(out / RESULTS_FILE, figures | {"suites": suites})


def _write_json(path: Path, content: dict[str, Any]) -> None:
    write_atomically(path, json.dumps(content, indent=2) + "\n")


def _claim(out: Path, recipe: Recipe, inputs: Inputs) -> None:
    """Record the recipe and its data in `out`, so that another recipe does not resume from the
    checkpoints there. Raises InputError or BundleError if a file of the run would replace an input,
    or cannot be written."""
    digests = data_digests(recipe, inputs)
    settings = recipe.model_dump(mode="json", exclude={"card"})  # which no checkpoint depends on
    note, work = out / RECIPE_FILE, {"recipe": settings, "data": digests}
    used, bundle = inputs.used(digests), out / BUNDLE
    for name in (RECIPE_FILE, RESULTS_FILE, SKIPPED_FILE):
        check_output(out / name, "--out", used)
    check_apart(bundle, "--out", used)
    check_replaceable(bundle)
    with suppress(FileNotFoundError):
        before = note.read_text(encoding="utf-8")
        ran = (out / SEEDS_FOLDER).exists() or (out / RESULTS_FILE).exists()
        if before != json.dumps(work, indent=2) + "\n" and ran:
            changed = [file for file, digest in digests.items() if digest not in before]
            cause = f"of this one before {' and '.join(changed)} changed"
            raise ConfigError(
                f"{out} contains the run of another recipe, or "
                f"{cause if changed else 'another version of this one'}; choose another folder"
            )
    _write_json(note, work)


def _load(
    recipe: Recipe, inputs: Inputs, cache: Path, threads: int | None, console: Console
) -> Datasets:
    """Load the data sets, with the answers of a teacher in the folder `cache`."""
    with _progress(console, bars.MofNCompleteColumn(), bars.TimeElapsedColumn()) as progress:
        bar = progress.add_task("", visible=False)

        def on_read(what: str, done: int, total: int) -> None:
            doing = f"the teacher reads {what}"
            progress.update(bar, completed=done, total=total, description=doing, visible=True)

        def say(line: str) -> None:
            console.print(as_text(line))

        recipe.task.work_in(cache, on_read)
        inputs.teaching = {"cache": AnswerCache(cache, on_read), "threads": threads, "say": say}
        return load_datasets(recipe, inputs)


def _progress(console: Console, *columns: bars.ProgressColumn) -> bars.Progress:
    text, bar = bars.TextColumn("{task.description}"), bars.BarColumn(bar_width=20)
    return bars.Progress(text, bar, *columns, console=console, transient=True)


def _run_seed(
    recipe: Recipe, datasets: Datasets, seed: int, folder: Path, console: Console
) -> SeedResult:
    task, labels = recipe.task, recipe.model.shown_labels
    epochs = recipe.training.epochs + recipe.training.parser_epochs
    left = bars.TextColumn("time left"), bars.TimeRemainingColumn(compact=True)
    with _progress(console, bars.TaskProgressColumn(), *left) as progress:
        bar = progress.add_task(f"seed {seed}", total=epochs)

        def on_batch(epoch: int, done: int, total: int) -> None:
            doing = f"seed {seed}, epoch {epoch} of {epochs}"
            progress.update(bar, completed=epoch - 1 + done / total, description=doing)

        def on_epoch(record: dict[str, Any]) -> None:
            parts = record["watched"] or record.get("traced", {})
            measured = "; ".join(
                f"{source if len(parts) > 1 else ''} {task.line(figures, labels)}".strip()
                for source, figures in parts.items()
            )
            progress.console.out(
                f"seed {seed}, epoch {record['epoch']}: loss {record['loss']:.4f}, "
                f"{record['seconds']:.1f} s {measured}"
            )

        return run_seed(recipe, datasets, seed, folder, on_batch=on_batch, on_epoch=on_epoch)
