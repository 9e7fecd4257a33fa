"""What `benchmarks/corpus_kills.py` finds wrong: it is a check, and has to fail where a row is
lost."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from thinstack.integrations.corpora.inputs import open_corpus
from thinstack.integrations.corpora.rows import Columns

FOLDER = Path(__file__).parents[2] / "benchmarks"
TEXTS = ["good", "a bad film", "so so"]


@pytest.fixture(scope="module")
def modules() -> Iterator[tuple[ModuleType, ModuleType]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        import corpus_kills
        import corpus_rows

        yield corpus_kills, corpus_rows


def test_broken_rows_have_the_problems_that_are_expected(
    modules: tuple[ModuleType, ...], tmp_path: Path
) -> None:
    path = tmp_path / "rows.jsonl"
    broken = modules[1].write_json_lines(path, TEXTS, 50, poison=0.2, seed=1)
    assert Counter(broken.values()) == dict.fromkeys(modules[1].POISON, 2)
    rows = list(open_corpus(path, Columns("text", "id")).rows())
    assert [row.id for row in rows] == [f"r{number}" for number in range(50)]
    for row in rows:
        kind = broken.get(str(row.id))
        assert (row.problem and row.problem.kind) == (kind and modules[1].POISON[kind])
    long = [len(row.text) for row in rows if broken.get(str(row.id)) == "megabyte"]
    assert long == [1 << 20] * 2
    assert {row.text for row in rows if row.id not in broken} == set(TEXTS)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param([], [], id="all is well"),
        pytest.param(["r1"], ["2 ids of 3"], id="a row is lost"),
        pytest.param(["r2 error"], ["1 errors differ", "2 ids of 3"], id="an error is lost"),
        pytest.param(["+r1"], ["r1: in two shards"], id="a row is there twice"),
        pytest.param(["+r2"], ["r2: no label", "r2: in rows and errors"], id="both"),
    ],
)
def test_what_is_lost_or_doubled_is_found(
    modules: tuple[ModuleType, ...], tmp_path: Path, change: list[str], expected: list[str]
) -> None:
    rows = [{"id": f"r{number}", "label": "x"} for number in range(2) if f"r{number}" not in change]
    more = [{"id": each[1:], "label": None} for each in change if each.startswith("+")]
    errors = [] if "r2 error" in change else [{"id": "r2", "kind": "missing"}]
    (tmp_path / "errors").mkdir()
    parts = {"part-000000": rows, "part-000001": more, "errors/part-000000": errors}
    for name, lines in parts.items():
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        (tmp_path / f"{name}.jsonl").write_text(text)
    assert modules[0].faults(tmp_path, 3, {"r2": "null"}) == expected
