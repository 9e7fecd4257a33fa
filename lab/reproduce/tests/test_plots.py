"""Drawings: what stands in them, where, and the same bytes each time."""

import re
import sys
import xml.etree.ElementTree as ET

import pytest

from reproduce.curves import Point
from reproduce.plots import draw
from reproduce.shown import Curve
from reproduce.table import Row, Table
from thinstack.errors import MissingExtraError

SVG = "{http://www.w3.org/2000/svg}"
LINES = {
    "Tree-LSTM": [Point(x, 60 - x, 1 + x / 9, 30) for x in range(1, 46)],
    "LSTM": [Point(x, 58 - x / 2, 2.0, 30) for x in range(1, 40)],
}


def drawn(folder, *curves, lines=LINES, **changes):
    """Draws curves of these names, each with `lines`, by the titles of their rows."""
    names = {title: f"row{number}" for number, title in enumerate(lines)}
    shape = {"title": "Accuracy by length", "x": "words", "window": 2, "last": 45, "rows": ["a"]}
    table = Table.model_construct(
        curves=tuple(Curve(name=name, **{**shape, **changes}) for name in ("absent", *curves)),
        rows=tuple(Row.model_construct(name=name, title=title) for title, name in names.items()),
    )
    points = {names[title]: line for title, line in lines.items()}
    return draw(table, "sentiment", dict.fromkeys(curves, points), folder)


def texts(path):
    return ["".join(element.itertext()).strip() for element in ET.parse(path).iter(f"{SVG}text")]


def strokes(path):
    """The coloured lines of more than two points."""
    found = []
    for element in ET.parse(path).iter(f"{SVG}path"):
        numbers = re.findall(r"[ML] (\S+) (\S+)", element.get("d", ""))
        if "fill: none" in element.get("style", "") and len(numbers) > 2:
            found.append([(float(x), float(y)) for x, y in numbers])
    return found


def test_a_curve_is_a_file_with_its_texts(tmp_path):
    (path,) = drawn(tmp_path, "length")
    assert [path] == [tmp_path / "sentiment-length.svg"] == list(tmp_path.iterdir())
    found = texts(path)
    assert {"Accuracy by length", "accuracy (%)", "Tree-LSTM", "LSTM"} <= set(found)
    assert any(text.startswith("length (words") and "± 2" in text for text in found)
    assert path.stat().st_size < 60_000


def test_lines_fall_where_the_means_do(tmp_path):
    tree, chain = strokes(drawn(tmp_path, "length")[0])[:2]
    down = [y for _, y in tree]  # on a page, down is more
    assert down == sorted(down)
    slopes = [(line[-1][1] - line[0][1]) / (line[-1][0] - line[0][0]) for line in (tree, chain)]
    assert slopes[0] == pytest.approx(2 * slopes[1], rel=1e-3)
    assert tree[-1][0] > chain[-1][0]


def test_the_same_points_give_the_same_bytes(tmp_path):
    first, second = (drawn(tmp_path, "length")[0].read_bytes() for _ in range(2))
    assert first == second
    assert b"dc:date" not in first


def test_groups_stand_side_by_side_with_their_names(tmp_path):
    lines = {"a": [Point(1, 60.0, 1.0, 30), Point(2, 50.0, 1.0, 30)]}
    shape = {"x": "negation", "window": 0, "last": 0}
    (path,) = drawn(tmp_path, "negation", lines=lines, **shape)
    assert {"without a negation", "with one", "sentences"} <= set(texts(path))


def test_axes_are_named_by_what_is_drawn(tmp_path):
    lines = {"a": [Point(1, 0.8, 0.01, 30), Point(2, 0.9, 0.01, 30)]}
    (path,) = drawn(tmp_path, "depth", lines=lines, x="depth", figure="pearson", window=0)
    found = texts(path)
    assert "Pearson r" in found
    assert any(text.startswith("depth (edges") and "±" not in text for text in found)


def test_seconds_are_not_evenly_spread(tmp_path):
    line = [Point(x, 40.0 + x, 1.0, 30) for x in (10.5, 20.5, 60.5)]
    (path,) = drawn(tmp_path, "seconds", lines={"a": line}, x="seconds", window=0, last=0)
    first, second, third = (x for x, _ in strokes(path)[0])
    assert third - second == pytest.approx(4 * (second - first), rel=1e-3)
    assert any(text.startswith("seconds of training") for text in texts(path))
    marked = [
        element for element in ET.parse(path).iter(f"{SVG}use") if "0072b2" in str(element.attrib)
    ]
    assert len(marked) >= 3  # each epoch


def test_rows_differ_in_colour_and_style(tmp_path):
    lines = {f"row {n}": [Point(x, 10.0 * n + x, 0.0, 30) for x in (1, 2, 3)] for n in range(8)}
    (path,) = drawn(tmp_path, "length", lines=lines)
    styles = [element.get("style", "") for element in ET.parse(path).iter(f"{SVG}path")]
    lines_of = [style for style in styles if "fill: none" in style and "stroke-width: 1.6" in style]
    assert len(lines_of) == 16  # each in the plot and in the legend
    assert len(set(lines_of)) == 8


def test_titles_are_taken_as_they_are(tmp_path):
    lines = dict.fromkeys(("_hidden", "$x$ & <b>"), LINES["LSTM"])
    (path,) = drawn(tmp_path, "length", lines=lines, title="50 $ < 60 $")
    assert {"_hidden", "$x$ & <b>", "50 $ < 60 $"} <= set(texts(path))


def test_what_has_no_points_is_left_out(tmp_path):
    assert drawn(tmp_path, "empty", lines={"a": []}) == []
    (path,) = drawn(tmp_path, "length", lines={"LSTM": LINES["LSTM"], "nothing": []})
    assert "LSTM" in texts(path)
    assert "nothing" not in texts(path)


def test_one_point_is_seen(tmp_path):
    (path,) = drawn(tmp_path, "length", lines={"a": [Point(45, 50.0, 1.0, 30)]})
    styles = [element.get("style", "").lower() for element in ET.parse(path).iter(f"{SVG}use")]
    seen = [style for style in styles if "#0072b2" in style and "opacity" not in style]
    assert len(seen) == 2  # in the plot and in the legend


def test_without_matplotlib_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install matplotlib,.*'reproduce'"):
        drawn(tmp_path, "length")
