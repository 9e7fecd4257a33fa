"""`thinstack report` and `thinstack.report`: from tables to reports."""

import json
import warnings
from collections import Counter

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from aspect_models import write_aspect_bundle
from last_word_model import write_last_word_bundle

import thinstack
from thinstack.bundle import opening
from thinstack.errors import DataError, InputError, NoMentionWarning
from thinstack.integrations.report import frames
from thinstack.integrations.report.entries import MOST_GROUPS

ROWS = [
    ("A good battery! The staff is awful.", "North", "2024-01-09"),
    ("batterys good", "South", "2024-02-01"),
    ("", "South", "2024-02-02"),
    ("a good screen, good staff, awful staff", None, "soon"),
    ("so good", "North", "2024-03-09"),
    (":", "North", "2024-03-09"),
    ("Это совсем не английский текст", "North", "2024-03-10"),
]
COLUMNS = ["review", "store", "day"]
AS_A_TABLE = ("--text-column", "review", "--by", "store", "--over", "day", "--min-mentions", "1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_aspect_bundle(tmp_path_factory.mktemp("model") / "aspects").path


@pytest.fixture(scope="module")
def model(folder):
    return thinstack.load(folder, threads=1)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "reviews.csv"
    pd.DataFrame(ROWS, columns=COLUMNS).to_csv(path, index=False)
    return path


@pytest.fixture
def made(cli, folder, table, tmp_path):
    """Calls the command, and gives the report as data."""

    def call(*options, source=table, model=("--model", folder)):
        out = tmp_path / "made.json"
        answer = cli("report", source, "--out", out, *model, *options)
        assert answer.code == 0, answer.err
        assert answer.err.endswith(f"the report is in {out}\n")
        return json.loads(out.read_text(encoding="utf-8"))

    return call


def counted(model, texts, about=()):
    """The sides of each term, as a count of the results says."""
    found = {}
    for result in model(texts):
        own = {}
        for each in result.about(*about) if about else result.aspects:
            side = {"negative": -1, "neutral": 0, "positive": 1}[each.label]
            own.setdefault(each.asked or each.text.lower(), []).append(side)
        for term, sides in own.items():
            total = sum(sides)
            side = "positive" if total > 0 else "negative" if total < 0 else "neutral"
            found.setdefault(term, Counter())[side] += 1
    return found


def sides_of(data):
    sides = ("negative", "neutral", "positive")
    return {
        each["term"]: Counter({side: each[side] for side in sides if each[side]})
        for each in data["aspects"]
    }


def test_from_a_table_to_figures(made, model):
    data = made(*AS_A_TABLE)
    texts = [text for text, *_ in ROWS if text and text != ":" and text.isascii()]
    assert (data["rows"], data["texts"]) == (len(ROWS), len(texts))
    assert sides_of(data) == counted(model, texts)
    assert data["source"] == "reviews.csv"
    assert data["model"] == "aspects"
    assert {each["group"]: each["texts"] for each in data["by"]["groups"]} == {
        "North": 2,
        "South": 1,
    }
    assert data["over"]["unit"] == "week"
    assert sum(each["texts"] for each in data["over"]["periods"]) == 3
    unread = {each["kind"]: each for each in data["unread"]}
    assert {kind: each["rows"] for kind, each in unread.items()} == {
        "empty": 2,
        "language": 1,
        "group": 1,
        "date": 1,
    }
    assert unread["date"]["examples"] == [{"place": "line 5", "reason": "'soon'"}]
    assert unread["empty"]["examples"][0]["place"] == "line 4"


def test_terms_that_are_named(made, model, cli, table, tmp_path):
    about = ("battery", "staff|screen", "parking")
    options = [option for term in about for option in ("--about", term)]
    warnings.simplefilter("always", NoMentionWarning)
    data = made("--text-column", "review", *options)
    texts = [text for text, *_ in ROWS if text and text.isascii()]
    expected = counted(model, texts, about)
    assert sides_of(data) == {term: expected.get(term, Counter()) for term in about}
    assert data["about"] == list(about)
    out = tmp_path / "climb.html"
    answer = cli("report", table, "--text-column", "review", *options, "--out", out)
    assert answer.code == 0
    assert "'parking'" in answer.err
    page = out.read_text(encoding="utf-8")
    assert "read by the model sentiment" in page
    assert "staff / screen" in page


@pytest.mark.parametrize("ending", ["csv", "json", "html", "HTM"])
def test_the_ending_tells_the_format(cli, folder, table, tmp_path, ending):
    out = tmp_path / f"report.{ending}"
    out.write_text("old")
    common = ("report", table, *AS_A_TABLE, "--model", folder)
    assert cli(*common, "--out", out).code == 0
    start = {"csv": "aspect,group,", "json": "{"}.get(ending, "<!DOCTYPE html>")
    content = out.read_text(encoding="utf-8")
    assert content.startswith(start)
    other = tmp_path / "report.txt"
    kind = ending.lower().replace("htm", "html").replace("htmll", "html")
    assert cli(*common, "--out", other, "--format", kind).code == 0
    assert other.read_text(encoding="utf-8") == content


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "tsv", "csv.gz", "folder"])
def test_other_tables_say_the_same(made, table, tmp_path, kind):
    data = pd.DataFrame(ROWS, columns=COLUMNS)
    source = tmp_path / f"reviews.{kind}"
    if kind == "jsonl":
        data.to_json(source, orient="records", lines=True)
    elif kind == "parquet":
        data["day"] = pd.to_datetime(data["day"], errors="coerce")
        data.to_parquet(source)
    elif kind == "folder":
        source.mkdir()
        data[:3].to_csv(source / "a.csv", index=False)
        data[3:].to_csv(source / "b.csv", index=False)
    else:
        data.to_csv(source, index=False, sep="\t" if kind == "tsv" else ",")
    plain, other = made(*AS_A_TABLE), made(*AS_A_TABLE, source=source)
    for each in (plain, other):
        each.pop("source")
        for unread in each["unread"]:
            unread.pop("examples")
        for aspect in each["aspects"]:
            for quote in aspect["quotes"]:
                quote.pop("place")
    assert other == plain


