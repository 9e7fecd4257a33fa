"""`manifest.json`: the contents of a bundle, with the SHA-256 of every file and of the manifest.

A digest detects corruption, but it is not a signature. Whoever can change a file can also write a
new manifest, so a digest does not prove who made a bundle.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, NoReturn, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from thinstack._version import __version__
from thinstack.core.config.base import problems
from thinstack.errors import BundleError, shown

BUNDLE_SCHEMA: Final = 1

CONFIG_FILE = "config.json"
VOCABULARY_FILE = "vocabulary.txt"
ONNX_FILE = "onnx/model.onnx"
GPU_FILE = "onnx/model.gpu.onnx"
WEIGHTS_FILE = "model.safetensors"
TORCHSCRIPT_FILE = "torchscript/model.pt"
CASES_FILE = "cases.json"
REPORT_FILE = "verification.json"
CARD_FILE = "README.md"
RELABEL_FILE = "relabel.json"
TOKENIZER_FILE = "tokenizer.json"
MANIFEST_FILE = "manifest.json"


_KIB, _MIB, _GIB = 1 << 10, 1 << 20, 1 << 30

MANIFEST_BYTES: Final = _MIB
MOST_FILES: Final = 1000
MOST_BYTES: Final = 8 * _GIB
"""For all files of a bundle together, so that a download ends."""
MOST_ENTRIES: Final = 3_000_000
"""For a vocabulary; GloVe's largest table has 2.2 million words."""

_LIMITS = {  # bytes of a file by name, by default 4 GiB
    "config.json": 256 * _KIB,
    "vocabulary.txt": 32 * _MIB,
    "tokenizer.json": 128 * _MIB,
    "relabel.json": _MIB,
    "cases.json": 16 * _MIB,
    "verification.json": 16 * _MIB,
    "README.md": 4 * _MIB,
    "onnx/model.onnx": 2 * _GIB - 1,  # the limit of protocol buffers
    "onnx/model.gpu.onnx": 64 * _MIB,
}

MEND = "export, copy or install the bundle again"  # for a damaged one
_LISTED = 5  # problems of a manifest in an error
_PART = r"[A-Za-z0-9_][A-Za-z0-9._-]*"
# Excludes `..` and absolute, hidden and drive names; in pydantic's regular expressions `$` is the
# very end.
FileName = Annotated[str, Field(pattern=rf"^{_PART}(/{_PART})*$", max_length=200)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class FileRecord(_Part):
    """Digest (SHA-256, hex) and size (bytes) of one file."""

    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    size: int = Field(ge=0)

    @classmethod
    def of(cls, content: bytes) -> Self:
        """Create the record of this content."""
        return cls(sha256=hashlib.sha256(content).hexdigest(), size=len(content))


class Producer(_Part):
    """The program that wrote a bundle."""

    name: str = "thinstack"
    version: str = __version__


class Manifest(_Part):
    """The contents of a bundle.

    Attributes:
        schema_version: version of the layout of bundles.
        producer: the program that wrote the bundle.
        created: when it was written, as stated by the producer (ISO 8601), or None.
        files: every file except the manifest, by its name in the bundle, with `/` between folders.
        metrics: metrics of the model, any JSON.
        data: the training data of the model, and its terms of use.
        digest: SHA-256 (hex) of the manifest without this field, as JSON in UTF-8 with sorted keys
            and no whitespace.
    """

    schema_version: Literal[1] = BUNDLE_SCHEMA
    producer: Producer = Producer()
    created: str | None = None
    files: dict[FileName, FileRecord] = Field(max_length=MOST_FILES)
    metrics: dict[str, JsonValue] = {}
    data: str = ""
    digest: str = ""

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        for name, record in self.files.items():
            if record.size > (most := _LIMITS.get(name, 4 * _GIB)):
                raise ValueError(f"{name} is {record.size:,} bytes; the limit is {most:,}")
        total = sum(record.size for record in self.files.values())
        if total > MOST_BYTES:
            raise ValueError(f"the files total {total:,} bytes; the limit is {MOST_BYTES:,}")
        return self

    @classmethod
    def seal(cls, files: Mapping[str, bytes], **fields: Any) -> Self:
        """Create the manifest for these files, with the other fields. Raises BundleError for an
        invalid name or metric."""
        try:
            records = {name: FileRecord.of(content) for name, content in files.items()}
            manifest = cls(files=records, **fields)
            return manifest.model_copy(update={"digest": _digest(manifest.model_dump(mode="json"))})
        except ValidationError as error:
            problem = problems(error, most=_LISTED)
        except ValueError as error:
            problem = f"metrics: {error}"
        raise BundleError(f"cannot write the bundle: {problem}")

    @classmethod
    def parse(cls, content: bytes, *, source: str) -> Self:
        """Parse the output of `to_bytes`. Raises BundleError for other data or a newer schema."""
        try:
            raw = json.loads(content, parse_constant=_no_constant)
            if not isinstance(raw, dict) or not {"schema_version", "digest", "files"} <= raw.keys():
                raise BundleError(f"{source}: not a thinstack bundle manifest")
            whole = raw["digest"] == _digest(raw)
        except (ValueError, RecursionError) as error:
            raise BundleError(f"{source}: invalid JSON ({error}); {MEND}") from None
        # The digest comes before the schema version, which is meaningless in a damaged manifest.
        if not whole:
            raise BundleError(f"{source}: changed (its digest does not match); {MEND}")
        check_schema(raw, BUNDLE_SCHEMA, source=source, producer=raw.get("producer"))
        try:
            return cls.model_validate(raw)
        except ValidationError as error:
            raise BundleError(f"{source}: {problems(error, most=_LISTED)}") from None

    def to_bytes(self) -> bytes:
        """Return the content of `manifest.json`."""
        text = json.dumps(
            self.model_dump(mode="json"), indent=2, sort_keys=True, ensure_ascii=False
        )
        return f"{text}\n".encode("utf-8", "surrogatepass")


def check_schema(
    raw: Mapping[str, Any], readable: int, *, source: str, producer: object = None
) -> None:
    """Raise BundleError if `raw["schema_version"]` is newer than the `readable` one."""
    schema = raw.get("schema_version")
    if isinstance(schema, int) and schema > readable:
        version = str(producer.get("version")) if isinstance(producer, dict) else ""
        plain = re.fullmatch(r"[0-9][0-9A-Za-z.]*", version)
        wanted = f": {version} or later" if plain else ""
        raise BundleError(
            f"{source}: schema {shown(schema)}, but thinstack {__version__} reads schemas up "
            f"to {readable}; install a newer thinstack{wanted}"
        )


def _digest(raw: Mapping[str, Any]) -> str:
    covered = {key: value for key, value in raw.items() if key != "digest"}
    text = json.dumps(
        covered, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def json_file(data: object) -> bytes:
    """Serialize data to indented JSON."""
    return (json.dumps(data, indent=1) + "\n").encode()
