"""`thinstack report` and `thinstack.report`: from tables to reports."""

import json
import random
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from last_word_model import write_last_word_bundle

import thinstack
from thinstack.errors import DataError, InputError, NoMentionWarning, StoppedError
from thinstack.integrations.report import plan, run
from thinstack.integrations.report.plan import MOST_GROUPS
from thinstack.integrations.report.reading import Reader
from thinstack.integrations.report.rows import Fault, ReportOptions, TextRow
from thinstack.integrations.report.run import run_report

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
FRAME = pd.DataFrame(ROWS, columns=COLUMNS)
ENGLISH = [text for text, *_ in ROWS if text and text != ":" and text.isascii()]
AS_A_TABLE = ("--text", "review", "--by", "store", "--over", "day", "--min-mentions", "1")


pytestmark = pytest.mark.usefixtures("without_installed_models")


@pytest.fixture(scope="module")
def model(aspect_folder):
    return thinstack.load(aspect_folder, threads=1)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "reviews.csv"
    FRAME.to_csv(path, index=False)
    return path


@pytest.fixture
def report(cli, aspect_folder, table, tmp_path):
    """Calls the command, and gives the report as data."""

    def call(*options, source=table):
        out = tmp_path / "report.json"
        answer = cli("report", source, "--out", out, "--model", aspect_folder, *options)
        assert answer.code == 0, answer.err
        assert answer.err.endswith(f"the report is in {out}\n")
        return json.loads(out.read_text(encoding="utf-8"))

    return call


def counted(model, texts, about=()):
    """The sides of each term, as a count of the results says."""
    counts = {}
    for result in model(texts):
        by_term = {}
        for each in result.about(*about) if about else result.aspects:
            side = {"negative": -1, "neutral": 0, "positive": 1}[each.label]
            by_term.setdefault(each.asked or each.text.lower(), []).append(side)
        for term, sides in by_term.items():
            total = sum(sides)
            side = "positive" if total > 0 else "negative" if total < 0 else "neutral"
            counts.setdefault(term, Counter())[side] += 1
    return counts


def sides_of(data):
    sides = ("negative", "neutral", "positive")
    return {
        each["term"]: Counter({side: each[side] for side in sides if each[side]})
        for each in data["aspects"]
    }


def test_from_a_table_to_figures(report, model):
    data = report(*AS_A_TABLE)
    assert (data["rows"], data["texts"]) == (len(ROWS), len(ENGLISH))
    assert sides_of(data) == counted(model, ENGLISH)
    assert data["source"] == "reviews.csv"
    assert data["model"] == "aspects"
    assert {each["name"]: each["texts"] for each in data["groups"]} == {"North": 2, "South": 1}
    assert data["unit"] == "week"
    assert sum(each["texts"] for each in data["periods"]) == 3
    unread = {each["kind"]: each for each in data["unread"]}
    counts = {kind: each["rows"] for kind, each in unread.items()}
    assert counts == {"empty": 2, "language": 1, "group": 1, "date": 1}
    assert unread["date"]["examples"] == [{"place": "line 5", "reason": "'soon'"}]
    assert unread["empty"]["examples"][0]["place"] == "line 4"


def test_terms_that_are_named(report, model, cli, table, tmp_path):
    about = ("battery", "staff|screen", "parking")
    options = [option for term in about for option in ("--about", term)]
    warnings.simplefilter("always", NoMentionWarning)
    data = report("--text", "review", *options)
    texts = [text for text, *_ in ROWS if text and text.isascii()]
    expected = counted(model, texts, about)
    assert sides_of(data) == {term: expected.get(term, Counter()) for term in about}
    assert data["about"] == list(about)
    out = tmp_path / "climb.html"
    answer = cli("report", table, "--text", "review", *options, "--out", out)
    assert answer.code == 0
    assert "'parking'" in answer.err
    page = out.read_text(encoding="utf-8")
    assert "The model <b>sentiment</b> labels each text" in page
    assert "staff / screen" in page


