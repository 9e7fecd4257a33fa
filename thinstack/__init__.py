"""Score the sentiment of a text, its sentences and every phrase in them.

    import thinstack

    model = thinstack.load()                 # the bundled model, or a name or folder
    result = model("The acting is strong, but the plot never comes alive. Still, I liked it.")
    result.label, result.polarity            # 'positive', 0.34: from -1 to 1
    result.highlights(3)                     # the most telling phrases
    result.about("acting", "plot|story")     # opinions about terms
    for phrase in result.phrases:            # every phrase of every tree
        phrase.text, phrase.label, phrase.polarity, phrase.start, phrase.end
    result.sentences[0].why()                # what each phrase contributes
    result.svg(), result.to_dict()           # a notebook draws `result` automatically
    for result in model.stream(texts): ...   # any iterable, in bounded memory
    frame = thinstack.score_frame(reviews, text="review")  # pandas, polars or pyarrow
    thinstack.report(reviews, text="review", by="store")   # a page of opinions

See also `help(model)` and `help(result)`. Train a model on your texts with
`thinstack.train_texts(rows, out="runs/mine")`. In a shell, use `thinstack --help`; in spaCy,
`nlp.add_pipe("tree_sentiment")`.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import thinstack._onnxruntime  # noqa: F401 - first, because it turns telemetry off
from thinstack._lazy import lazy
from thinstack._version import __version__
from thinstack.errors import ThinstackError, TreeError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from thinstack.core.tree import Tree
    from thinstack.data.trees.binarize import binarize, english_head, from_binary, to_binary
    from thinstack.data.trees.brackets import from_brackets, to_brackets
    from thinstack.data.trees.conllu import read_conllu, to_conllu, write_conllu
    from thinstack.data.trees.nltk import from_nltk, to_nltk
    from thinstack.data.trees.phrases import project_labels
    from thinstack.data.trees.treebank import read_trees
    from thinstack.integrations.frames import score_frame
    from thinstack.integrations.report.run import report
    from thinstack.integrations.search.phrase_index import Hit, PhraseIndex
    from thinstack.integrations.show.render import render
    from thinstack.integrations.themes.run import themes
    from thinstack.integrations.themes.themes import Theme, Themes
    from thinstack.runtime import Aspect, Category, Phrase, Prediction, Predictor, Result
else:
    __getattr__ = lazy(
        __name__,
        {
            "core.tree": "Tree",
            "data.trees.binarize": "binarize english_head from_binary to_binary",
            "data.trees.brackets": "from_brackets to_brackets",
            "data.trees.conllu": "read_conllu to_conllu write_conllu",
            "data.trees.nltk": "from_nltk to_nltk",
            "data.trees.phrases": "project_labels",
            "data.trees.treebank": "read_trees",
            "integrations.frames": "score_frame",
            "integrations.report.run": "report",
            "integrations.search.phrase_index": "Hit PhraseIndex",
            "integrations.show.render": "render",
            "integrations.themes.run": "themes",
            "integrations.themes.themes": "Theme Themes",
            "runtime": "Aspect Category Phrase Prediction Predictor Result",
        },
        dict.fromkeys(
            ("predict", "pipeline", "sentiment", "predict_text"),
            "load a model and call it, thinstack.load()(text)",
        ),
    )

__all__ = [
    "Aspect",
    "Category",
    "Hit",
    "Phrase",
    "PhraseIndex",
    "Prediction",
    "Predictor",
    "Result",
    "Theme",
    "Themes",
    "ThinstackError",
    "Tree",
    "TreeError",
    "__version__",
    "binarize",
    "english_head",
    "from_binary",
    "from_brackets",
    "from_nltk",
    "load",
    "project_labels",
    "read_conllu",
    "read_trees",
    "render",
    "report",
    "score_frame",
    "themes",
    "to_binary",
    "to_brackets",
    "to_conllu",
    "to_nltk",
    "train_texts",
    "write_conllu",
]


def load(
    path_or_name: str | Path = "sentiment",
    *,
    device: Literal["cpu", "cuda", "webgpu", "auto"] = "cpu",
    threads: int | None = None,
    classes: int | None = None,
    abstain: float | None = None,
    max_words: int = 400,
    aggregation: Literal["tree", "mean"] | None = None,
    isolated: bool | None = None,
    allow_operators: "Collection[str]" = (),
) -> "Predictor":
    """Load the ONNX model of a bundle.

    `path_or_name`: the bundle's folder; the name of a bundle in thinstack or another installed
    package; or an address on the Hugging Face Hub, `hf://user/name` or `hf://user/name@revision`
    (extra `hub`). `device`: where to run the model. "auto" runs large batches on a GPU, by CUDA or
    else WebGPU, and everything else on the CPU; if no GPU works, it warns and uses the CPU.
    `threads`: number of threads; None means one per usable core. `classes`: 3 or 2 to show the five
    classes of a sentiment model as negative, (neutral) and positive. `abstain`: return no label if
    the top probability is below this (`thinstack.runtime.views`). `max_words`: split longer
    sentences into parts; at least 2. `aggregation`: how to combine the sentences of a text. "tree"
    composes them into one tree, and "mean" averages their scores; the default is "tree" if the
    model was trained on such trees. `isolated`: whether to run the model in separate processes with
    memory and time limits; by default only third-party models (docs/third-party-models.md).
    `allow_operators`: further ONNX operators that an isolated model may use.

    Raises UnknownNameError, PluginError or BundleError if the bundle does not exist or is damaged;
    MissingExtraError without onnxruntime or, for an address, without huggingface_hub; DeviceError
    if the requested GPU does not work; InputError for `classes` or an `aggregation` that the model
    does not support, and for an `abstain`, `threads` or `max_words` out of range.
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
        aggregation=aggregation,
        isolated=isolated,
        allow_operators=allow_operators,
    )


