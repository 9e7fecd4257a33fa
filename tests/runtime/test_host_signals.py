"""What a signal handler of the program raises, such as a limit of time, is no error of a model."""

import gc
import signal
from collections.abc import Callable
from functools import partial
from types import FrameType
from unittest.mock import MagicMock

import onnxruntime
import pytest
from last_word_model import TABLE, last_word_model, pipeline, write_last_word_bundle

import thinstack
from thinstack.errors import BundleError, raised_by_signal_handler
from thinstack.integrations.corpora.inputs import Row
from thinstack.integrations.corpora.scoring import TextScorer
from thinstack.runtime.isolated_worker import read_message
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.session import OnnxSession, start_session

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="this system has no alarms")

SENTENCE = ["good", "film"] * 100


class TimeIsUpError(Exception):
    """As the limits of task queues raise."""


class Limit:
    """A handler, called in each of the ways that programs have."""

    def __init__(self, error: type[Exception]):
        self.error = error

    def __call__(self, *_: object) -> None:
        raise self.error("time is up")

    def method(self, number: int, frame: FrameType | None) -> None:
        self(number, frame)

    def part(self) -> Callable[..., None]:
        return partial(Limit.method, self)


def until_it_ends(handler, call, again=0):
    """Call it again and again until an alarm comes, which comes once, or every `again` seconds."""
    gc.collect()
    gc.disable()  # Python drops what is raised while it cleans up
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.02, again)
    try:
        for _ in range(2000):
            call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()


def scored(predictor):
    predictor.predict([SENTENCE] * 200)


def in_a_corpus(predictor):
    rows = [Row(str(number), "a good film " * 50) for number in range(50)]
    return partial(TextScorer(predictor, "sentences"), rows)


def in_a_pipeline(predictor):
    nlp = pipeline(predictor.bundle.path)
    texts = ["A good film. " * 20] * 100
    next(nlp.pipe(texts))
    return lambda: list(nlp.pipe(texts))


WAYS = [(TimeIsUpError, "object", False), (TimeoutError, "method", False)]
WAYS += [(RuntimeError, "partial", False), (TimeIsUpError, "object", True)]


# Python's own, where the alarm comes while it starts a thread.
@pytest.mark.filterwarnings("ignore:Exception ignored in thread started by")
@pytest.mark.parametrize(("error", "way", "isolated"), WAYS)
def test_it_passes_through_a_run(last_word, error, way, isolated):
    predictor, limit = thinstack.load(last_word.path, threads=1, isolated=isolated), Limit(error)
    handler = {"object": limit, "method": limit.method, "partial": limit.part()}[way]
    with pytest.raises(error, match="time is up") as caught:
        # Python drops an alarm that comes while it forgets a thread, as each isolated run has one.
        until_it_ends(handler, partial(scored, predictor), again=0.3 * isolated)
    assert type(caught.value) is error
    scored(predictor)


@pytest.mark.parametrize(
    ("use", "error"), [(in_a_corpus, ValueError), (in_a_pipeline, TimeIsUpError)]
)
def test_it_passes_through_what_keeps_errors_of_texts_apart(last_word, use, error):
    call = use(thinstack.load(last_word.path, threads=1))
    with pytest.raises(error, match="time is up") as caught:
        until_it_ends(Limit(error), call)
    assert type(caught.value) is error


@pytest.mark.parametrize("error", [RuntimeError, MemoryError])
def test_it_passes_through_loading(last_word, error):
    model = last_word.read("onnx/model.onnx")
    with pytest.raises(error, match="time is up"):
        until_it_ends(Limit(error), partial(start_session, model, "cpu", "a file"))


@pytest.mark.parametrize(
    ("during", "error"), [("start", OSError), ("greeting", TimeoutError), ("answer", ValueError)]
)
def test_it_passes_through_the_start_of_a_process(last_word, monkeypatch, during, error):
    """A limit of time comes while the program waits for the process of an isolated model."""
    name = "subprocess.Popen" if during == "start" else "read_message"
    calls = []

    def interrupted(*given, **more):
        calls.append(name)
        if during != "answer" or len(calls) > 1:
            signal.raise_signal(signal.SIGALRM)
        return read_message(*given, **more)

    monkeypatch.setattr(f"thinstack.runtime.isolated.{name}", interrupted)
    before = signal.signal(signal.SIGALRM, Limit(error))
    try:
        with pytest.raises(error, match="time is up") as caught:
            thinstack.load(last_word.path, isolated=True)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert type(caught.value) is error


@pytest.mark.parametrize("error", [TimeIsUpError("of a task"), RuntimeError("of a thread")])
def test_what_is_not_of_onnxruntime_passes(error):
    failing = MagicMock(run=MagicMock(side_effect=error))
    with pytest.raises(type(error), match=str(error)):
        OnnxSession(failing).run(["y"], {})


def test_what_onnxruntime_raises_is_a_bundle_error(tmp_path):
    bundle = write_last_word_bundle(tmp_path / "model", onnx=last_word_model(table=TABLE[:3]))
    predictor = Predictor(bundle)
    session = predictor._session
    with pytest.raises(BundleError, match=r"model\.onnx: .*1 nodes: .*Gather"):
        predictor.predict([["-LRB-"]])
    feeds = [(["none"], {}), (["root_scores"], {})]
    feeds += [(["root_scores"], {"token_ids": object(), "transitions": object()})]
    for names, given in feeds:
        with pytest.raises(BundleError):
            session.run(names, given)
    with pytest.raises(BundleError, match=rf"a file: onnxruntime {onnxruntime.__version__} "):
        start_session(b"no model", "cpu", "a file")


def test_only_handlers_that_are_set_are_known_by_their_errors():
    limit = Limit(ValueError)
    with pytest.raises(ValueError, match="time is up") as caught:
        limit()
    assert not raised_by_signal_handler(caught.value)
    with pytest.raises(ValueError, match="999") as odd:
        signal.Handlers(999)  # as the handlers of the system are made
    assert not raised_by_signal_handler(odd.value)
