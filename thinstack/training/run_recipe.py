"""`thinstack train`: run a recipe with a progress bar, print the table, write the results and the
bundle."""

import dataclasses
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from thinstack.config import Recipe
from thinstack.data.files import write_atomically
from thinstack.errors import ConfigError, needs_extra
from thinstack.measure.figures import figure_names, line, mean_and_std, shown
from thinstack.show.as_text import as_text
from thinstack.training.calibrate import Calibration, calibrate
from thinstack.training.datasets import Datasets, load_datasets
from thinstack.training.digests import data_digests
from thinstack.training.pair_report import pair_rival
from thinstack.training.publish import publish
from thinstack.training.rival import NAME, plain_rival
from thinstack.training.seeds import SeedResult, Spreads, run_seed, summary, train_seed
from thinstack.training.teaching import lessons
from thinstack.training.team import ALONE, Team
from thinstack.training.text_report import say_what_is_odd, show_texts

__all__ = ["run_recipe"]

RECIPE_FILE = "recipe.json"
SEEDS_FOLDER = "seeds"
TEACHER_FOLDER = "teacher"

PARSER_FIGURES = {
    "choices_right": "right choices along the file's trees",
    "span_f1": "unlabelled F1 of its own trees without the whole sentences",
    "span_f1_with_root": "with them",
    "span_f1_by_sentence": "as a mean over sentences",
    "exact_trees": "exact trees",
}


def run_recipe(
    recipe: Recipe,
    *,
    data: Path,
    out: Path,
    seeds: Sequence[int],
    threads: int | None,
    console: Console,
    team: Team = ALONE,
) -> None:
    """Train `seeds` of a recipe in the folder `out`, and leave there `results.json` and one seed's
    bundle, `model-best`, whose figures on suites are in both.

    That is the best seed by what was watched, else the first. Of a `team`, whose main process holds
    the lock of `out`, the others come back when the last seed has learnt. Raises ConfigError if
    `out` holds the work of another recipe, on other data or by another number of processes, or if a
    seed is repeated; MissingExtraError without onnxruntime; DataError where processes read other
    files; what training, reading the data and exporting raise.
    """
    if len(set(seeds)) != len(seeds):
        raise ConfigError(f"seeds must differ, got {list(seeds)}")
    with needs_extra("cpu"):  # the bundle is run at the end: better missed now
        import onnxruntime  # noqa: F401
    if threads is not None:
        torch.set_num_threads(threads)
    _claim(out, recipe, data, team)
    datasets = _load(recipe, data, out / TEACHER_FOLDER, threads, console, team)
    folders = {seed: out / SEEDS_FOLDER / str(seed) for seed in seeds}
    if not team.main:
        for seed, folder in folders.items():
            train_seed(recipe, datasets, seed, folder, team=team)
        team.part()
        return
    _say_what_is_read(recipe, datasets, team, console)
    say_what_is_odd(datasets, out, console)
    results = [
        _run_seed(recipe, datasets, seed, folder, console, team) for seed, folder in folders.items()
    ]
    team.part()
    _finish(recipe, datasets, results, data=data, out=out, console=console, team=team)


def _say_what_is_read(recipe: Recipe, datasets: Datasets, team: Team, console: Console) -> None:
    train, watched, dev = map(len, (datasets.train, datasets.watched, datasets.dev))
    console.print(
        f"{as_text(recipe.name)}: {train:,} examples to train on, {watched:,} to watch, "
        f"{dev:,} to report on; {len(datasets.table):,} leaf vectors"
    )
    if recipe.teacher is not None:
        counts = ", ".join(f"{count:,} {source}" for source, count in datasets.taught.items())
        console.print(f"taught by {as_text(', '.join(recipe.teacher.bundles))}: {counts}")
    if team.size > 1:
        size = recipe.training.batch_size
        console.print(
            f"{team.size} processes, each with minibatches of {size}: a step is on "
            f"{team.size * size} examples"
        )


def _finish(
    recipe: Recipe,
    datasets: Datasets,
    results: Sequence[SeedResult],
    *,
    data: Path,
    out: Path,
    console: Console,
    team: Team,
) -> None:
    """Write and show the figures, and publish the best."""
    best = max(results, key=lambda result: result.selection)
    over_seeds = summary(results)
    calibrations = [calibrate(one.model, datasets.dev, recipe) for one in results]
    figures: dict[str, Any] = {
        "recipe": recipe.model_dump(mode="json"),
        "seeds": _seeds(results, calibrations),
        "dev": over_seeds,
        "exported_seed": best.seed,
    }
    if team.size > 1:
        figures["processes"] = team.size
    if recipe.data.task == "texts":
        figures["rival"] = {NAME: plain_rival(*datasets.texts, recipe.model.labels)}
    elif recipe.data.from_table:
        figures["rival"] = dict([pair_rival(*datasets.pairs)])
    _write(figures, out)
    if len(results) > 1 or recipe.data.task != "texts":
        _show(results, over_seeds, recipe, console)
    if recipe.data.task == "texts":
        (source,) = recipe.measured_trees
        rival = (NAME, figures["rival"][NAME])
        show_texts(best.answers[source], best.dev[source], rival, recipe.model.labels, console)
    elif recipe.data.from_table:
        ((name, found),) = figures["rival"].items()
        said = line(found, recipe.data.task, recipe.model.labels)
        console.print(f"a plain rival, {name}: {said}")
    path = out / "model-best"
    bundle = publish(
        recipe,
        datasets,
        best,
        over_seeds,
        calibrations[results.index(best)],
        data=data,
        path=path,
        console=console,
    )
    if suites := bundle.manifest.metrics["suites"]:
        _write(figures | {"suites": suites}, out)