def test_rows_that_could_not_be_read_are_said(cli, aspect_folder, tmp_path):
    """Also those that lack only a group, which count."""
    table = tmp_path / "t.csv"
    table.write_text("text,store\ngood staff,A,,\ngood screen,\n,B\nbad staff,A\n")
    options = ("--out", tmp_path / "r.json", "--by", "store", "--model", aspect_folder)
    err = cli("report", table, *options).err
    assert "of 4 rows, 1 cannot be read; the first is line 2: " in err
    assert "of 4 rows, 1 have no value in the group column; the first is line 3" in err
    assert "of 4 rows, 1 have no text; the first is line 4\n" in err


@pytest.mark.parametrize(
    ("ending", "kind", "start"),
    [
        ("csv", "csv", "aspect,group,"),
        ("json", "json", "{"),
        ("html", "html", "<!DOCTYPE html>"),
        ("HTM", "html", "<!DOCTYPE html>"),
    ],
)
def test_the_ending_tells_the_format(cli, aspect_folder, table, tmp_path, ending, kind, start):
    out, other = tmp_path / f"report.{ending}", tmp_path / "report.txt"
    out.write_text("old")
    common = ("report", table, *AS_A_TABLE, "--model", aspect_folder)
    assert cli(*common, "--out", out).code == 0
    assert cli(*common, "--out", other, "--format", kind).code == 0
    assert out.read_text("utf-8") == other.read_text("utf-8")
    assert out.read_text("utf-8").startswith(start)


@pytest.mark.parametrize("kind", ["parquet", "folder"])
def test_other_tables_say_the_same(report, tmp_path, kind):
    data = FRAME.copy()
    source = tmp_path / f"reviews.{kind}"
    if kind == "parquet":
        data["day"] = pd.to_datetime(data["day"], errors="coerce")
        data.to_parquet(source)
    else:
        source.mkdir()
        data[:3].to_csv(source / "a.csv", index=False)
        data[3:].to_csv(source / "b.csv", index=False)
    plain, other = report(*AS_A_TABLE), report(*AS_A_TABLE, source=source)
    for each in (plain, other):
        each.pop("source")
        for unread in each["unread"]:
            unread.pop("examples")
        for aspect in (each, *each["aspects"]):
            for quote in aspect["quotes"]:
                quote.pop("place")
    assert other == plain


def test_a_frame_says_the_same(report, model):
    plain = report(*AS_A_TABLE)
    options = {"text": "review", "by": "store", "over": "day", "min_mentions": 1, "model": model}
    for each in (FRAME, pl.DataFrame(ROWS, COLUMNS, orient="row"), pa.Table.from_pandas(FRAME)):
        data = thinstack.report(each, **options).to_dict()
        assert data["aspects"][0]["quotes"][0]["place"].startswith("row ")
        for name in ("texts", "rows", "positive", "polarity", "by", "over", "groups", "periods"):
            assert data[name] == plain[name]
        assert sides_of(data) == sides_of(plain)
        rows, plain_rows = ([each["rows"] for each in one["unread"]] for one in (data, plain))
        assert rows == plain_rows


def test_a_table_that_changes_meanwhile_is_an_error(model):
    rows = [TextRow(f"line {n}", "good battery", "North") for n in range(3)]
    others = {
        "shorter": rows[:2],
        "longer": [*rows, rows[0]],
        "another text": [*rows[:2], rows[2]._replace(text="awful battery")],
        "another group": [rows[0]._replace(group="South"), *rows[1:]],
        "another fault": [*rows[:2], TextRow("line 2", "", unreadable=Fault("row", "broken"))],
    }
    for name, later in others.items():
        times = iter([rows, later])
        with pytest.raises(StoppedError):
            run_report(lambda times=times: iter(next(times)), [Reader(model)], ReportOptions(name))
    assert run_report(lambda: iter(rows), [Reader(model)], ReportOptions("x")).figures.texts == 3


