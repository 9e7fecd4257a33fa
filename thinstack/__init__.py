"""Says how positive or negative a text is, each of its sentences, and every phrase in them.

    import thinstack

    model = thinstack.load()                 # the bundled model; or a name, a folder, an address
    result = model("The acting is superb, but the plot never comes alive. Still, I liked it.")
    result.label, result.polarity            # 'positive', 0.39: from -1 to 1
    result.highlights(3)                     # the phrases that say most
    result.about("acting", "plot|story")     # what is said of what
    for phrase in result.phrases:            # every phrase of every tree
        phrase.text, phrase.label, phrase.polarity, phrase.start, phrase.end
    result.sentences[0].why()                # what each phrase contributes
    result.svg(), result.to_dict()           # a notebook draws `result` by itself
    for result in model.stream(texts): ...   # any iterable, in bounded memory
    frame = thinstack.score_frame(reviews, text="review")  # pandas, polars or pyarrow
    thinstack.report(reviews, text="review", by="store")   # a page: what they say about what

`help(model)` and `help(result)` say more. `thinstack.train_texts(rows, out="runs/mine")` trains a
model on texts of yours. The command `thinstack --help` does all of this in a shell, and
`nlp.add_pipe("tree_sentiment")` in spaCy.
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
    from thinstack.data.trees.binarize import binarize, from_binary, to_binary
    from thinstack.data.trees.brackets import from_brackets, to_brackets
    from thinstack.data.trees.conllu import read_conllu, to_conllu, write_conllu
    from thinstack.data.trees.head_rules import english_head
    from thinstack.data.trees.nltk import from_nltk, to_nltk
    from thinstack.data.trees.parent_arrays import (
        read_constituency_trees,
        read_dependency_trees,
        write_constituency_trees,
        write_dependency_trees,
    )
    from thinstack.data.trees.phrases import project_labels
    from thinstack.data.trees.treebank import read_trees
    from thinstack.integrations.frames import score_frame
    from thinstack.integrations.report.run import report
    from thinstack.integrations.search.phrase_index import Hit, PhraseIndex
    from thinstack.integrations.show.render import render
    from thinstack.integrations.themes.run import themes
    from thinstack.integrations.themes.themes import Theme, Themes
    from thinstack.runtime import Aspect, Phrase, Prediction, Predictor, Result
else:
    __getattr__ = lazy(
        __name__,
        {
            "core.tree": "Tree",
            "data.trees.binarize": "binarize from_binary to_binary",
            "data.trees.brackets": "from_brackets to_brackets",
            "data.trees.conllu": "read_conllu to_conllu write_conllu",
            "data.trees.head_rules": "english_head",
            "data.trees.nltk": "from_nltk to_nltk",
            "data.trees.parent_arrays": "read_constituency_trees read_dependency_trees "
            "write_constituency_trees write_dependency_trees",
            "data.trees.phrases": "project_labels",
            "data.trees.treebank": "read_trees",
            "integrations.frames": "score_frame",
            "integrations.report.run": "report",
            "integrations.search.phrase_index": "Hit PhraseIndex",
            "integrations.show.render": "render",
            "integrations.themes.run": "themes",
            "integrations.themes.themes": "Theme Themes",
            "runtime": "Aspect Phrase Prediction Predictor Result",
        },
        dict.fromkeys(
            ("predict", "pipeline", "sentiment", "predict_text"),
            "load a model and call it, thinstack.load()(text)",
        ),
    )

__all__ = [
    "Aspect",
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
    "read_constituency_trees",
    "read_dependency_trees",
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
    "write_constituency_trees",
    "write_dependency_trees",
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

    `path_or_name`: the path of the bundle's folder; or the name of a bundle that thinstack or
    another installed package brings along; or an address on the Hugging Face hub, `hf://user/name`
    or `hf://user/name@revision` (extra `hub`). `device`: where the model runs; "auto" runs large
    batches on a GPU, by CUDA or else WebGPU, and the others on the CPU. Where no GPU works, it
    warns and uses the CPU. `threads`: how many share the batches; None means one per core that the
    process may use. `classes`: 3 or 2 shows the five classes of a sentiment model as negative,
    (neutral) and positive. `abstain`: if no class is as probable as this, there is no label
    (`thinstack.runtime.views`). `max_words`: a longer sentence is read in parts; at least 2.
    `aggregation`: "tree" reads a text of several sentences as one tree over their trees, "mean"
    takes the mean of what they say alone; by default it is "tree" if the model has learnt it.
    `isolated`: whether the model runs in processes of its own, with limits of memory and time; by
    default it does unless it is your own, as docs/third-party-models.md explains.
    `allow_operators`: ONNX operators that an isolated model may have, beside those that
    thinstack's own models have.

    Raises UnknownNameError, PluginError or BundleError if there is no such bundle or it is damaged;
    MissingExtraError without onnxruntime or, for an address, without huggingface_hub; DeviceError
    if the GPU that `device` names does not work; InputError for classes that the model cannot show,
    for an `aggregation` that it does not have, and for an `abstain`, `threads` or `max_words` out
    of range.
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
    dev: "Iterable[Mapping[str, object]] | None" = None,
    init: str | None = None,
    out: str | Path,
    labels: "Sequence[str]" = (),
    scale: bool | None = None,
    epochs: int | None = None,
    test: "Iterable[Mapping[str, object]] | None" = None,
    task: Literal["texts", "spans", "aspects"] | None = None,
) -> "Predictor":
    """Train a model on texts and their classes, as `thinstack train TABLE` does, and load it.

    `rows`: mappings with the columns `text` and `label`, for example a `datasets.Dataset` or
    `DataFrame.to_dict("records")`. `dev`: more rows, to measure the model on; without them a tenth
    of the rows of each class is set aside. With 200 such rows or more they also choose the epoch;
    `test` are rows that choose nothing, and are measured on at the end. `epochs`: passes over the
    rows, at most; by default their number decides. `init`: name or folder of the bundle to start
    from, or "none" to start from word vectors only; by default as docs/training.md says.
    `out`: the folder for the bundle, `model-best`,
    and for the recipe, which docs/recipes.md explains.

    `labels`: all classes in their order; by default they come from the rows. `scale`: whether the
    classes are a scale in this order; by default their names and the column's tell. From a model of
    sentiment, a scale of sentiment is learnt by its five classes, and phrases keep scores. `task`:
    what the rows label. It must be said if there are columns "start" and "end". "texts": whole
    texts. "spans": phrases, from "start" to "end". "aspects": terms, from "start" to "end", by what
    is said of them; a row without these and without a label is a text without terms.

    Raises DataError for rows that cannot be used. Raises InputError for a scale whose order is not
    known, for spans that nobody asked for, and for what does not iterate over rows, such as a
    DataFrame. Raises ConfigError for settings that do not fit,
    BundleError for an unusable `init`, and MissingExtraError without the extra `export`.
    """
    from thinstack.errors import needs_extra

    with needs_extra("export"):
        from thinstack.training.table_task import TableOptions
        from thinstack.training.train_texts import train_rows
    options = TableOptions(
        text_column=(text,),
        label_column=label,
        task=task,
        init=init,
        labels=tuple(labels),
        scale=scale,
        epochs=epochs,
    )
    train_rows(rows, Path(out), options, dev=dev, test=test)
    return load(Path(out) / "model-best")
