"""What Spark is handed, without Spark; `test_spark_local.py` runs it."""

import pickle
import sys
from types import ModuleType, SimpleNamespace

import pyarrow as pa
import pytest
from last_word_model import TABLE, write_last_word_bundle

from thinstack.bundle import open_bundle, opening
from thinstack.bundle.reading import pack
from thinstack.errors import BundleError, InputError, MissingExtraError, UnknownNameError
from thinstack.integrations import spark
from thinstack.integrations.corpora import score_batches
from thinstack.integrations.spark import scorer
from thinstack.runtime.predictor import Predictor

BATCH = pa.record_batch({"id": ["a", "b"], "text": ["So good. Very awful film!", None]})


class Broadcast:
    """Spark's, but for the way to executors."""

    def __init__(self, value):
        self.value = value


@pytest.fixture
def session(monkeypatch):
    """Something like a session, and a pyspark in which none is active."""
    module = ModuleType("pyspark.sql")
    module.SparkSession = SimpleNamespace(getActiveSession=lambda: None)
    monkeypatch.setitem(sys.modules, "pyspark", ModuleType("pyspark"))
    monkeypatch.setitem(sys.modules, "pyspark.sql", module)
    return SimpleNamespace(sparkContext=SimpleNamespace(broadcast=Broadcast))


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A bundle that has a name, "tiny"."""
    monkeypatch.setattr(opening, "BUNDLED", tmp_path / "bundled")
    return write_last_word_bundle(tmp_path / "bundled" / "tiny")


@pytest.fixture(autouse=True)
def _no_model_is_loaded():
    spark._loaded.cache_clear()
    yield
    spark._loaded.cache_clear()


def rows(found):
    return pa.Table.from_batches(found).to_pylist()


@pytest.mark.parametrize("output", ["sentences", "documents", "phrases"])
def test_it_gives_what_score_batches_gives(installed, output):
    score = scorer("tiny", output=output, abstain=0.9, classes=None, source="left")
    model = Predictor(installed, threads=1, abstain=0.9)
    wanted = rows(score_batches([BATCH], model, output=output, source="left"))
    assert rows(score([BATCH])) == wanted
    assert None in [row["label"] for row in wanted if row["scores"]]


def test_columns_are_named(installed):
    first = BATCH.slice(0, 1)
    renamed = first.rename_columns(["key", "body"])
    assert rows(scorer("tiny", text="body", id="key")([renamed])) == rows(scorer("tiny")([first]))


def test_the_model_is_loaded_once_in_a_process(installed, monkeypatch):
    sent = pickle.dumps(scorer("tiny"))
    loads = []
    start = Predictor._start
    monkeypatch.setattr(Predictor, "_start", lambda self: (loads.append(1), start(self))[1])
    for _ in range(3):  # each task unpickles it anew
        assert len(rows(pickle.loads(sent)([BATCH]))) == 3
    assert len(loads) == 1
    rows(scorer("tiny", abstain=0.9)([BATCH]))
    assert len(loads) > 1, "other settings are another model"


def test_pickles_are_small(last_word, session):
    assert len(pickle.dumps(scorer("sentiment"))) < 1000
    score = scorer(last_word.path, spark=session)
    assert score.model.files.value == pack(last_word)
    assert b"onnx" not in pickle.dumps(scorer("sentiment"))


def test_a_folder_need_not_be_there_later(tmp_path, session):
    folder = write_last_word_bundle(tmp_path / "own").path
    score = scorer(folder, spark=session)
    wanted = rows(score_batches([BATCH], folder))
    folder.rename(tmp_path / "gone")
    assert rows(score([BATCH])) == wanted


def test_another_bundle_of_the_name_is_refused_where_it_runs(installed):
    score = scorer("tiny")
    for path in sorted(installed.path.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    installed.path.rmdir()
    write_last_word_bundle(installed.path, table=TABLE[::-1].copy())
    with pytest.raises(BundleError, match="'tiny'"):
        score([BATCH])


def test_a_broadcast_that_is_damaged_is_refused(last_word, session):
    score = scorer(last_word.path, spark=session)
    score.model.files.value["onnx/model.onnx"] += b"?"
    with pytest.raises(BundleError, match=r"onnx/model\.onnx"):
        score([BATCH])


def test_the_schema_is_ddl():
    names = ("very negative", "negative", "neutral", "positive", "very positive")
    scores = ", ".join(f"`{name}`: FLOAT" for name in names)
    assert scorer("sentiment").schema == (
        "`id` STRING, `sentence` INT, `start` INT, `end` INT, `text` STRING, "
        f"`label` STRING, `polarity` DOUBLE, `scores` STRUCT<{scores}>, "
        "`error` STRUCT<`kind`: STRING, `message`: STRING>"
    )
    phrases = scorer("sentiment", output="phrases", classes=3).schema
    assert "`end` INT, `node` INT, `parent` INT, `text` STRING, `label` STRING, " in phrases


def test_names_of_classes_are_quoted(tmp_path, session):
    folder = write_last_word_bundle(tmp_path / "own", labels=("a`b", "c, d", "e")).path
    assert (
        "STRUCT<`a``b`: FLOAT, `c, d`: FLOAT, `e`: FLOAT>" in scorer(folder, spark=session).schema
    )


def test_what_cannot_run_is_told_on_the_driver(last_word, session):
    with pytest.raises(UnknownNameError, match="no-such"):
        scorer("no-such")
    with pytest.raises(InputError, match="self"):
        scorer(last_word.path, source="self", spark=session)
    with pytest.raises(InputError, match="no session"):
        scorer(last_word.path)
    with pytest.raises(InputError, match="Spark Connect"):
        scorer(last_word.path, spark=SimpleNamespace())


def test_a_name_needs_no_pyspark_and_a_folder_does(last_word, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    assert rows(scorer("sentiment")([BATCH]))
    with pytest.raises(MissingExtraError, match=r"pip install pyspark.*'spark'"):
        scorer(open_bundle(last_word.path).path)