def test_a_frame_says_the_same(made, model):
    plain = made(*AS_A_TABLE)
    frame = pd.DataFrame(ROWS, columns=COLUMNS)
    options = {"text": "review", "by": "store", "over": "day", "min_mentions": 1, "model": model}
    for each in (frame, pl.DataFrame(ROWS, COLUMNS, orient="row"), pa.Table.from_pandas(frame)):
        data = thinstack.report(each, **options).to_dict()
        assert data["aspects"][0]["quotes"][0]["place"].startswith("row ")
        for name in ("texts", "rows", "positive", "polarity", "by", "over"):
            assert data[name] == plain[name]
        assert sides_of(data) == sides_of(plain)
        assert [each["rows"] for each in data["unread"]] == [
            each["rows"] for each in plain["unread"]
        ]


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_scored_rows_say_the_same(made, cli, folder, table, tmp_path, form):
    out = tmp_path / "scored"
    run = ("predict", "--input", table, "--text", "review", "--output", "aspects", "--jobs", "0")
    assert cli(*run, "--out", out, "--format", form, "--model", folder).code == 0
    plain = made(*AS_A_TABLE)
    alone = made("--min-mentions", "1", source=out, model=())
    assert sides_of(alone) == sides_of(plain)
    assert alone["sides_of_mentions"] is True
    assert [each["said"] for each in alone["aspects"]] == [
        each["said"] for each in plain["aspects"]
    ]
    assert not any(each["quotes"] for each in alone["aspects"])
    both = ("--texts", table, "--by", "store", "--over", "day", "--min-mentions", "1")
    joined = made(*both, source=out, model=())
    for found, known in zip(joined["aspects"], plain["aspects"], strict=True):
        assert found["quotes"] == known["quotes"]
        for name in ("term", "groups", "periods", "mentions", "names"):
            assert json.dumps(found[name])[:60] == json.dumps(known[name])[:60]
            if name in ("term", "mentions", "names"):
                assert found[name] == known[name]
        counts = [each["texts"] for each in found["groups"]]
        assert counts == [each["texts"] for each in known["groups"]]
    kinds = {each["kind"]: each["rows"] for each in joined["unread"]}
    assert kinds == {"empty": 1, "group": 1, "date": 1}