@pytest.mark.parametrize(
    ("output", "name"),
    [
        ("aspects", "scored.csv"),
        ("sentences", "scored.parquet"),
        ("documents", "scored"),
        ("phrases", "scored.csv"),
    ],
)
def test_scored_rows_are_no_texts(cli, aspect_folder, table, tmp_path, output, name):
    common = ("--text", "review", "--jobs", "0", "--model", aspect_folder, "--out", tmp_path / name)
    assert cli("predict", "--input", table, "--output", output, *common).code == 0
    answer = cli("report", tmp_path / name, "--out", tmp_path / "x.json", "--model", aspect_folder)
    answer.check_refused("the table that was scored")


def test_standard_input_is_read_as_by_predict(cli, aspect_folder, table, report, tmp_path):
    plain = report(*AS_A_TABLE)
    out = tmp_path / "piped.json"

    def piped(content, *options):
        common = ("report", "-", *options, "--out", out, "--model", aspect_folder)
        assert cli(*common, stdin=content).code == 0
        return json.loads(out.read_text(encoding="utf-8"))

    data = piped(table.read_bytes(), *AS_A_TABLE)
    assert data.pop("source") == "standard input"
    assert data == {name: value for name, value in plain.items() if name != "source"}
    assert piped(b"good battery\n\nawful staff, poor\n")["texts"] == 2
    assert piped(b"text,stars\ngood battery,5\nawful staff,4\n", "--stars", "stars")["texts"] == 2


def test_names_that_look_alike_are_one_group(model):
    names = ["Caf\u00e9", "Cafe\u0301", "CAF\u00c9", " Caf\u00e9\u200b", "Cafe"]
    frame = pd.DataFrame({"text": ["good battery"] * 10, "store": names * 2})
    result = thinstack.report(frame, by="store", model=model, min_mentions=1)
    for groups in (result.whole.groups, result.aspects[0].groups):
        texts = {name: figures.texts for name, figures in groups.items()}
        assert texts == {"Caf\u00e9": 8, "Cafe": 2}


def test_long_names_are_groups_of_their_own_and_shown_by_both_ends(model):
    names = [f"https://shop.example/{'x' * 100}/{end}" for end in ("one", "two")]
    frame = pd.DataFrame({"text": ["good battery"] * 4, "page": names * 2})
    result = thinstack.report(frame, by="page", model=model, min_mentions=1)
    texts = {name: part.texts for name, part in result.whole.groups.items()}
    assert texts == dict.fromkeys(names, 2)
    page = result.html()
    assert all(f"x/{end}" in page for end in ("one", "two"))
    assert not any(name in page for name in names)


def test_the_largest_groups_are_found_in_bounded_memory(monkeypatch):
    """Beside a count of all, where most names come once and before the large ones."""
    monkeypatch.setattr(plan, "_MOST_NAMES", 200)
    rng = random.Random(0)
    names = [f"once {n}" for n in range(3000)]
    names += rng.choices([f"often {n}" for n in range(60)], range(1, 61), k=9000)
    names += [f"again {n}" for n in range(3000)]
    counts = Counter(names)
    counted = plan.Groups()
    for name in names:
        counted.add(name)
        assert len(counted.names) <= 200
    assert 0 < counted.lost <= 2 * len(names) / 200
    least = counts.most_common(51)[50][1] + counted.lost
    sure = [name for name, times in counts.items() if times > least]
    assert len(sure) > 20
    assert {*sure} <= {*counted.largest()}
    assert 200 < counted.most <= len(counts)


def test_few_characters_of_names_are_held(monkeypatch):
    monkeypatch.setattr(plan, "_MOST_CHARACTERS", 10_000)
    counted = plan.Groups()
    for n in range(300):
        counted.add(f"{n} {'x' * 500}")
        counted.add("large")
    assert counted.largest()[0] == "large"
    assert sum(map(len, counted.names.values())) <= 10_000


