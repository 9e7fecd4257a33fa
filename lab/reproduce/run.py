"""One run of a table: a seed of a row is trained and measured, and what came of it is kept."""

import hashlib
import json
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from reproduce.attempts import ERROR, Failure, attempted
from reproduce.cases import Cases
from reproduce.learning import AS_RECIPES, Learning
from reproduce.marks import Marks, marks_of
from reproduce.parser import PARSERS, dependency_trees, train_parser
from reproduce.provenance import recipe_digest
from reproduce.rivals import run_rival
from reproduce.shown import TRAIN_ACCURACY
from reproduce.table import Parser, Run
from reproduce.target_sizes import target_sizes
from thinstack._version import __version__
from thinstack.core.model.model import Model
from thinstack.data.files.writing import write_atomically
from thinstack.errors import DataError
from thinstack.training.examples.datasets import Datasets, load_datasets
from thinstack.training.examples.inputs import Inputs, data_digests
from thinstack.training.loop.seeds import run_seed
from thinstack.training.recipe import Recipe
from thinstack_lab.tree_pairs import source_tables

RESULT, NOTE = "result.json", "digest.txt"
CHECKPOINTS = ("checkpoint.safetensors", "metrics.jsonl")


@dataclass(frozen=True, slots=True)
class Job:
    """A run and where it is done. `digest` is of all that its figures depend on but the seed;
    `commit` is noted with them. `traced`: whose trees it is measured with after each epoch too;
    `on_train`: whose it is measured with on its training data. `learning`: how it is trained beside
    what its recipe says."""

    recipe: Recipe
    rival: str | None
    parser: Parser | None
    seed: int
    data: Path
    folder: Path
    digest: str
    commit: str | None
    traced: str | None = None
    on_train: tuple[str, ...] = ()
    learning: Learning = AS_RECIPES


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run: `figures` on the development data by tree source, the `epoch` kept (None
    for a rival) of how many `epochs`, the `seconds` they took without measuring, the number of
    parameters: of the "encoder", and of the "model" without its leaf table. `trace`: the `seconds`
    of each epoch of a traced run, and the figures after it. `held`: the figure that chose the
    epoch, on what was watched, as a mean over the sources of trees; None where nothing was."""

    digest: str
    commit: str | None
    seed: int
    figures: dict[str, dict[str, float | None]]
    epoch: int | None
    epochs: int
    seconds: float
    parameters: dict[str, int]
    trace: list[dict[str, float | None]] = field(default_factory=list)
    held: float | None = None


def job_of(run: Run, *, data: Path, folder: Path, commit: str | None) -> Job:
    """The job of a run, in `folder`/ROW[/VARIANT]/SEED. Raises DataError for a data file that
    cannot be read."""
    row = run.row
    traced = row.trees if run.traced else None
    recipe = recipe_digest(run.recipe, row.rival, run.learning)
    parts = [recipe, row.rival, digests_of(run, data), __version__]
    parts += [traced] if traced else []
    if run.on_train and row.rival is None:
        parts.append(" ".join((TRAIN_ACCURACY, *run.on_train)))
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    about = data, folder / run.path, digest, commit, traced, run.on_train, run.learning
    return Job(run.recipe, row.rival, row.parser, run.seed, *about)


def digests_of(run: Run, data: Path) -> dict[str, str]:
    """The `data_digests` of a run's recipe, of the tables beside its folders, and of the files of
    its parser."""
    parser = run.row.parser
    of_parser = [parser.train, parser.dev] if parser else []
    return data_digests(run.recipe, data, *source_tables(run.recipe, data), *of_parser)


def finished(job: Job) -> Outcome | None:
    """What came of a job, if it was done before and its cases are still there."""
    with suppress(OSError, ValueError, TypeError):
        outcome = Outcome(**json.loads((job.folder / RESULT).read_text(encoding="utf-8")))
        files = [_cases_file(job, source) for source in outcome.figures if job.rival is None]
        if outcome.digest == job.digest and all(file.is_file() for file in files):
            return outcome
    return None


def taken_over(job: Job, work: Path) -> Outcome | None:
    """What came of the same job in another table of the folder `work`, copied to the job's own. One
    with damaged cases is passed over."""
    for result in sorted(work.glob(f"*/**/{job.seed}/{RESULT}")):
        other = replace(job, folder=result.parent)
        with suppress(DataError):
            if (outcome := finished(other)) is not None:
                for source in outcome.figures if job.rival is None else ():
                    cases_of(other, source).save(_cases_file(job, source))
                write_atomically(job.folder / RESULT, result.read_text(encoding="utf-8"))
                return outcome
    return None


def cases_of(job: Job, source: str) -> Cases:
    """What the trained model said of each development case, read with the trees of `source`. Raises
    DataError."""
    return Cases.load(_cases_file(job, source))


def _cases_file(job: Job, source: str) -> Path:
    return job.folder / f"cases-{source}.npz"


def attempt(job: Job) -> Outcome | Failure:
    """`run_one`, with any error as a value."""
    return attempted(lambda: run_one(job), job.folder)


def run_one(job: Job) -> Outcome:
    """Do a job, going on from its checkpoint, or return what came of it before. What a job of
    another digest left in the folder is deleted first. Raises what training and reading data
    raise."""
    if (outcome := finished(job)) is not None:
        return outcome
    _claim(job)
    outcome = _train(job) if job.rival is None else _run_rival(job, job.rival)
    write_atomically(job.folder / RESULT, json.dumps(asdict(outcome), indent=1) + "\n")
    tidy(job)
    return outcome


def tidy(job: Job) -> None:
    """Delete what a finished job needs no more; it may have been killed before it did."""
    _delete(job.folder, *CHECKPOINTS, ERROR)


def _claim(job: Job) -> None:
    note = job.folder / NOTE
    if not (note.is_file() and note.read_text(encoding="utf-8") == job.digest):
        cases = (path.name for path in job.folder.glob("cases-*.npz"))
        _delete(job.folder, RESULT, ERROR, NOTE, *CHECKPOINTS, *cases)
        write_atomically(note, job.digest)


def _delete(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).unlink(missing_ok=True)


def _train(job: Job) -> Outcome:
    datasets, marks = _datasets(job)
    with job.learning.prepared() as prepare:
        result = run_seed(job.recipe, datasets, job.seed, job.folder, prepare=prepare)
    for source, answers in result.answers.items():
        assert answers is not None
        sizes = target_sizes(datasets.items[1], datasets.dev, source, result.model.head.reads)
        cases = Cases.of(answers, sizes, marks.negated)
        cases.save(_cases_file(job, source))
        if result.dev[source].keys() >= {"accuracy", "pairs"}:
            result.dev[source] |= marks.figures(cases)
    for source in result.dev.keys() & job.on_train:
        result.dev[source][TRAIN_ACCURACY] = _train_accuracy(job, result.model, datasets, source)
    seconds, parameters = sum(at["seconds"] for at in result.history), _parameters(result.model)
    epochs = result.epoch, len(result.history)
    trace = [
        {"seconds": at["seconds"], **at["traced"][job.traced]}
        for at in result.history
        if job.traced is not None
    ]
    watched = result.history[result.epoch - 1]["watched"]
    held = result.selection / len(watched) if watched else None
    about = job.digest, job.commit, job.seed, result.dev
    return Outcome(*about, *epochs, seconds, parameters, trace, held)


def _train_accuracy(job: Job, model: Model, datasets: Datasets, source: str) -> float | None:
    """The accuracy on the examples that were learnt from, without those held out."""
    labels = job.recipe.model.labels
    figures, _ = job.recipe.task.measure(model, datasets.train, source, labels)
    return figures.get("accuracy", figures.get("root_accuracy"))


def _run_rival(job: Job, name: str) -> Outcome:
    started = time.perf_counter()
    figures: dict[str, float | None] = {**run_rival(name, job.recipe, job.data)}
    seconds, parameters = time.perf_counter() - started, int(figures.pop("parameters") or 0)
    found = {"gold": figures}
    return Outcome(job.digest, job.commit, job.seed, found, None, 0, seconds, {"model": parameters})


_last: dict[str, tuple[Datasets, Marks]] = {}


def _datasets(job: Job) -> tuple[Datasets, Marks]:
    """What the recipe trains on, and the marks of its development examples; it is kept for the next
    job of this process, which is often another seed of the recipe."""
    if job.digest not in _last:
        _last.clear()
        datasets = job.learning.datasets(load_datasets(job.recipe, _inputs(job)))
        if job.traced is not None:
            datasets = replace(datasets, traced={job.traced: datasets.dev})
        _last[job.digest] = datasets, marks_of(job.recipe, job.data)
    return _last[job.digest]


class _ParsedInputs(Inputs):
    """Treebanks whose trees a parser replaces by those of dependencies."""

    def __init__(self, job: Job, parser: Parser):
        super().__init__(job.data)
        self._parser = train_parser(job.data / parser.train, job.data / parser.dev, PARSERS)

    def items(self, file: str, recipe: Recipe) -> list[Any]:
        treebank = super().items(file, recipe)
        return dependency_trees(treebank, recipe.model.labels, self._parser)


def _inputs(job: Job) -> Inputs:
    return Inputs(job.data) if job.parser is None else _ParsedInputs(job, job.parser)


def _parameters(model: Model) -> dict[str, int]:
    encoder = sum(parameter.numel() for parameter in model.get_submodule("encoder").parameters())
    everything = sum(parameter.numel() for parameter in model.parameters())
    return {"encoder": encoder, "model": everything - model.embedding.table.numel()}