def test_ids_join_scored_rows_to_their_texts(made, cli, folder, tmp_path):
    table, out = tmp_path / "ids.csv", tmp_path / "scored"
    frame = pd.DataFrame(ROWS, columns=COLUMNS).assign(key=[f"k{n}" for n in range(len(ROWS))])
    frame.to_csv(table, index=False)
    run = ("predict", "--input", table, "--text", "review", "--id", "key", "--output", "aspects")
    assert cli(*run, "--jobs", "0", "--out", out, "--model", folder).code == 0
    data = made("--texts", table, "--min-mentions", "1", source=out, model=())
    assert all(each["quotes"] for each in data["aspects"])
    frame[::-1].to_csv(table, index=False)
    answer = cli("report", out, "--texts", table, "--out", tmp_path / "x.html")
    assert (answer.code, "expected the table that was scored" in answer.err) == (2, True)
    frame.assign(review="other text of a length").to_csv(table, index=False)
    answer = cli("report", out, "--texts", table, "--out", tmp_path / "x.html")
    assert (answer.code, "expected the text that was scored" in answer.err) == (2, True)


def test_texts_of_one_id_stay_apart(made, cli, folder, tmp_path):
    table, out = tmp_path / "ids.csv", tmp_path / "scored"
    texts = ["good battery", "awful staff", "so good", "good battery and battery", "battery good"]
    pd.DataFrame({"text": texts, "key": "same"}).to_csv(table, index=False)
    run = ("predict", "--input", table, "--id", "key", "--output", "aspects", "--jobs", "0")
    assert cli(*run, "--allow-repeated-ids", "--out", out, "--model", folder).code == 0
    data = made("--min-mentions", "1", source=out, model=())
    plain = made("--min-mentions", "1", source=table)
    assert (data["texts"], sides_of(data)) == (5, sides_of(plain))
    assert made("--texts", table, source=out, model=())["texts"] == 5


def test_groups_of_few_rows_are_counted_together(made, cli, folder, tmp_path):
    table = tmp_path / "many.csv"
    stores = [f"store {number:02d}" for number in range(MOST_GROUPS + 5)]
    stores += stores[5:]
    pd.DataFrame({"text": "good battery", "store": stores}).to_csv(table, index=False)
    data = made("--by", "store", source=table)["by"]
    assert [each["group"] for each in data["groups"]] == stores[5 : MOST_GROUPS + 5]
    assert data["others"] == 5
    out = tmp_path / "many.html"
    assert cli("report", table, "--by", "store", "--out", out, "--model", folder).code == 0
    page = out.read_text(encoding="utf-8")
    assert f"{MOST_GROUPS + 5 - 12} more are not shown" in page


