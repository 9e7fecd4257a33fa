"""Reads models of transformers, from a folder or from the hub: quietly, and with errors that say
where they were looked for."""

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

from thinstack.errors import ConfigError, DataError


def hub_answers() -> bool:
    """Whether the hub can be asked: transformers would try again for half a minute."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return False
    try:
        urlopen(constants.ENDPOINT, timeout=5).close()
    except HTTPError:
        return True  # A mirror answers, though it has no page there.
    except OSError:
        return False
    return True


@contextmanager
def readable(expected: str, name: str, folder: Path, *more: type[Exception]) -> Iterator[None]:
    """Turn the errors that transformers raises where it finds no model into DataError. Its message
    begins with what was `expected`, in the `folder` or by this name on the hub. `more`: errors of
    what reads weights."""
    problems: tuple[type[Exception], ...] = (OSError, ValueError, KeyError, RuntimeError)
    problems += (pickle.UnpicklingError, *more)
    try:
        yield
    except problems as error:
        if isinstance(error, ConfigError):
            raise
        first = next((line for line in str(error).splitlines() if line.strip()), "no message")
        where = folder if folder.is_dir() else f"{folder}, or the encoder {name} on the hub"
        raise DataError(f"{expected} in {where}; {type(error).__name__}: {first:.300}") from None


@contextmanager
def quiet(transformers: Any) -> Iterator[None]:
    """Silence transformers: no progress bars, and no warnings of weights that are not read, such as
    a pooler's."""
    logging = transformers.utils.logging
    before = logging.get_verbosity()
    bars = logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(before)
        if bars:
            logging.enable_progress_bar()


def variant_of(folder: Path) -> str | None:
    """The variant of the weights in a folder: "fp16" if their file is model.fp16.safetensors. None
    if the folder has weights without a variant, or no weights."""
    if (folder / "model.safetensors").exists() or (folder / "pytorch_model.bin").exists():
        return None
    names = sorted(path.name for path in folder.glob("model.*.safetensors"))
    return names[0].split(".")[1] if names else None
