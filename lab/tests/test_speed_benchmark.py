"""`lab/benchmarks/how_fast.py`, `contextual_speed.py` and `tables.py`: tables beside rivals."""

import json
import re
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer

FOLDER = Path(__file__).parents[1] / "benchmarks"
TREES = "(3 (2 A) (4 (4 wonderful) (2 film)))\n(1 Dull)\n(3 Good)\n"
TEXTS = ["A wonderful film", "Dull", "Good"]


@pytest.fixture(scope="module")
def modules():
    for name in ("transformers", "tokenizers"):
        pytest.importorskip(name)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        import beside_rivals
        import contextual_speed
        import how_fast

        yield how_fast, contextual_speed, beside_rivals


def test_every_subject_stands_beside_every_rival(modules, tmp_path, monkeypatch, capsys):
    _, module, rivals = modules
    (tmp_path / "sst").mkdir()
    (tmp_path / "sst/dev.txt").write_text(TREES, encoding="utf-8")
    read = []

    def lexicon(name):
        return lambda: rivals.Rival(name, "", "", lambda texts: read.append((name, texts)))

    def loaded(name, **settings):
        assert settings == {"threads": 1, "isolated": False}
        return SimpleNamespace(stream=lambda texts: (told(name, text) for text in texts))

    def told(name, text):
        read.append((name, text))
        return SimpleNamespace(polarity=0.0)

    def plain(folder, model, texts, *, by_length):
        return lambda _: read.append(("sorted" if by_length else "in order", texts))

    monkeypatch.setattr(module, "vader", lexicon("VADER"))
    monkeypatch.setattr(module, "textblob", lexicon("TextBlob"))
    monkeypatch.setattr(module, "exported", lambda folder: b"")
    monkeypatch.setattr(module, "plain", plain)
    monkeypatch.setattr(module, "thinstack", SimpleNamespace(load=loaded))
    monkeypatch.setattr(module, "BATCH", 2)
    options = {"encoder": Path("mini"), "lexicons": True, "rounds": 1}
    module.main(tmp_path, ["one", "2=two"], **options, as_json=True)
    found = json.loads(capsys.readouterr().out)
    subjects = [f"{name}, {size} a call" for name in ("one", "2") for size in (2, 3, 1)]
    rows = [f"mini, 8 bits, {order}" for order in ("sorted", "in order")]
    rows += ["VADER", "TextBlob"]
    assert [*found] == subjects + rows
    assert all([*each["times_as_fast"]] == [subjects[0], *rows] for each in found.values())
    assert found["VADER"]["times_as_fast"]["VADER"] == 1
    # All texts, once to warm up and once to be timed.
    for name in ("VADER", "TextBlob", "sorted", "in order"):
        assert read.count((name, TEXTS)) == 2
    for name in ("one", "two"):
        assert [read.count((name, text)) for text in TEXTS] == [6] * 3


def test_the_rivals_have_their_speed_beside_them(modules):
    seconds = {"ours": [1.0, 2.0, 4.0], "VADER": [0.5, 0.5, 0.5]}
    found = modules[1].compared(seconds, 100, ["VADER"])
    assert found["ours"] == {"sentences_per_s": 50, "times_as_fast": {"VADER": 0.25}}
    assert found["VADER"] == {"sentences_per_s": 200, "times_as_fast": {"VADER": 1}}


def test_the_order_of_batches(modules, monkeypatch):
    """Sorted by their pieces, or as they came."""
    module, fed = modules[1], []
    session = SimpleNamespace(run=lambda _, feeds: fed.append(feeds["mask"].sum(1).tolist()))
    monkeypatch.setattr(
        module, "Pieces", lambda folder: lambda texts: [[1] * each for each in texts]
    )
    monkeypatch.setattr(module.onnxruntime, "InferenceSession", lambda *_: session)
    monkeypatch.setattr(module, "BATCH", 2)
    for by_length in (True, False):
        module.plain(Path("mini"), b"", [3, 1, 2], by_length=by_length)(0)
    assert fed == [[1, 2], [3], [3, 1], [2]]


def test_the_one_command_runs_what_is_there(modules):
    module = modules[0]
    made = module.benchmarks("old")
    assert all((FOLDER / script).is_file() for _, (script, *_) in made)
    assert ("own_parse.py", "old", "sentiment") in [command for _, command in made]
    ((script, *given),) = [command for _, command in made if "--lexicons" in command]
    assert script == "contextual_speed.py"
    models = [value for name, value in pairwise(given) if name == "--model"]
    names, paths = zip(*(named.split("=") for named in models), strict=True)
    assert names == ("sentiment", "sentiment-context")
    assert paths[0] == "sentiment"
    assert (FOLDER.parents[1] / paths[1] / "manifest.json").is_file()


def test_a_table_says_its_command_its_machine_and_its_day(modules, tmp_path, monkeypatch):
    module = modules[0]
    (tmp_path / "one.py").write_text("import sys; print('', *sys.argv[1:], ' ')\n")
    (tmp_path / "bad.py").write_text("raise SystemExit('no such trees')\n")
    monkeypatch.setattr(module, "HERE", tmp_path)
    given = ("--encoder", "DATA/encoders/mini", "--data", "DATA")
    table = module.output_of(Path("/my data"), "one.py", given)
    assert table == " --encoder /my data/encoders/mini --data /my data"
    today = datetime.now(UTC).date()
    title, command, made, shown = module.section("One", "one.py", given, table).split("\n\n")
    assert title == "## One"
    assert command == "`python lab/benchmarks/one.py --encoder DATA/encoders/mini --data DATA`"
    assert re.fullmatch(rf"\d+ cores of \S.*, {today}", made)
    assert shown == f"```\n{table}\n```"
    with pytest.raises(typer.Exit) as ended:
        module.output_of(Path("/my data"), "bad.py", ())
    assert ended.value.exit_code == 1


def test_a_table_is_trained_beside_a_linear_model(monkeypatch, tmp_path, capsys):
    monkeypatch.syspath_prepend(FOLDER)
    import tables

    (tmp_path / "trec").mkdir()
    (tmp_path / "domains").mkdir()
    questions = [("Who ran ?", "HUM"), ("Where was it ?", "LOC")]
    for file, text, label in (
        ("trec/trec_train.jsonl", "sentence", "label"),
        ("domains/alexa-reviews.jsonl", "text", "stars"),
    ):
        rows = [json.dumps({text: one, label: of}) + "\n" for one, of in questions]
        (tmp_path / file).write_text("".join(rows) * 2726)
    sizes = {name: [*map(len, rows)] for name, rows in tables.tables_of(tmp_path).items()}
    assert [*sizes] == [*tables.TARGETS]
    assert [*sizes.values()] == [[600, 452], [2000, 3452], [5000, 452]]
    monkeypatch.setattr(tables, "trained", lambda train, test: float(len(train.read_text())))
    tables.main(tmp_path, only=["600 questions"], as_json=True)
    (found,) = json.loads(capsys.readouterr().out)
    lines = sum(len(json.dumps({"text": one, "label": of})) + 1 for one, of in questions)
    assert (found["accuracy"], found["linear_accuracy"]) == (300 * lines, 100)