WRONG = {
    "no rows": (("{empty}", "--text-column", "review"), "found no row"),
    "another column": (("{table}",), "expected the column 'text'"),
    "no such group": (("{table}", "--text-column", "review", "--by", "shop"), "'shop'"),
    "no group at all": (("{table}", "--text-column", "review", "--by", "none"), "found no value"),
    "no date at all": (("{table}", "--text-column", "review", "--over", "store"), "--dates"),
    "a wrong format": (
        ("{table}", "--text-column", "review", "--over", "day", "--dates", "%d/%m/%Y"),
        "the format '%d/%m/%Y'",
    ),
    "no texts": (("{table}", "--text-column", "none"), "expected texts in English, found none"),
    "a bad term": (("{table}", "--text-column", "review", "--about", "!"), "a letter or digit"),
    "another ending": (("{table}", "--out", "x.docx"), "--format html, json or csv"),
    "a folder to write": (("{table}", "--out", "."), "found a folder"),
    "no table": (("nowhere.csv",), "found nothing"),
    "texts of texts": (("{table}", "--texts", "{table}"), "--texts"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_reported_is_one_message(cli, folder, tmp_path, name):
    frame = pd.DataFrame(ROWS, columns=COLUMNS).assign(none=None)
    places = {"table": tmp_path / "reviews.csv", "empty": tmp_path / "empty.csv"}
    frame.to_csv(places["table"], index=False)
    frame[:0].to_csv(places["empty"], index=False)
    options, said = WRONG[name]
    given = [option.format(**places) for option in options]
    out = () if "--out" in given else ("--out", tmp_path / "x.html")
    answer = cli("report", *given, *out, "--model", folder)
    assert answer.code == 2
    assert said in answer.err
    assert not (tmp_path / "x.html").exists()


def test_labels_without_sides_are_refused(cli, table, tmp_path, last_word):
    common = ("report", table, "--text-column", "review", "--out", tmp_path / "x.html")
    answer = cli(*common, "--about", "battery", "--model", last_word.path)
    assert answer.code == 2
    assert "expected a model of sentiment" in answer.err


def test_a_model_that_finds_no_terms_wants_them_named(cli, table, tmp_path, monkeypatch):
    common = ("report", table, "--text-column", "review", "--out", tmp_path / "x.html")
    answer = cli(*common, "--model", "sentiment")
    assert answer.code == 2
    assert "does not find terms" in answer.err
    monkeypatch.setattr(frames, "is_installed", lambda name: False)
    answer = cli(*common)
    assert answer.code == 2
    assert "--about battery" in answer.err
    assert opening.SEPARATE["aspects"] in answer.err
    assert frames.default_model(("battery",)) == "sentiment"
    monkeypatch.setattr(frames, "is_installed", lambda name: True)
    assert frames.default_model(("battery",)) == frames.default_model(()) == "aspects"


def test_a_model_of_sentences_is_refused(tmp_path, monkeypatch):
    labels = ("negative", "neutral", "positive")
    model = thinstack.load(write_last_word_bundle(tmp_path / "scale", labels=labels).path)
    monkeypatch.setattr(type(model), "phrases", False, raising=False)
    monkeypatch.setitem(model.__dict__, "phrases", False)
    with pytest.raises(InputError, match="only sentences"):
        thinstack.report(pd.DataFrame({"text": ["good"]}), about=["battery"], model=model)


@pytest.mark.parametrize("options", [("--about", "x"), ("--model", "m"), ("--no-header",)])
def test_options_of_texts_do_not_go_with_scored_rows(cli, folder, table, tmp_path, options):
    out = tmp_path / "scored"
    run = ("predict", "--input", table, "--text", "review", "--jobs", "0", "--model", folder)
    assert cli(*run, "--out", out, "--output", "aspects").code == 0
    answer = cli("report", out, "--out", tmp_path / "x.html", *options)
    assert (answer.code, options[0] in answer.err) == (2, True)
    answer = cli("report", out, "--out", tmp_path / "x.html", "--by", "store")
    assert (answer.code, "--texts" in answer.err) == (2, True)


def test_rows_of_sentences_are_refused(cli, folder, table, tmp_path):
    out = tmp_path / "scored"
    run = ("predict", "--input", table, "--text", "review", "--jobs", "0", "--model", folder)
    assert cli(*run, "--out", out).code == 0
    answer = cli("report", out, "--out", tmp_path / "x.html")
    assert answer.code == 2
    assert "rows of sentences" in answer.err


def test_a_text_that_the_model_cannot_score_is_counted(model, monkeypatch):
    score = type(model).score_texts

    def failing(self, texts, *more):
        if any("screen" in words for text in texts for words in text):
            raise InputError("it is too much")
        return score(self, texts, *more)

    monkeypatch.setattr(type(model), "score_texts", failing)
    frame = pd.DataFrame(ROWS, columns=COLUMNS)
    found = thinstack.report(frame, "review", model=model, min_mentions=1)
    failed = next(each for each in found.unread if each.kind == "failed")
    assert failed.examples == (("row 3", "it is too much"),)


def test_nobody_is_warned_of_languages(model):
    frame = pd.DataFrame(ROWS, columns=COLUMNS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = thinstack.report(frame, "review", model=model)
    assert "language" in {each.kind for each in found.unread}


@pytest.mark.parametrize(
    ("frame", "options", "error"),
    [
        (pd.DataFrame({"text": []}), {}, InputError),
        (pd.DataFrame({"other": ["good"]}), {}, DataError),
        ({"text": ["good"]}, {}, InputError),
        (pd.DataFrame({"text": ["good"]}), {"about": "battery"}, InputError),
        (pd.DataFrame({"text": ["good"]}), {"min_mentions": 0}, InputError),
    ],
)
def test_frames_that_cannot_be_reported(model, frame, options, error):
    with pytest.raises(error):
        thinstack.report(frame, model=model, **options)


def test_a_term_that_no_row_has_is_said_and_bad_terms_are_refused(model):
    frame = pd.DataFrame({"text": ["A good battery", "Batteries awful"]})
    names = ["battery", "Batteries", "zoom"]
    for make in (thinstack.report, thinstack.score_frame):
        with pytest.warns(NoMentionWarning, match="'zoom'") as warned:
            made = make(frame, about=names, model=model)
        assert len(warned) == 1
        assert warned[0].filename == __file__
        for bad in ([["a"]], ["\ud800"], ["a\ud800"], [3], 3):
            with pytest.raises(InputError):
                make(frame, about=bad, model=model)
    for name in names[:2]:
        assert made[f"{name}_mentions"].tolist() == [1, 1]