def _write(figures: dict[str, Any], out: Path) -> None:
    write_atomically(out / "results.json", json.dumps(figures, indent=2) + "\n")


def _seeds(
    results: Sequence[SeedResult], calibrations: Sequence[Calibration]
) -> dict[str, dict[str, Any]]:
    return {
        str(one.seed): {
            "dev": one.dev,
            "epochs": one.history,
            "calibration": dataclasses.asdict(calibration),
        }
        for one, calibration in zip(results, calibrations, strict=True)
    }


def _claim(out: Path, recipe: Recipe, data: Path, team: Team) -> None:
    """Note the recipe, its data and the processes in `out`, so that the checkpoints in the folder
    `seeds` are not taken for another's."""
    digests = data_digests(recipe, data)
    learnt = recipe.model_dump(mode="json", exclude={"card"})  # which says nothing of checkpoints
    work: dict[str, Any] = {"recipe": learnt, "data": digests}
    if team.size > 1:
        work["processes"] = team.size
    text = json.dumps(work, indent=2) + "\n"
    team.check_same(f"the recipe, or its files in {data}", text)
    note = out / RECIPE_FILE
    if not team.main:
        return
    with suppress(FileNotFoundError):
        found = note.read_text(encoding="utf-8")
        if found != text and (out / SEEDS_FOLDER).exists():
            if (count := _processes(found)) != team.size:
                raise ConfigError(
                    f"{out}: expected as many processes as began this run, {count}, for "
                    f"minibatches depend on them, found {team.size}; start {count}, or name "
                    "another folder"
                )
            changed = [file for file, digest in digests.items() if digest not in found]
            cause = f"of this one before {' and '.join(changed)} changed"
            raise ConfigError(
                f"{out} holds the work of another recipe, or "
                f"{cause if changed else 'another version of this one'}; name another folder"
            )
    write_atomically(note, text)


def _processes(note: str) -> int:
    """How many processes a note of `_claim` is of."""
    found = re.search(r'^  "processes": (\d+)$', note, re.MULTILINE)
    return int(found[1]) if found else 1


def _load(
    recipe: Recipe, data: Path, cache: Path, threads: int | None, console: Console, team: Team
) -> Datasets:
    """The data sets; what a teacher answers the main process is kept in the folder `cache`, where
    the others find it."""
    if recipe.teacher is None:
        return load_datasets(recipe, data)
    found = _load_taught(recipe, data, cache, threads, console) if team.main else None
    team.shared(team.main)  # the others wait
    return found or _load_taught(recipe, data, cache, threads, console)


def _load_taught(
    recipe: Recipe, data: Path, cache: Path, threads: int | None, console: Console
) -> Datasets:
    with _progress(console) as progress:
        bar = progress.add_task("the teacher reads", total=None)

        def on_read(what: str, done: int, total: int) -> None:
            description = f"the teacher reads {what}"
            progress.update(bar, completed=done, total=total, description=description)

        teach = partial(lessons, cache=cache, threads=threads, on_read=on_read)
        return load_datasets(recipe, data, teach=teach)


def _progress(console: Console) -> Progress:
    text = TextColumn("{task.description}")
    columns = (text, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True)


def _run_seed(
    recipe: Recipe, datasets: Datasets, seed: int, folder: Path, console: Console, team: Team
) -> SeedResult:
    with _progress(console) as progress:
        bar = progress.add_task(f"seed {seed}", total=len(datasets.train))
        told = recipe.data.task, recipe.model.labels

        def on_batch(epoch: int, done: int, total: int) -> None:
            progress.update(bar, completed=done, description=f"seed {seed}, epoch {epoch}")

        def on_epoch(record: dict[str, Any]) -> None:
            found = record["watched"].items()
            watched = "; ".join(f"{source} {line(figures, *told)}" for source, figures in found)
            progress.console.out(
                f"seed {seed}, epoch {record['epoch']}: loss {record['loss']:.4f}, "
                f"{record['seconds']:.1f} s {watched}"
            )

        return run_seed(
            recipe, datasets, seed, folder, on_batch=on_batch, on_epoch=on_epoch, team=team
        )


def _show(
    results: Sequence[SeedResult], over_seeds: Spreads, recipe: Recipe, console: Console
) -> None:
    plus_minus = "+-" if console.options.ascii_only else "±"
    console.print(_table(results, over_seeds, recipe, plus_minus))
    own = over_seeds.get("self", {})
    if "choices_right" in own:
        figures = ", ".join(
            f"{mean_and_std('accuracy', own[key], plus_minus)} {name}"
            for key, name in PARSER_FIGURES.items()
        )
        console.print(f"as a parser, mean of all seeds, percent: {figures}")


def _table(
    results: Sequence[SeedResult], over_seeds: Spreads, recipe: Recipe, plus_minus: str
) -> Table:
    names = figure_names(recipe.data.task, recipe.model.labels)
    table = Table(title="on the development data, accuracies in percent", title_justify="left")
    table.add_column("trees")
    table.add_column("seed")
    for name in names.values():
        table.add_column(name, justify="right")
    for source, spread in over_seeds.items():
        for result in results:
            figures = result.dev[source]
            table.add_row(source, str(result.seed), *(shown(key, figures[key]) for key in names))
        means = (mean_and_std(key, spread[key], plus_minus) for key in names)
        table.add_row(source, "mean", *means, style="bold", end_section=True)
    return table
