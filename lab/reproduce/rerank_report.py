"""What came of a reranking, in the form of a table's report: rows are the parser and the
rankers."""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from reproduce.bootstrap import interval
from reproduce.candidates import span_f1
from reproduce.cases import Cases
from reproduce.report import SCHEMA_VERSION, spread
from reproduce.rerank_run import ALONE, BEFORE, ORACLE, Job, Outcome, cases_file
from reproduce.reranking import Reranking

F1, BY_ITSELF = "f1", "alone"
PARSER = "SPINN's parser"

Done = Sequence[tuple[Job, Outcome]]


def build(plan: Reranking, done: Done, digests: Mapping[str, str]) -> dict[str, Any]:
    """The report, fit for JSON, of the seeds `done`; `digests` are of the data files."""
    paper = {F1: plan.paper_before, ORACLE: plan.paper_oracle}
    columns = {F1: "F1", BY_ITSELF: "F1, without the parser", ORACLE: f"oracle of {plan.k}"}
    return {
        "schema_version": SCHEMA_VERSION,
        "table": plan.name,
        "title": plan.title,
        "paper": plan.paper,
        "complete": [job.seed for job, _ in done] == list(plan.seeds),
        "missing": {},
        "differs": list(plan.differs),
        "k": plan.k,
        "sentences": done[0][1].sentences,
        "columns": [
            {"key": key, "title": title, "digits": 2, "best": "highest"}
            for key, title in columns.items()
        ],
        "rows": [
            _row(BEFORE, PARSER, done, {F1: BEFORE, ORACLE: ORACLE}, paper, digests),
            *(
                _row(
                    row.name,
                    row.title,
                    done,
                    {F1: row.name, BY_ITSELF: row.name + ALONE},
                    {BY_ITSELF: row.paper},
                    digests,
                )
                for row in plan.rows
            ),
        ],
        "comparisons": [
            _comparison(plan, a, b, key, done) for key in (F1, BY_ITSELF) for a, b in _pairs(plan)
        ],
        "curves": {},
    }


def _row(
    name: str,
    title: str,
    done: Done,
    choices: Mapping[str, str],
    paper: Mapping[str, float | None],
    digests: Mapping[str, str],
) -> dict[str, Any]:
    """A row whose columns show the figures of these choices."""
    (job, first), outcomes = done[0], [outcome for _, outcome in done]
    found = {
        key: spread([one.figures[choice] for one in outcomes]) for key, choice in choices.items()
    }
    run = {
        "variant": "",
        "split": "development",
        "reported_on": job.plan.parser_recipe().data.reported,
        "data": dict(digests),
        "recipe": first.digest,
        "seeds": [one.seed for one in outcomes],
        "seconds": statistics.fmean(one.seconds[name] for one in outcomes),
        "commits": sorted({one.commit for one in outcomes if one.commit is not None}),
    }
    if name != BEFORE:
        run["epochs"] = [one.epochs[name] for one in outcomes]
        run["weights"] = [one.weights[name] for one in outcomes]
    return {
        "name": name,
        "title": title,
        "source": "",
        "differs": "",
        "paper": {key: value for key, value in paper.items() if value is not None},
        "paper_std": {},
        "figures": dict.fromkeys((F1, BY_ITSELF, ORACLE)) | found,
        "held": spread([one.held[choices[F1]] for one in outcomes]),
        "parameters": {"encoder": first.parameters[name]},
        "runs": [run],
    }


def _pairs(plan: Reranking) -> list[tuple[str, str]]:
    """Each ranker and the parser, then each ranker and the one before it."""
    names = [row.name for row in plan.rows]
    return [*((name, BEFORE) for name in names), *zip(names[1:], names, strict=False)]


def _comparison(plan: Reranking, a: str, b: str, key: str, done: Done) -> dict[str, Any]:
    """Row `a` less row `b`, with the parser's probability or without it. The error over seeds is
    that of their differences, for both choose from the same candidates. The papers' rankers are
    without it."""
    choices = [_choice(name, key) for name in (a, b)]
    less = [one.figures[choices[0]] - one.figures[choices[1]] for _, one in done]
    first, second = ([Cases.load(cases_file(job, one)) for job, _ in done] for one in choices)
    return {
        "a": a,
        "b": b,
        "key": key,
        "difference": statistics.fmean(less),
        "seeds": less,
        "error": statistics.stdev(less) / math.sqrt(len(less)) if len(less) > 1 else None,
        "examples_error": None,
        "interval": interval(first, second, span_f1),
        "likelihood": None,
        "paper": _difference_of_papers(plan, a, b) if key == BY_ITSELF else None,
    }


def _choice(name: str, key: str) -> str:
    """What a row chose, as `Outcome` names it. The parser is the same in both columns."""
    return name + ALONE if key == BY_ITSELF and name != BEFORE else name


def _difference_of_papers(plan: Reranking, a: str, b: str) -> float | None:
    printed = {BEFORE: plan.paper_before, **{row.name: row.paper for row in plan.rows}}
    first, second = printed[a], printed[b]
    return None if first is None or second is None else first - second