def train_texts(
    rows: "Iterable[Mapping[str, object]]",
    *,
    text: str = "text",
    label: str = "label",
    add: "Iterable[Mapping[str, object]] | None" = None,
    dev: "Iterable[Mapping[str, object]] | None" = None,
    init: str | None = None,
    out: str | Path,
    labels: "Sequence[str]" = (),
    scale: bool | None = None,
    epochs: int | None = None,
    test: "Iterable[Mapping[str, object]] | None" = None,
    task: Literal["texts", "spans", "aspects"] | None = None,
) -> "Predictor":
    """Train a model on texts and labels, like `thinstack train TABLE`, and load it.

    `rows`: mappings with the columns `text` and `label`, for example a `datasets.Dataset` or
    `DataFrame.to_dict("records")`. `add`: more rows, such as corrections, which replace those of
    the same text. `dev`: rows to evaluate the model on; by default a tenth of the rows of each
    class. If there are 200 or more, they also choose the epoch. `test`: rows that are used only for
    a final evaluation. `epochs`: maximum passes over the rows; the default depends on their number.
    `init`: name or folder of the bundle to start from, or "none" to start from word vectors only;
    docs/training.md explains the default. `out`: folder for the recipe and the bundle,
    `model-best`.

    `labels`: all labels in order; by default they come from the rows. `scale`: whether this order
    is a scale; by default the names of the labels and of the column decide. If training starts
    from a sentiment model and the labels are a sentiment scale, they map to its five classes, and
    phrases keep their scores. `task`: what the rows label, required if there are columns "start"
    and "end". "texts": whole texts. "spans": phrases, from "start" to "end". "aspects": the opinion
    about terms, from "start" to "end"; a row without these and without a label is a text without
    terms.

    Raises DataError for rows that cannot be used; InputError for a scale in unknown order, for
    spans without `task`, and for rows that are not iterable as rows, such as a DataFrame;
    ConfigError for invalid settings; BundleError for an unusable `init`; and MissingExtraError
    without the extra `export`.
    """
    from thinstack.errors import InputError, needs_extra

    with needs_extra("export"):
        from thinstack.training.text_recipe import TableOptions
        from thinstack.training.train_texts import train_rows
    if isinstance(labels, str):  # each letter would be a label
        raise InputError(f"labels: expected a list, such as ['no', 'yes'], found {labels!r}")
    options = TableOptions(
        text_column=(text,),
        label_column=label,
        task=task,
        init=init,
        labels=tuple(labels),
        scale=scale,
        epochs=epochs,
    )
    train_rows(rows, Path(out), options, add=add, dev=dev, test=test)
    return load(Path(out) / "model-best")
