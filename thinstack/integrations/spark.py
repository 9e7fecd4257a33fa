"""Scores the rows of a Spark DataFrame: `df.mapInArrow(score, score.schema)`."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thinstack.bundle import Bundle, is_installed, open_bundle
from thinstack.bundle.reading import pack, unpacked
from thinstack.core.config import Aggregation, TreeSource
from thinstack.errors import BundleError, InputError, needs_extra
from thinstack.integrations.corpora.batches import DEFAULT_ID, score_batches, scored_schema
from thinstack.integrations.corpora.inputs import DEFAULT_TEXT
from thinstack.integrations.corpora.scored_rows import Output
from thinstack.integrations.corpora.scoring import TextScorer
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.units import MAX_WORDS

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

__all__ = ["Scorer", "SparkModel", "scorer"]

_MODELS_KEPT = 4
"""The models of a worker process, which may serve several jobs."""


@dataclass(frozen=True, slots=True)
class SparkModel:
    """The source of the model for worker processes: the name of an installed bundle, or the content
    of a folder in a broadcast. `digest`: the digest of the bundle's manifest. `settings`: those of
    `Predictor`."""

    name: str
    digest: str
    settings: tuple[tuple[str, Any], ...]
    files: Any = field(default=None, compare=False, repr=False)

    def load(self) -> Predictor:
        """Load the model on one thread, once per process. Raises what `open_bundle` and `Predictor`
        raise, and BundleError if this name refers to another bundle here."""
        return _loaded(self)


@lru_cache(maxsize=_MODELS_KEPT)
def _loaded(model: SparkModel) -> Predictor:
    if model.files is None:
        bundle = open_bundle(model.name)
    else:
        bundle = unpacked(model.files.value, f"the broadcast of {model.name}")
    if bundle.manifest.digest != model.digest:
        raise BundleError(
            f"{bundle.path}: expected the same bundle {model.name!r} as on the driver, found "
            "another: install the same version on the driver and on every executor"
        )
    return Predictor(bundle, threads=1, **dict(model.settings))


@dataclass(frozen=True, slots=True)
class Scorer:
    """The function that `mapInArrow` calls in each task, as `scorer` returns it.

    Attributes:
        model: the source of the model for workers.
        labels: the names of its classes.
        text, id, output, source: as for `score_batches`.
    """

    model: SparkModel
    labels: tuple[str, ...]
    text: str
    id: str
    output: Output
    source: TreeSource

    @property
    def schema(self) -> str:
        """The columns of the scored rows in Spark's DDL; see
        `thinstack.integrations.corpora.scored_schema`."""
        return _ddl(scored_schema(self.labels, self.output), ", ", " ")

    def __call__(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Run `score_batches` with the model, which each process loads once."""
        settings = {name: getattr(self, name) for name in ("text", "id", "output", "source")}
        return score_batches(batches, self.model.load(), **settings)


def scorer(
    model: str | Path = "sentiment",
    *,
    text: str = DEFAULT_TEXT,
    id: str = DEFAULT_ID,
    output: Output = "sentences",
    source: TreeSource = "auto",
    classes: int | None = None,
    abstain: float | None = None,
    max_words: int = MAX_WORDS,
    aggregation: Aggregation | None = None,
    isolated: bool | None = None,
    spark: "SparkSession | None" = None,
) -> Scorer:
    """Return the function for `DataFrame.mapInArrow`. Its `schema` is the other argument.

    `model`: the name or the folder of a bundle. A named bundle must be installed on the driver and
    on every executor. A folder is read on the driver, and the session `spark` broadcasts it once;
    by default this is the active session. Executors need thinstack, onnxruntime and pyarrow.
    `text`, `id`: the columns. `isolated`: the driver decides for all executors whether a model is
    your own. The other arguments are those of `score_batches` and `thinstack.load`.

    Raises what `thinstack.load` and `score_batches` raise for the model and its settings. For a
    folder, raises InputError without an active session, and with Spark Connect, which cannot
    broadcast. Raises MissingExtraError without pyspark.
    """
    bundle = open_bundle(model)
    views = {"classes": classes, "abstain": abstain, "max_words": max_words}
    settings: dict[str, Any] = {**views, "aggregation": aggregation, "isolated": isolated}
    loaded = Predictor(bundle, threads=1, **settings)
    TextScorer(loaded, output, source)
    files = None if is_installed(model) else _broadcast(bundle, spark)
    settings["isolated"] = loaded.isolated
    how = SparkModel(str(model), bundle.manifest.digest, tuple(settings.items()), files)
    return Scorer(how, loaded.labels, text, id, output, source)


def _broadcast(bundle: Bundle, spark: "SparkSession | None") -> Any:
    with needs_extra("spark", "pyspark"):
        from pyspark.sql import SparkSession
    spark = spark or SparkSession.getActiveSession()
    if spark is None:
        raise InputError(
            "a model in a folder needs a Spark session that sends it to the executors, but no "
            "session is active: create one first, or pass it as spark="
        )
    try:
        context = spark.sparkContext
    except AttributeError:  # a PySparkAttributeError
        raise InputError(
            "expected a session with a SparkContext, found a Spark Connect session, which cannot "
            "broadcast: install the model on the executors and pass its name "
            "(docs/publishing-a-model.md)"
        ) from None
    return context.broadcast(pack(bundle))


def _ddl(fields: Iterable["pa.Field"], between: str, behind: str) -> str:
    names = {"string": "STRING", "int32": "INT", "float": "FLOAT", "double": "DOUBLE"}
    return between.join(
        f"`{one.name.replace('`', '``')}`{behind}"
        + (names.get(str(one.type)) or f"STRUCT<{_ddl(one.type, ', ', ': ')}>")
        for one in fields
    )
