"""`python -m reproduce search`: settings drawn at random from ranges, each trained, and which did
best on held-out training data (Bowman et al. 2016, 4.1 and Table 2)."""

import copy
import json
import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator
from rich.console import Console

from reproduce.attempts import Failure
from reproduce.console import say
from reproduce.provenance import commit_of, versions
from reproduce.rerank_command import Places
from reproduce.run import Job, Outcome, attempt, finished, job_of
from reproduce.shown import Name
from reproduce.table import Part, Row, Run
from reproduce.workers import each
from thinstack.core.config import Strict
from thinstack.core.config.base import read_toml
from thinstack.data.files.writing import locked, write_atomically
from thinstack.errors import ConfigError, ThinstackError
from thinstack.training.examples.inputs import data_digests
from thinstack.training.recipe import Recipe

DIGITS = 3
"""Of a number that is drawn."""


class Range(Strict):
    """What a field of the recipe, such as "training.learning_rate", is drawn from: evenly, or with
    an even logarithm; both ends included. `whole`: whether whole numbers are drawn. `paper`: the
    paper's value."""

    field: str = Field(pattern=r"^[a-z_]+(\.[a-z_]+)+$")
    low: float
    high: float
    strategy: Literal["uniform", "log"] = "uniform"
    whole: bool = False
    paper: float | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.low < self.high or (self.strategy == "log" and self.low <= 0):
            least = "0 < low < high" if self.strategy == "log" else "low < high"
            raise ValueError(f"expected {least}, found {self.low:g} and {self.high:g}")
        return self

    def draw(self, generator: np.random.Generator) -> float:
        """A number of the range; of one that is not whole, `DIGITS` digits."""
        low, high = self.low, self.high + self.whole
        if self.strategy == "log":
            value = math.exp(generator.uniform(math.log(low), math.log(high)))
        else:
            value = generator.uniform(low, high)
        return self.fit(min(math.floor(value), self.high) if self.whole else value)

    def fit(self, value: float) -> float:
        """A value as a recipe has it."""
        return int(value) if self.whole else float(f"{value:.{DIGITS}g}")