def numbered(frame):
    return frame.set_axis(range(frame.shape[1]), axis=1), dict(enumerate(COLUMNS))


def levelled(frame):
    names = [("t", name) for name in COLUMNS]
    return frame.set_axis(pd.MultiIndex.from_tuples(names), axis=1), dict(enumerate(names))


@pytest.mark.parametrize("named", [numbered, levelled])
def test_columns_have_names_of_any_type(model, named):
    plain = thinstack.report(FRAME, "review", by="store", over="day", model=model).to_dict()
    other, names = named(FRAME)
    text, by, over = names if named is numbered else names.values()
    report = thinstack.report(other, text, by=by, over=over, model=model)
    data = report.to_dict()
    assert data["by"] == ("1" if named is numbered else "t, store")
    assert data["groups"] == plain["groups"]
    assert data["periods"] == plain["periods"]
    assert report.html()
    with pytest.raises(DataError):
        thinstack.report(other[[text]], None, model=model)


def test_bins_and_periods_are_groups_and_periods_are_dates(model):
    frame = pd.DataFrame({"text": ["good battery"] * 4, "stars": [1, 2, 4, 5]})
    frame["band"] = pd.cut(frame.stars, [0, 2, 5])
    frame["month"] = pd.period_range("2024-01", periods=4, freq="M")
    frame["quarter"] = frame.month.dt.asfreq("Q")
    for by in ("band", "quarter"):
        result = thinstack.report(frame, by=by, over="month", model=model)
        expected = Counter(str(cell) for cell in frame[by])
        assert {name: figures.texts for name, figures in result.whole.groups.items()} == expected
        assert (result.unit, len(result.whole.periods)) == ("month", 4)


def test_dates_that_cannot_be_are_listed(model):
    dates = ["2024-01-09", "9999-12-31", "1011-01-01", "45200", None, "2024-01-11"]
    frame = pd.DataFrame({"text": ["good battery"] * 6, "day": dates})
    result = thinstack.report(frame, over="day", model=model)
    starts = [start.isoformat() for start in result.whole.periods]
    assert starts == ["2024-01-09", "2024-01-10", "2024-01-11"]
    assert {each.kind: each.rows for each in result.unread} == {"date": 4}
    beyond = pd.Series(np.array(["2024-01-09", "10000-01-01"] * 3, "M8[s]"))
    result = thinstack.report(frame.assign(day=beyond), over="day", model=model)
    assert {each.kind: each.rows for each in result.unread} == {"date": 3}
    days = pl.Series([2**61, 0, 2**61, 0, 0, 0], dtype=pl.Datetime("us"))
    far = pl.DataFrame({"text": ["good"] * 6, "d": days})
    result = thinstack.report(far, over="d", model=model)
    assert {each.kind: each.rows for each in result.unread} == {"date": 2}
    with pytest.raises(InputError, match="1900 to 2100"):
        thinstack.report(far[[0, 2]], over="d", model=model)


def test_groups_of_few_rows_are_counted_together(report, cli, aspect_folder, tmp_path):
    table = tmp_path / "many.csv"
    stores = [f"store {number:02d}" for number in range(MOST_GROUPS + 5)]
    stores += stores[5:]
    pd.DataFrame({"text": "good battery", "store": stores}).to_csv(table, index=False)
    data = report("--by", "store", source=table)
    assert [each["name"] for each in data["groups"]] == stores[5 : MOST_GROUPS + 5]
    assert data["others"] == 5
    out = tmp_path / "many.html"
    assert cli("report", table, "--by", "store", "--out", out, "--model", aspect_folder).code == 0
    page = out.read_text(encoding="utf-8")
    assert f"{MOST_GROUPS + 5 - 12} more are not shown" in page


