"""Read transformers models from a folder or from the hub, silently, with errors that name the
places searched."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

from thinstack.errors import ConfigError, DataError


def hub_answers() -> bool:
    """Return whether the hub is reachable; transformers would retry for half a minute."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return False
    try:
        urlopen(constants.ENDPOINT, timeout=5).close()
    except OSError as error:
        return isinstance(error, HTTPError)  # A mirror responds even if this page is missing.
    return True


@contextmanager
def loading(
    transformers: Any, expected: str, name: str, folder: Path, *more: type[Exception]
) -> Iterator[None]:
    """Silence transformers: no progress bars, and no warnings about unused weights, such as a
    pooler's. Convert its errors about a missing model to DataError. The message begins with what
    was `expected`, in the `folder` or under this name on the hub. `more`: further errors to
    convert, from the weights reader."""
    problems: tuple[type[Exception], ...] = (OSError, ValueError, KeyError, RuntimeError)
    problems += (UnpicklingError, *more)
    logging = transformers.utils.logging
    before, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    except problems as error:
        if isinstance(error, ConfigError):
            raise
        first = next((line for line in str(error).splitlines() if line.strip()), "no message")
        where = folder if folder.is_dir() else f"{folder}, or the encoder {name} on the hub"
        raise DataError(f"{expected} in {where}; {type(error).__name__}: {first:.300}") from None
    finally:
        logging.set_verbosity(before)
        if bars:
            logging.enable_progress_bar()


def variant_of(folder: Path) -> str | None:
    """Return the variant of the weights in a folder: "fp16" for model.fp16.safetensors. None if the
    folder contains weights without a variant, or no weights."""
    if (folder / "model.safetensors").exists() or (folder / "pytorch_model.bin").exists():
        return None
    names = sorted(path.name for path in folder.glob("model.*.safetensors"))
    return names[0].split(".")[1] if names else None