class Search(Strict):
    """A random search. `recipe`: what all draws share, a recipe without a name. `differs`: what is
    different from the paper."""

    name: Name
    title: str
    paper: str = ""
    differs: tuple[str, ...] = ()
    recipe: Part
    ranges: tuple[Range, ...] = Field(min_length=1)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a TOML file. Raises ConfigError that names the field that is wrong."""
        found = cls.parse(read_toml(path, "search"), source=str(path))
        for end in ("low", "high"):
            values = {one.field: one.fit(getattr(one, end)) for one in found.ranges}
            stop = found.recipe_with(values, str(path)).training.stop_on
            if stop != "held":
                expected = "expected 'held', for the development data must choose nothing"
                raise ConfigError(f"{path}: recipe.training.stop_on: {expected}; found {stop!r}")
        return found

    def draw(self, number: int, seed: int) -> dict[str, float]:
        """The values of a draw, from 1, by field; the same for the same number and seed."""
        generator = np.random.default_rng([seed, number])
        return {one.field: one.draw(generator) for one in self.ranges}

    def recipe_with(self, values: Mapping[str, float], source: str) -> Recipe:
        """The recipe with these values of fields. Raises ConfigError, led by `source`."""
        data = copy.deepcopy({"name": self.name, **self.recipe})
        for field, value in values.items():
            *sections, last = field.split(".")
            place: dict[str, Any] = data
            for section in sections:
                place = place.setdefault(section, {})
            place[last] = value
        return Recipe.parse(data, source=source)


@dataclass(frozen=True, slots=True)
class Draw:
    """One draw, and what came of it."""

    number: int
    values: dict[str, float]
    answer: Outcome | Failure

    @property
    def held(self) -> float:
        """The figure on the held-out tenth, after the epoch that is kept; -inf for a draw that
        failed."""
        held = self.answer.held if isinstance(self.answer, Outcome) else None
        return -math.inf if held is None else held


def search(file: Path, places: Places, runs: int, seed: int, console: Console) -> None:
    """Do `runs` draws of the search in `file`, those that are left, and write its report,
    `places.out`/NAME-search.json and .md, with the best first.

    A draw that fails, because its training diverges, is the last. Raises ThinstackError if all
    failed, InputError where another command works in the folder of its work, and what reading the
    files raises.
    """
    plan = Search.read(file)
    name = f"{plan.name}-search"
    with locked(places.work / name, option="--work"):
        drawn = {number: plan.draw(number, seed) for number in range(1, runs + 1)}
        jobs = _jobs(plan, drawn, places, seed, commit_of(file))
        answers = _work(jobs, places.jobs, console)
    draws = [Draw(number, values, answers[f"draw {number}"]) for number, values in drawn.items()]
    draws.sort(key=lambda draw: -draw.held)
    if isinstance(draws[0].answer, Failure):
        raise ThinstackError(f"all {runs} draws failed; the first: {draws[0].answer.reason}")
    words = [file.as_posix(), "--data", "DATA", "--runs", str(runs), "--seed", str(seed)]
    first = next(iter(jobs.values()))
    report = {
        **plan.model_dump(include={"title", "paper", "differs", "ranges"}),
        "draws": [_record(draw) for draw in draws],
        "data": data_digests(first.recipe, places.data),
        "command": shlex.join(["python", "-m", "reproduce", "search", *words]),
        "commit": commit_of(file),
        "versions": versions(),
    }
    places.out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(report, indent=1, allow_nan=False) + "\n"
    for ending, content in (("json", text), ("md", _page(plan, report))):
        write_atomically(places.out / f"{name}.{ending}", content)
        say(console, f"wrote {places.out / name}.{ending}")


def _jobs(
    plan: Search,
    drawn: Mapping[int, Mapping[str, float]],
    places: Places,
    seed: int,
    commit: str | None,
) -> dict[str, Job]:
    jobs = {}
    for number, values in drawn.items():
        recipe = plan.recipe_with(values, f"{plan.name}: draw {number}")
        row = Row(name=f"draw-{seed}-{number}", title="")
        run = Run(row, "", recipe.training.seeds[0], recipe)
        folder = places.work / f"{plan.name}-search"
        jobs[f"draw {number}"] = job_of(run, data=places.data, folder=folder, commit=commit)
    return jobs


def _work(
    jobs: Mapping[str, Job], processes: int, console: Console
) -> dict[str, Outcome | Failure]:
    """What came of each job, now or before."""
    done = {name: finished(job) for name, job in jobs.items()}
    found: dict[str, Outcome | Failure] = {name: one for name, one in done.items() if one}
    say(console, f"{len(jobs)} draws, {len(found)} of them done before")

    def tell(name: str, answer: Outcome | Failure) -> None:
        found[name] = answer
        said = f"held out {answer.held:.2f}" if isinstance(answer, Outcome) else answer.reason
        say(console, f"{name}: {said}")

    left = {name: job for name, job in jobs.items() if name not in found}
    if left:
        each(attempt, left, processes=processes, threads=1, tell=tell)
    return found


def _record(draw: Draw) -> dict[str, Any]:
    """What the report says of a draw."""
    about: dict[str, Any] = {"draw": draw.number, "values": draw.values}
    if isinstance(draw.answer, Failure):
        return {**about, "held": None, "failed": draw.answer.reason}
    found = draw.answer
    return {**about, "held": found.held, "epoch": found.epoch, "seconds": found.seconds}


def _page(plan: Search, report: Mapping[str, Any]) -> str:
    """The report as Markdown."""
    fields = [one.field for one in plan.ranges]
    rows = [["draw", "held out", *(f"`{field}`" for field in fields), "epoch", "seconds"]]
    rows += [["---", *["---:"] * (len(rows[0]) - 1)]]
    for one in report["draws"]:
        values = (f"{one['values'][field]:g}" for field in fields)
        figures = ("failed", "-", "-")
        if one["held"] is not None:
            figures = f"{one['held']:.2f}", str(one["epoch"]), f"{one['seconds']:.0f}"
        rows.append([str(one["draw"]), figures[0], *values, *figures[1:]])
    known = ("-" if one.paper is None else f"{one.paper:g}" for one in plan.ranges)
    ends = (f"{one.low:g} to {one.high:g}, {one.strategy}" for one in plan.ranges)
    rows += [["range", "", *ends, "", ""], ["paper", "", *known, "", ""]]
    data = ", ".join(f"`{name}` {digest[:12]}" for name, digest in report["data"].items())
    packages = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    about = [
        *plan.differs,
        f"Command: `{report['command']}`. Commit: {report['commit']}; {packages}.",
        f"Data, SHA-256: {data}.",
    ]
    parts = [
        f"# {plan.title}",
        f"Settings drawn at random, the best on held-out data first. Last rows: {plan.paper}.",
        "\n".join(f"| {' | '.join(row)} |" for row in rows),
        "\n".join(f"- {line}" for line in about),
    ]
    return "\n\n".join(parts) + "\n"
