"""Predictions as one HTML page that needs no other file."""

from collections.abc import Sequence
from typing import Final

from thinstack.integrations.show.svg import svg
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.why import Contribution

_PAGE: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sentences, phrase by phrase</title>
<style>
body {{ margin: 1rem; overflow-x: auto; }}
</style>
</head>
<body>
<main>
<h1>Sentences, phrase by phrase</h1>
{trees}</main>
</body>
</html>
"""


def page(predictions: Sequence[Prediction], *, whys: Sequence[Sequence[Contribution]] = ()) -> str:
    """An HTML5 page with the trees of all sentences, as `svg` draws them. `whys`: for each
    prediction, what its phrases contribute."""
    trees = svg(predictions, whys=whys) if predictions else "<p>There are no sentences.</p>\n"
    return _PAGE.format(trees=trees)