@pytest.mark.filterwarnings("always:.*quotation mark:UserWarning")
def test_a_stray_quotation_mark_is_one_warning(cli, aspect_folder, tmp_path):
    table = tmp_path / "stray.tsv"
    table.write_text('store\ttext\nNorth\tthe battery is good\nNorth\t"the battery is bad\n')
    answer = cli("report", table, "--out", tmp_path / "x.html", "--model", aspect_folder)
    assert answer.code == 0
    assert answer.err.count("warning:") == 1
    cut = tmp_path / "cut.csv"
    cut.write_text('store,text\nNorth,the battery is good\nNorth,"the battery is bad\n')
    answer = cli("report", cut, "--out", tmp_path / "x.html", "--model", aspect_folder)
    assert "the first is line 3: a cell starts with a quotation mark" in answer.err


@pytest.mark.parametrize("installed", [False, True])
def test_whole_texts_are_read_by_one_model_whatever_is_installed(
    model, aspect_folder, monkeypatch, installed
):
    monkeypatch.setattr(run, "_FINDS_TERMS", str(aspect_folder))
    monkeypatch.setattr(run, "is_installed", lambda name: installed and name == str(aspect_folder))
    result = thinstack.report(FRAME, "review", min_mentions=1)
    expected = Counter(str(each.label).split()[-1] for each in thinstack.load()(ENGLISH))
    data = result.to_dict()
    assert (result.model, result.finder) == ("sentiment", "aspects" if installed else "")
    assert {side: data[side] for side in expected} == expected
    assert sides_of(data) == (counted(model, ENGLISH) if installed else {})
    assert ("install the model aspects" in result.html()) != installed
    named = thinstack.report(FRAME, "review", about=["battery"])
    assert (named.model, named.finder) == ("sentiment", "sentiment")


@pytest.mark.parametrize(
    "texts", [["good battery"], ["good battery"] * 40, ["a battery"] * 9, ["so good", "awful"] * 9]
)
def test_texts_that_say_little_are_a_page(model, texts):
    days = pd.date_range("2024-01-01", periods=len(texts))
    frame = pd.DataFrame({"text": texts, "day": days, "store": "only", "stars": 3})
    columns = {"by": "store", "over": "day", "stars": "stars"}
    result = thinstack.report(frame, model=model, **columns)
    assert result.to_dict()["texts"] == len(texts)
    assert result.agreement is None
    assert "only one value of store" in result.html()


def test_themes_are_looked_for_if_their_model_is_there_or_asked_for(monkeypatch, model):
    assert run.themes_model(None, lambda name: model) is None
    monkeypatch.setattr(run, "is_installed", lambda name: name == "vectors")
    assert run.themes_model(False, lambda name: model) is None
    for asked in (None, True, "other", model):
        with pytest.raises(InputError, match="gives no vectors"):
            run.themes_model(asked, lambda name: model)


def test_categories_are_judged_by_a_model_with_vectors(report, vector_folder, monkeypatch):
    monkeypatch.setattr(run, "_VECTORS", str(vector_folder))
    data = report("--text", "review", "--category", "poor=awful staff", "--about", "staff")
    assert (data["model"], data["finder"]) == ("aspects", "vectors")
    asked, texts = ["staff", thinstack.Category("poor", ["awful staff"])], (0, 1, 3, 4)
    expected = counted(thinstack.load(vector_folder), [ROWS[row][0] for row in texts], asked)
    assert (sides_of(data), len(expected)) == (expected, 2)


def test_stars_say_how_far_the_model_is_trusted():
    frame = pd.DataFrame(
        {
            "text": ["so good"] * 5 + ["awful battery"] * 3 + ["good battery"],
            "given": [5, 4, "4.5", 1, 3, "2", 1, 5, "none"],
        }
    )
    result = thinstack.report(frame, stars="given", about=["battery"])
    assert (result.low.counts, result.high.counts, result.middle) == ((2, 0, 1), (1, 0, 3), 1)
    assert result.agreement == 5 / 7
    assert result.unread == (("stars", 1, (("row 8", "'none'"),)),)
    page = result.html()
    assert "It agrees with the stars of 71% of your 7 texts with 1, 2, 4 or 5 stars" in page
    assert "with 67% of the 3 with 1 or 2" in page


