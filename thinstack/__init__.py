"""Tree-structured sentence encoders, exported with their tree logic inside."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from thinstack._version import __version__
from thinstack.core.tree import Tree
from thinstack.data.brackets import from_brackets, to_brackets
from thinstack.errors import ThinstackError, TreeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from thinstack.runtime.predictor import Predictor
    from thinstack.runtime.why import Contribution
    from thinstack.show.render import Markup

__all__ = [
    "ThinstackError",
    "Tree",
    "TreeError",
    "__version__",
    "from_brackets",
    "load",
    "render",
    "to_brackets",
    "train_texts",
]


def load(
    path_or_name: str | Path = "sst",
    *,
    device: Literal["cpu", "cuda", "auto"] = "cpu",
    threads: int | None = None,
    classes: int | None = None,
    abstain: float | None = None,
    max_words: int = 400,
) -> "Predictor":
    """Load a bundle's ONNX model by the path of its folder, the name of one that thinstack, or
    another installed distribution, brings along, or its address on the Hugging Face hub,
    `hf://user/name` or `hf://user/name@revision` (extra `hub`).

    `device` "cuda" raises DeviceError where CUDA does not work, "auto" warns and takes the CPU.
    `threads` None: as many as the process may use. `classes` 3 or 2 shows the five of a sentiment
    model as negative, (neutral) and positive; where no class is as probable as `abstain`, there is
    no label (`thinstack.runtime.views`). `max_words`: a longer sentence is read in parts. Raises
    UnknownNameError, PluginError, BundleError or MissingExtraError (onnxruntime, huggingface_hub)
    where there is nothing to load, InputError for a view that the model does not have, and unless
    2 <= `max_words`.
    """
    from thinstack.bundle import open_bundle
    from thinstack.runtime.predictor import Predictor

    return Predictor(
        open_bundle(path_or_name),
        device=device,
        threads=threads,
        classes=classes,
        abstain=abstain,
        max_words=max_words,
    )


def render(
    x: object,
    style: Literal["tree", "text", "list"] = "tree",
    *,
    whys: "Sequence[Sequence[Contribution]]" = (),
) -> "Markup":
    """Draw sentences: text that a notebook shows, and that can be written into a file or a page.

    `x`: a prediction, a spaCy Doc or Span, a binary tree, a tree in brackets, or several of these.
    `style`: "tree" is one SVG of trees with the class of every phrase; "text" the running text with
    its phrases coloured in place, for long ones; "list" an HTML page of nested lists with all
    probabilities. `whys`: what the phrases of each prediction contribute (`Prediction.why`). Raises
    InputError for what cannot be drawn, TreeError for a tree that is not binary.
    """
    from thinstack.show.render import render as drawn

    return drawn(x, style, whys=whys)


def train_texts(
    rows: "Iterable[Mapping[str, object]]",
    *,
    text: str = "text",
    label: str = "label",
    dev: "Iterable[Mapping[str, object]] | None" = None,
    init: str = "sst",
    out: str | Path,
) -> "Predictor":
    """Train a model on texts and their classes, as `thinstack train TABLE` does, and load it.

    `rows`: mappings with the columns `text` and `label`, such as those of a `datasets.Dataset` or
    of `DataFrame.to_dict("records")`. `dev`: others to report on; else a tenth of the rows of each
    class is set aside. `init`: name or folder of the bundle where learning starts, or "none" for
    word vectors alone. `out`: the folder for the bundle, `model-best`, and for the recipe, which
    docs/recipes.md explains. Raises DataError, ConfigError, BundleError, or MissingExtraError
    without the extra `export`.
    """
    from thinstack.errors import needs_extra

    with needs_extra("export"):
        from thinstack.training.train_texts import train_rows
    train_rows(rows, text=text, label=label, dev=dev, init=init, out=Path(out))
    return load(Path(out) / "model-best")
