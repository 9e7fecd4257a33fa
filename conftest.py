"""What all tests share: those of the package (`tests`) and of the laboratory (`lab`)."""

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

# Before torch is imported, here and in what tests start: their tensors are too small to share
# between threads.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# No test asks a hub of models.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
# Nor is the maker of onnxruntime told what tests run.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
# A shell has what it starts in the background ignore Ctrl-C, and so would all that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

import pytest
from hypothesis import HealthCheck, settings
from jobs import JOBS

# Examples are small, but a busy machine may be slow at any of them.
settings.register_profile(
    "patient", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("patient")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--job`."""
    choices = [*JOBS, "all"]
    parser.addoption("--job", choices=choices, help="run the tests of this job, or all there are")


def pytest_configure(config: pytest.Config) -> None:
    """Tests are of the CPU, also where there is a GPU: its sums differ from run to run. CUDA has a
    job of its own."""
    if config.getoption("--job") not in ("cuda", "all"):
        os.environ["CUDA_VISIBLE_DEVICES"] = ""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of other jobs."""
    if (job := config.getoption("--job")) == "all":
        return

    def chosen(item: pytest.Item) -> bool:
        name = item.nodeid.removeprefix("tests/")
        return job == next((job for job, starts in JOBS.items() if name.startswith(starts)), None)

    config.hook.pytest_deselected(items=[item for item in items if not chosen(item)])
    items[:] = filter(chosen, items)


def pytest_collection_finish() -> None:
    """What is imported by now stays. The garbage collector no longer looks at it, and seldom at the
    rest: a fifth of the processor time of tests was its own."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How many tests passed and were skipped, for the job that runs them (`.ci/lib.sh`)."""
    if counts := os.environ.get("THINSTACK_JOB_COUNTS"):
        found = (str(len(terminalreporter.stats.get(kind, ()))) for kind in ("passed", "skipped"))
        Path(counts).write_text(f"{' '.join(found)}\n", encoding="utf-8")


@pytest.fixture(scope="session", autouse=True)
def _own_notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Models that tests train are noted in a folder of theirs, and not in the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_waits_for_the_disk() -> Iterator[None]:
    """No test cuts the power: a disk need not have what is written."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _parts_exported_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Torch takes a second for each part of a cell; equal ones are exported once a run."""
    if "thinstack.export.onnx.parts" not in sys.modules:
        yield
        return
    from one_export import exported_once

    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # which the processes share
    with exported_once(folder):
        yield


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real treebanks and vectors; tests that need it are skipped where it is
    absent."""
    folder = Path(os.environ.get("THINSTACK_DATA", Path(__file__).parents[1] / "shared" / "data"))
    if not (folder / "sst" / "dev.txt").is_file():
        pytest.skip(
            "needs the Stanford Sentiment Treebank: set THINSTACK_DATA to the folder that holds "
            "sst/dev.txt"
        )
    return folder


@pytest.fixture(scope="session")
def last_word(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A bundle whose scores can be computed by hand, see `last_word_model`; nothing changes it."""
    from last_word_model import write_last_word_bundle

    return write_last_word_bundle(tmp_path_factory.mktemp("bundles") / "last_word")


@pytest.fixture(scope="session")
def parsing(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The same, of a model that parses."""
    from last_word_model import write_last_word_bundle

    return write_last_word_bundle(tmp_path_factory.mktemp("bundles") / "parsing", parser="capped")


@pytest.fixture(scope="session")
def sentiment() -> Any:
    """The bundled model; nothing changes it."""
    import thinstack

    return thinstack.load("sentiment", threads=1)


@pytest.fixture(scope="session")
def aspect_folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A bundle that finds terms, whose answers can be computed by hand, see `aspect_models`."""
    from aspect_models import write_aspect_bundle

    return write_aspect_bundle(tmp_path_factory.mktemp("bundles") / "aspects").path


@pytest.fixture(scope="session")
def vector_folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A bundle of classes and vectors that can be computed by hand, see `vector_models`."""
    from vector_models import write_vector_bundle

    return write_vector_bundle(tmp_path_factory.mktemp("bundles") / "vectors").path


@pytest.fixture(scope="session")
def scale_folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The bundle `parsing` with classes on a scale of sentiment."""
    from last_word_model import write_last_word_bundle

    folder, labels = tmp_path_factory.mktemp("bundles"), ("negative", "neutral", "positive")
    return write_last_word_bundle(folder / "scale", labels=labels, parser="capped").path


@pytest.fixture
def without_installed_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the bundled model has a name, whatever is installed here."""
    from thinstack.plugins.manager import PluginManager

    provided = PluginManager._provided
    monkeypatch.setattr(
        PluginManager,
        "_provided",
        lambda self, kind: [] if kind == "bundle" else provided(self, kind),
    )


@pytest.fixture
def short_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exports are verified on samples of at most 7 words, for tests of anything but these."""
    from one_export import shorten_samples

    shorten_samples(monkeypatch)


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Calls `thinstack` with these arguments; see `command_line`."""
    from command_line import run_command

    return partial(run_command, monkeypatch, capsys)
