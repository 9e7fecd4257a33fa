"""A seed of a reranking: the parsers of the folds, the candidates, the rankers, and the figures."""

import hashlib
import json
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reproduce.attempts import ERROR, Failure, attempted
from reproduce.beam import k_best
from reproduce.candidates import Ranked, by_score, cases_of, most_probable, oracles, span_f1
from reproduce.ranker import choose_weight, scores_of, train_ranker
from reproduce.reranking import RankerRow, Reranking
from thinstack._version import __version__
from thinstack.core.model.model import Model
from thinstack.data.files.writing import write_atomically
from thinstack.errors import DataError
from thinstack.plugins.build import build_model
from thinstack.training.examples.datasets import Datasets, load_datasets
from thinstack.training.examples.example import Example
from thinstack.training.examples.inputs import data_digests
from thinstack.training.loop.seeds import train_seed

RESULT, NOTE = "result.json", "digest.txt"
BEFORE, ORACLE, ALONE = "before", "oracle", "-alone"


@dataclass(frozen=True, slots=True)
class Job:
    """A seed and where it is done. `digest` is of all that its figures depend on but the seed;
    `commit` is noted with them."""

    plan: Reranking
    seed: int
    data: Path
    folder: Path
    digest: str
    commit: str | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a seed: F1 of each choice ("before", "oracle", a row, a row by itself), and the
    same of the sentences that were `held` out; the `weights` and kept `epochs` of the rows; the
    `parameters` of their encoders, and the processor's `seconds`, of the rows and of the parsers
    ("before"); how many `sentences` there were."""

    digest: str
    commit: str | None
    seed: int
    figures: dict[str, float]
    held: dict[str, float]
    weights: dict[str, float]
    epochs: dict[str, int]
    parameters: dict[str, int]
    sentences: dict[str, int]
    seconds: dict[str, float]


def job_of(plan: Reranking, seed: int, data: Path, work: Path, commit: str | None) -> Job:
    """The job of a seed, in `work`/SEED. Raises DataError for a data file that cannot be read."""
    said = plan.model_dump(mode="json", exclude={"title", "paper", "differs", "seeds"})
    parts = [said, data_digests(plan.parser_recipe(), data), __version__]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    return Job(plan, seed, data, work / str(seed), digest, commit)


def finished(job: Job) -> Outcome | None:
    """What came of a job, if it was done before and its cases are still there."""
    with suppress(OSError, ValueError, TypeError):
        outcome = Outcome(**json.loads((job.folder / RESULT).read_text(encoding="utf-8")))
        files = [cases_file(job, choice) for choice in outcome.figures]
        if outcome.digest == job.digest and all(file.is_file() for file in files):
            return outcome
    return None


def cases_file(job: Job, choice: str) -> Path:
    """Where the development sentences are, with what one choice had right."""
    return job.folder / f"cases-{choice}.npz"


def attempt(job: Job) -> Outcome | Failure:
    """`run_job`, with any error as a value."""
    return attempted(lambda: run_job(job), job.folder)


def run_job(job: Job) -> Outcome:
    """Do a job, or return what came of it before. Parsers that are trained already are taken from
    their checkpoints; what a job of another digest left is deleted first. Raises what training and
    reading data raise."""
    if (outcome := finished(job)) is not None:
        return outcome
    started = time.process_time()
    _claim(job)
    datasets = load_datasets(job.plan.parser_recipe(), job.data)
    asked = _ask(job, datasets)
    seconds = {BEFORE: time.process_time() - started}
    found, rows = _parsers_choices(asked), dict[str, _Trained]()
    for row in job.plan.rows:
        started = time.process_time()
        rows[row.name], own = _rank(job, row, datasets.table, asked)
        found |= own
        seconds[row.name] = time.process_time() - started
    for name, choice in found.items():
        cases_of(asked.dev, choice.dev).save(cases_file(job, name))
    outcome = _outcome(job, asked, found, rows, seconds)
    write_atomically(job.folder / RESULT, json.dumps(asdict(outcome), indent=1) + "\n")
    for folder in job.folder.glob("parser-*"):
        shutil.rmtree(folder)
    (job.folder / ERROR).unlink(missing_ok=True)
    return outcome


def _claim(job: Job) -> None:
    note = job.folder / NOTE
    if not (note.is_file() and note.read_text(encoding="utf-8") == job.digest):
        shutil.rmtree(job.folder, ignore_errors=True)
        job.folder.mkdir(parents=True)
        write_atomically(note, job.digest)


class _Asked(NamedTuple):
    """Sentences to train rankers on, held out, and to report on."""

    train: list[Ranked]
    held: list[Ranked]
    dev: list[Ranked]


class _Choice(NamedTuple):
    """The chosen candidate of each sentence."""

    held: list[int]
    dev: list[int]


class _Trained(NamedTuple):
    weight: float
    epoch: int
    parameters: int


def _outcome(
    job: Job,
    asked: _Asked,
    found: Mapping[str, _Choice],
    rows: Mapping[str, _Trained],
    seconds: dict[str, float],
) -> Outcome:
    parser = build_model(job.plan.parser_recipe().model, entries=1)
    return Outcome(
        job.digest,
        job.commit,
        job.seed,
        figures={name: _f1(asked.dev, choice.dev) for name, choice in found.items()},
        held={name: _f1(asked.held, choice.held) for name, choice in found.items()},
        weights={name: row.weight for name, row in rows.items()},
        epochs={name: row.epoch for name, row in rows.items()},
        parameters={name: row.parameters for name, row in rows.items()}
        | {BEFORE: _encoder_size(parser)},
        sentences={name: len(part) for name, part in asked._asdict().items()},
        seconds=seconds,
    )


def _ask(job: Job, datasets: Datasets) -> _Asked:
    """All sentences with their candidates. Of the training sentences, as many of each fold are held
    out."""
    every, plan = datasets.train, job.plan
    count = min(plan.sentences or len(every), len(every))
    examples = [every[place * len(every) // count] for place in range(count)]
    found = _Asked([], [], _ranked(job, datasets, examples, datasets.dev, "all"))
    for place, one in enumerate(_of_folds(job, datasets, examples)):
        aside = place // plan.folds % plan.held == 0
        (found.held if aside else found.train).append(one)
    return found


def _of_folds(job: Job, datasets: Datasets, examples: Sequence[Example]) -> list[Ranked]:
    """Each example with candidates of a parser that has not seen it."""
    found: dict[int, Ranked] = {}
    for fold in range(job.plan.folds):
        own = range(fold, len(examples), job.plan.folds)
        others = [one for place, one in enumerate(examples) if place % job.plan.folds != fold]
        ranked = _ranked(job, datasets, others, [examples[place] for place in own], str(fold))
        found |= dict(zip(own, ranked, strict=True))
    return [found[place] for place in range(len(examples))]


def _ranked(
    job: Job, datasets: Datasets, train: list[Example], asked: Sequence[Example], name: str
) -> list[Ranked]:
    """The examples `asked`, with candidates of a parser trained on others."""
    folder = job.folder / f"parser-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    part = replace(datasets, train=train)
    model, _ = train_seed(job.plan.parser_recipe(), part, job.seed, folder)
    candidates = k_best(model.cpu().eval(), asked, job.plan.k)
    return [Ranked.of(*pair) for pair in zip(asked, candidates, strict=True)]


def _parsers_choices(asked: _Asked) -> dict[str, _Choice]:
    """What the parser likes best, and the best that there is."""
    return {
        BEFORE: _Choice(most_probable(asked.held), most_probable(asked.dev)),
        ORACLE: _Choice(oracles(asked.held), oracles(asked.dev)),
    }


def _rank(
    job: Job, row: RankerRow, table: NDArray[np.float32], asked: _Asked
) -> tuple[_Trained, dict[str, _Choice]]:
    """Train a ranker, and choose with the parser and by the ranker alone."""
    recipe = job.plan.ranker_recipe(row)
    model, figures = train_ranker(recipe, table, *asked[:2], job.plan.kappa, job.seed)
    held, dev = (scores_of(model, part) for part in (asked.held, asked.dev))
    weight = choose_weight(asked.held, held)
    choices = {
        name: _Choice(by_score(asked.held, held, share), by_score(asked.dev, dev, share))
        for name, share in ((row.name, weight), (row.name + ALONE, np.inf))
    }
    return _Trained(weight, 1 + int(np.argmax(figures)), _encoder_size(model)), choices


def _encoder_size(model: Model) -> int:
    return sum(one.numel() for one in model.get_submodule("encoder").parameters())


def _f1(sentences: Sequence[Ranked], places: Sequence[int]) -> float:
    found = span_f1(cases_of(sentences, places))
    if found is None:
        raise DataError("expected sentences of three words or more to measure on, found none")
    return found
