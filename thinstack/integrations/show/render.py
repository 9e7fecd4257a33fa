"""`thinstack.render`: predictions, spaCy Docs and trees as markup that notebooks show."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, get_args

import numpy as np

from thinstack.core import Tree
from thinstack.core.scale import FIVE, NUMBERS
from thinstack.data.tables.containers import instead_of
from thinstack.data.trees.brackets import from_brackets
from thinstack.errors import InputError
from thinstack.integrations.show.heat import heat
from thinstack.integrations.show.svg import svg
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.result import Result
from thinstack.runtime.scored import Scored
from thinstack.runtime.views import View
from thinstack.runtime.why import Contribution

Style = Literal["tree", "text"]


class Markup(str):
    """A picture as text. Notebooks show it, and you can write it into a file or a page."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


def render(
    x: object, style: Style = "tree", *, whys: Sequence[Sequence[Contribution]] = ()
) -> Markup:
    """Draw results, sentences or trees, and return the drawing as a string.

    Args:
        x: a result, a sentence, a spaCy Doc or Span, a tree, a tree in brackets, or several of
            these. For a Span, draws the smallest phrase around it, or all its sentences.
        style: "tree" draws one SVG with the class of every phrase. "text" colors the phrases in the
            running text.
        whys: for each prediction, the contributions of its phrases (`Prediction.why`).

    Raises InputError for objects that cannot be drawn, and TreeError for a tree that is not binary.
    """
    if style not in get_args(Style):
        styles = ", ".join(map(repr, get_args(Style)))
        raise InputError(f"style: expected one of {styles}, found {style!r}")
    predictions = predictions_of(x)
    if whys and len(whys) != len(predictions):
        raise InputError(f"expected {len(predictions)} whys, one per prediction; found {len(whys)}")
    return Markup(svg(predictions, whys=whys) if style == "tree" else heat(predictions))


def predictions_of(x: Any) -> list[Prediction]:
    """Return a prediction for each tree that `render` draws for `x`. Raises as `render` does."""
    if isinstance(x, Prediction):
        return [x]
    if isinstance(x, Result):
        return list(x.sentences)
    if isinstance(x, str):
        if not x.lstrip().startswith("("):
            raise InputError(
                f"expected a prediction or a tree in brackets, found the text {x!r:.60}: predict "
                "it first"
            )
        return [_of_tree(from_brackets(x))]
    if isinstance(x, Tree):
        return [_of_tree(x)]
    if type(x).__module__ in ("spacy.tokens.doc", "spacy.tokens.span"):
        from thinstack.integrations.spacy.doc_results import predictions

        return predictions(x)
    if isinstance(x, Iterable):
        if problem := instead_of(x):
            raise InputError(f"expected predictions, a spaCy Doc or Span, or a tree, {problem}")
        return [prediction for part in x for prediction in predictions_of(part)]
    raise InputError(
        f"expected predictions, a spaCy Doc or Span, or a tree, found {type(x).__name__}: predict "
        "texts first"
    )


def _of_tree(tree: Tree) -> Prediction:
    names = sorted({label for label in tree.labels if label is not None}) or [""]
    labels = FIVE if {*names} <= {*NUMBERS} else tuple(names)
    numbers = {label: place for place, label in enumerate(NUMBERS if labels is FIVE else names)}
    scores = np.zeros((len(tree), len(labels)), np.float32)
    for node, label in enumerate(tree.labels):
        if label is not None or labels == ("",):
            scores[node, numbers[label or ""]] = 1.0
    return Prediction.of_words(tree.words, Scored(tree.transitions, scores), View.of(labels, 0.5))
