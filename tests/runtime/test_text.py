"""Predictions from raw text."""

import builtins
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from runtime.last_word_model import best, expected, write_last_word_bundle

import thinstack
from thinstack.errors import BundleError, InputError, MissingExtraError
from thinstack.runtime.text import predict_text

REPOSITORY = Path(__file__).parents[2]
TEXTS = ["So good. Very awful", "", "A film"]
LABELS = [[best(expected(".", 3)), best(expected("awful", 2))], [], [best(expected("film", 2))]]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_last_word_bundle(tmp_path_factory.mktemp("bundles") / "last_word").path


def test_each_text_has_its_sentences(bundle: Path) -> None:
    for model in (str(bundle), thinstack.load(bundle, threads=1)):
        assert [
            [found.label for found in read] for read in predict_text(TEXTS, model=model)
        ] == LABELS
        (whole, _, _) = predict_text(TEXTS, model=model, split=False)
        assert [found.label for found in whole] == [best(expected("awful", 5))]


def test_settings_reach_the_model(bundle: Path) -> None:
    ((left,),) = predict_text(["what a good film"], model=str(bundle), source="left")
    assert left.transitions.tolist() == [0, 0, 1, 0, 1, 0, 1]
    with pytest.raises(InputError, match="threads is 257"):
        next(predict_text(TEXTS, model=str(bundle), threads=257))


def test_an_unusable_model_fails_before_any_text_is_read(tmp_path: Path) -> None:
    texts = iter(TEXTS)
    with pytest.raises(BundleError, match="no such folder"):
        next(predict_text(texts, model=str(tmp_path / "gone")))
    assert list(texts) == TEXTS


def test_the_package_need_not_be_installed(bundle: Path) -> None:
    code = (
        "import importlib.metadata as m, sys; m.entry_points = lambda **_: m.EntryPoints()\n"
        "from thinstack.runtime.text import predict_text\n"
        "print([found.label for (found,) in predict_text(['so good'], model=sys.argv[1])])\n"
    )
    command = [sys.executable, "-c", code, str(bundle)]
    result = subprocess.run(command, capture_output=True, text=True, check=True, cwd=REPOSITORY)
    assert result.stdout == f"{[best(expected('good', 2))]}\n"


def test_without_spacy_the_pip_command_is_told(
    bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtraError, match=r'pip install "thinstack\[spacy\]"'):
        next(predict_text(TEXTS, model=str(bundle)))


@pytest.mark.parametrize(
    "error", [ImportError("libthing.so: not found"), ModuleNotFoundError("no thinc", name="thinc")]
)
def test_a_spacy_that_is_broken_is_not_called_missing(
    monkeypatch: pytest.MonkeyPatch, error: ImportError
) -> None:
    real = builtins.__import__

    def broken(name: str, *rest: Any) -> Any:
        if name.startswith("spacy"):
            raise error
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", broken)
    with pytest.raises(type(error), match=str(error)):
        next(predict_text(TEXTS))
