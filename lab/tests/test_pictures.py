"""The pictures of the documentation are what thinstack draws now, and pages show them."""

import json
import re

import pytest
from pages import ROOT
from pictures import ASSETS, DIGESTS, DRAWINGS, digests

# Where rounding may turn a percentage.
ROUNDED = re.compile(r"<title>.*?</title>|\btitle=\"[^\"]*\"", re.DOTALL)


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_is_made_again_as_it_is(name):
    drawn, shown = DRAWINGS[name](), (ASSETS / name).read_text(encoding="utf-8")
    assert ROUNDED.sub("", drawn) == ROUNDED.sub("", shown)


def test_photographs_show_the_pages_as_they_are():
    """Else: python lab/scripts/pictures.py --browser."""
    assert json.loads(DIGESTS.read_text(encoding="utf-8")) == digests()


def test_every_picture_is_small_and_on_a_page():
    pages = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("docs/*.md"))
    pictures = {path.name for path in ASSETS.iterdir() if path.suffix in (".svg", ".png")}
    assert pictures == {*DRAWINGS, *digests()}
    for name in pictures:
        assert f"](assets/{name})" in pages
        assert (ASSETS / name).stat().st_size < 80_000
