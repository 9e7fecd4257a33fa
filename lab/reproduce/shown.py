"""What a table shows of its rows: columns, curves, comparisons."""

import re
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from thinstack.core.config import Strict

Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]
"""Of what is a folder too; no number, for folders of seeds stand beside those of variants."""

KEY = re.compile(
    r"(?:(?P<variant>[A-Za-z][A-Za-z0-9_-]*)/)?(?:(?P<source>[a-z]+)\.)?(?P<figure>[a-z][a-z0-9_]*)"
)


GROUPED: Final = ("class", "negation")
"""What parts cases into groups, which stand side by side."""


TRAIN_ACCURACY: Final = "train_accuracy"
"""The figure of what a model was trained on; measured only where a column asks for it."""


class Column(Strict):
    """A figure of all rows. `key` is `[VARIANT/][SOURCE.]FIGURE`: of which variant, with whose
    trees (by default the row's), and the figure's name in the results of a run. `digits` stand
    behind the point; `best` is printed bold. The JSON of a report has columns that are not `shown`
    on its page."""

    key: str
    title: str
    digits: int = Field(default=2, ge=0, le=6)
    best: Literal["highest", "lowest"] = "highest"
    shown: bool = True

    @property
    def parts(self) -> tuple[str, str | None, str]:
        """Variant ("" is the row itself), tree source (None: the row's), figure."""
        found = KEY.fullmatch(self.key)
        assert found is not None, "checked when the column was read"
        return found["variant"] or "", found["source"], found["figure"]

    @model_validator(mode="after")
    def _readable(self) -> Self:
        if KEY.fullmatch(self.key) is None:
            raise ValueError(f"key must be [VARIANT/][SOURCE.]FIGURE, found {self.key!r}")
        return self


class Curve(Strict):
    """A plot of `rows`: `figure` over the development cases whose `x` lies in a window, against the
    window's middle; or over all cases after each epoch, against the "seconds" of training.

    `cases`: whole sentences or pairs, or every labelled phrase. A window reaches by `window` to
    both sides; the one at `last` holds all that is longer or deeper too. Seconds have neither. The
    right "class" and "negation" part the cases into groups, so they have no windows. The groups of
    "negation" are sentences without a negation, and with one. The cases are those of the row
    itself, or of one of its variants.
    """

    name: Name
    title: str
    x: Literal["words", "depth", "class", "negation", "seconds"]
    figure: Literal["accuracy", "pearson"] = "accuracy"
    cases: Literal["whole", "all"] = "whole"
    variant: str = ""
    window: int = Field(default=0, ge=0)
    last: int = Field(default=0, ge=0)
    rows: tuple[str, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _windows_are_of_cases(self) -> Self:
        if self.x == "seconds" and (self.window or self.last):
            raise ValueError('x = "seconds" has a point for each epoch: leave out window and last')
        if self.x == "seconds" and self.variant:
            raise ValueError('x = "seconds" is of the row itself: leave out variant')
        if self.x in GROUPED and (self.window or self.last or self.figure != "accuracy"):
            raise ValueError(f"x = {self.x!r} has groups: leave out window, last and figure")
        if self.x in ("words", "depth") and not self.last:
            raise ValueError(f"x = {self.x!r} needs last, from which on all cases are taken")
        return self


class Comparison(Strict):
    """Row `a` less row `b` in the column `key`."""

    a: str
    b: str
    key: str
