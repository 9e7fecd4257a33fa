"""Drawings: what stands in them, where, and the same bytes each time."""

import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from reproduce.curves import Point
from reproduce.plots import draw
from reproduce.table import Curve, Table
from thinstack.errors import MissingExtraError

SVG = "{http://www.w3.org/2000/svg}"
LINES = {
    "Tree-LSTM": [Point(x, 60 - x, 1 + x / 9, 30) for x in range(1, 46)],
    "LSTM": [Point(x, 58 - x / 2, 2.0, 30) for x in range(1, 40)],
}


def table(*names: str, **changes: Any) -> Table:
    shape = {
        "title": "Accuracy by length",
        "x": "words",
        "window": 2,
        "last": 45,
        "rows": ["a"],
        **changes,
    }
    return Table.model_construct(
        name="sentiment",
        curves=tuple(Curve.model_validate({**shape, "name": name}) for name in names),
    )


def texts(path: Path) -> list[str]:
    return ["".join(element.itertext()).strip() for element in ET.parse(path).iter(f"{SVG}text")]


def strokes(path: Path) -> list[list[tuple[float, float]]]:
    """The coloured lines of more than two points."""
    found = []
    for element in ET.parse(path).iter(f"{SVG}path"):
        numbers = re.findall(r"[ML] (\S+) (\S+)", element.get("d", ""))
        if "fill: none" in element.get("style", "") and len(numbers) > 2:
            found.append([(float(x), float(y)) for x, y in numbers])
    return found


def test_a_curve_is_a_file_with_its_texts(tmp_path: Path) -> None:
    drawn = draw(table("length"), {"length": LINES}, tmp_path)
    assert drawn == [tmp_path / "sentiment-length.svg"] == list(tmp_path.iterdir())
    found = texts(drawn[0])
    assert {"Accuracy by length", "accuracy (%)", "Tree-LSTM", "LSTM"} <= set(found)
    assert any(text.startswith("length (words") and "± 2" in text for text in found)
    assert drawn[0].stat().st_size < 60_000


def test_lines_fall_where_the_means_do(tmp_path: Path) -> None:
    (path,) = draw(table("length"), {"length": LINES}, tmp_path)
    tree, chain = strokes(path)[:2]
    down = [y for _, y in tree]  # on a page, down is more
    assert down == sorted(down)
    slopes = [(line[-1][1] - line[0][1]) / (line[-1][0] - line[0][0]) for line in (tree, chain)]
    assert slopes[0] == pytest.approx(2 * slopes[1], rel=1e-3)
    assert tree[-1][0] > chain[-1][0]


def test_the_same_points_give_the_same_bytes(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        draw(table("length"), {"length": LINES}, tmp_path / folder)
    first, second = (tmp_path / folder / "sentiment-length.svg" for folder in "ab")
    assert first.read_bytes() == second.read_bytes()
    assert b"dc:date" not in first.read_bytes()


def test_axes_are_named_by_what_is_drawn(tmp_path: Path) -> None:
    lines = {"a": [Point(1, 0.8, 0.01, 30), Point(2, 0.9, 0.01, 30)]}
    (path,) = draw(
        table("depth", x="depth", figure="pearson", window=0), {"depth": lines}, tmp_path
    )
    found = texts(path)
    assert "Pearson r" in found
    assert any(text.startswith("depth (edges") and "±" not in text for text in found)


def test_rows_differ_in_colour_and_style(tmp_path: Path) -> None:
    lines = {f"row {n}": [Point(x, 10.0 * n + x, 0.0, 30) for x in (1, 2, 3)] for n in range(8)}
    (path,) = draw(table("length"), {"length": lines}, tmp_path)
    styles = [element.get("style", "") for element in ET.parse(path).iter(f"{SVG}path")]
    drawn = [style for style in styles if "fill: none" in style and "stroke-width: 1.6" in style]
    assert len(drawn) == 16  # each in the plot and in the legend
    assert len(set(drawn)) == 8


def test_titles_are_taken_as_they_are(tmp_path: Path) -> None:
    lines = dict.fromkeys(("_hidden", "$x$ & <b>"), LINES["LSTM"])
    (path,) = draw(table("length", title="50 $ < 60 $"), {"length": lines}, tmp_path)
    assert {"_hidden", "$x$ & <b>", "50 $ < 60 $"} <= set(texts(path))


def test_what_has_no_points_is_left_out(tmp_path: Path) -> None:
    curves = {"empty": {"a": []}, "length": {"LSTM": LINES["LSTM"], "nothing": []}}
    paths = draw(table("absent", "empty", "length"), curves, tmp_path)
    assert paths == [tmp_path / "sentiment-length.svg"]
    assert "LSTM" in texts(paths[0])
    assert "nothing" not in texts(paths[0])


def test_one_point_is_seen(tmp_path: Path) -> None:
    (path,) = draw(table("length"), {"length": {"a": [Point(45, 50.0, 1.0, 30)]}}, tmp_path)
    styles = [element.get("style", "").lower() for element in ET.parse(path).iter(f"{SVG}use")]
    assert (
        sum("#0072b2" in style and "opacity" not in style for style in styles) == 2
    )  # in the plot and in the legend


def test_without_matplotlib_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"thinstack\[reproduce\]"):
        draw(table("length"), {"length": LINES}, tmp_path)