def test_a_model_of_sentences_is_refused(tmp_path, monkeypatch):
    labels = ("negative", "neutral", "positive")
    model = thinstack.load(write_last_word_bundle(tmp_path / "scale", labels=labels).path)
    monkeypatch.setattr(type(model), "phrases", False, raising=False)
    monkeypatch.setitem(model.__dict__, "phrases", False)
    with pytest.raises(InputError, match="only sentences"):
        thinstack.report(pd.DataFrame({"text": ["good"]}), about=["battery"], model=model)


def test_a_text_that_the_model_cannot_score_is_counted(model, monkeypatch):
    score = type(model).score_texts

    def failing(self, texts, *more):
        if any("screen" in words for text in texts for words in text):
            raise InputError("it is too much")
        return score(self, texts, *more)

    monkeypatch.setattr(type(model), "score_texts", failing)
    result = thinstack.report(FRAME, "review", model=model, min_mentions=1)
    failed = next(each for each in result.unread if each.kind == "failed")
    assert failed.examples == (("row 3", "it is too much"),)


def test_texts_below_a_threshold_for_labels_count_too(model, aspect_folder):
    """They are not neutral, as on the page about scores."""
    cut = thinstack.load(aspect_folder, threads=1, abstain=0.999)
    assert {result.label for result in cut.stream(FRAME["review"].dropna())} == {None}
    made = (thinstack.report(FRAME, "review", min_mentions=1, model=one) for one in (model, cut))
    whole, same = made
    assert same.figures.counts == whole.figures.counts
    assert min(whole.figures.negative, whole.figures.positive) > 0
    assert same.to_dict() == whole.to_dict()


def test_nobody_is_warned_of_languages(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = thinstack.report(FRAME, "review", model=model)
    assert "language" in {each.kind for each in result.unread}


@pytest.mark.parametrize(
    ("frame", "options", "error"),
    [
        (pd.DataFrame({"text": []}), {}, InputError),
        (pd.DataFrame({"other": ["good"]}), {}, DataError),
        ({"text": ["good"]}, {}, InputError),
        (pd.DataFrame({"text": ["good"]}), {"about": "battery"}, InputError),
        (pd.DataFrame({"text": ["good"]}), {"about": ["a\ud800"]}, InputError),
        (pd.DataFrame({"text": ["good"]}), {"min_mentions": 0}, InputError),
        (pd.DataFrame({"text": [5, 1]}), {}, InputError),
        (pd.DataFrame({"text": ["good", 1]}), {}, InputError),
        (pd.DataFrame({"text": ["good"], "g": [[1]]}), {"by": "g"}, InputError),
        (pd.DataFrame({"text": ["good"], "d": ["x"]}), {"over": "d", "dates": 5}, InputError),
        (pd.DataFrame({"text": ["good"], "d": ["x"]}), {"over": "d", "dates": "%d %d"}, InputError),
    ],
)
def test_frames_that_cannot_be_reported(model, frame, options, error):
    with pytest.raises(error):
        thinstack.report(frame, model=model, **options)


def test_a_term_that_no_row_has_is_said(model):
    frame = pd.DataFrame({"text": ["A good battery", "Batteries awful"]})
    names = ["battery", "Batteries", "zoom"]
    for make in (thinstack.report, thinstack.score_frame):
        with pytest.warns(NoMentionWarning, match="'zoom'") as warned:
            report = make(frame, about=names, model=model)
        assert len(warned) == 1
        assert warned[0].filename == __file__
    for name in names[:2]:
        assert report[f"{name}_mentions"].tolist() == [1, 1]
