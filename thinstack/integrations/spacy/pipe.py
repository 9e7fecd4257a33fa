"""Base of the components: batched annotation of Docs, saving as a bundle, and the requirements and
scores of a pipeline that contains them."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Any, Final

import srsly  # type: ignore[import-untyped]
from pydantic import TypeAdapter, ValidationError
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.util import get_minor_version_range, split_requirement

from thinstack._version import __version__
from thinstack.bundle.reading import Files
from thinstack.bundle.writing import write_packed
from thinstack.core.config import Device
from thinstack.errors import BundleError, InputError, raised_by_signal_handler, shown
from thinstack.runtime.devices import GPUS
from thinstack.text.batching import each_part, in_batches

BATCH_TOKENS: Final = 1 << 16
"""Maximum number of tokens of the Docs in one call of the model. A single Doc may be longer."""

SOURCE: Final = "the saved tree_sentiment"
"""Prefix of messages about the bundle in a saved pipeline."""

_FILES = TypeAdapter(Files)
_PARTS = ("micro_p", "micro_r", "micro_f", "macro_p", "macro_r", "macro_f", "macro_auc")
SCORE_WEIGHTS: dict[str, float | None] = {"cats_score": 1.0} | {
    f"cats_{name}": None for name in ("score_desc", *_PARTS, "f_per_type")
}
"""The weights of the scores in the final score of a training run. Only `cats_score` counts."""

Batch = list[Doc]
Result = Callable[[], Any]


def check_docs(docs: Iterable[Doc] | Doc) -> list[Doc]:
    """Return the Docs as a list. Raises InputError for other objects, and for a single Doc, which
    iterates over its tokens."""
    if isinstance(docs, Doc):
        raise InputError(f"expected Docs, found the Doc {shown(docs, 60)}: put it in a list")
    listed = list(docs)
    if odd := [doc for doc in listed if not isinstance(doc, Doc)]:
        raise InputError(
            f"expected a spaCy Doc, found {shown(odd[0])}: use nlp(text) or nlp.pipe(texts)"
        )
    return listed


class BatchedPipe(Pipe):
    """A component with `predict(docs)` and `set_annotations(docs, results)`, which is saved as the
    files that `_saved` returns.

    A component that can score in the background has `threads_at_work` above 1, `read(docs)` and
    `run(reading)`. The last two together are equivalent to `predict`, and only `read` accesses
    Docs.
    """

    name: str
    device: Device
    predict: Any
    set_annotations: Any
    read: Any
    run: Any
    _saved: Any
    _labels: tuple[str, ...] = ()
    threads_at_work = 1

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes, in their order; empty until the model is loaded."""
        return self._labels

    def __call__(self, doc: Doc) -> Doc:
        """Annotate one Doc. Raises what `predict` raises."""
        self.set_annotations([doc], self.predict([doc]))
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Annotate Docs in order. One call of the model processes `batch_size` Docs, or fewer long
        ones.

        With several threads, the next batch is read while one is scored, unless `batch_size` is 1.
        Reading a batch also runs the preceding components. Errors of `stream` are raised after the
        Docs before them.

        If a batch fails, its halves are retried recursively. A Doc that fails on its own is passed
        to the error handler (`nlp.set_error_handler`; the default raises) and dropped.
        """
        tokens = BATCH_TOKENS * self.threads_at_work
        batches = in_batches(  # objects other than Docs are reported on reading
            stream, batch_size, lambda doc: len(doc) if isinstance(doc, Doc) else 0, tokens
        )
        scored: Iterator[tuple[Batch, Result]]
        scored = ((docs, partial(self.predict, docs)) for docs in batches)
        if self.threads_at_work > 1 and batch_size > 1:
            scored = self._ahead(batches)
        for docs, result in scored:
            annotate = partial(self._annotate, docs, result)
            for part, error in each_part(docs, annotate, Exception):
                if error is None:
                    yield from part
                else:
                    self.get_error_handler()(self.name, self, list(part), error)

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the bundle to the folder `path`. thinstack's commands can read it like any other
        bundle."""
        write_packed(self._saved(), Path(path))

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Serialize the bundle that `to_disk` writes to bytes."""
        packed: bytes = srsly.msgpack_dumps(self._saved())
        return packed

    def _annotate(self, batch: Batch, result: Result, part: Sequence[Doc]) -> None:
        """Annotate a part of a batch. `result`: returns the results of the whole batch."""
        self.set_annotations(part, result() if part is batch else self.predict(part))

    def _ahead(self, batches: Iterable[Batch]) -> Iterator[tuple[Batch, Result]]:
        """Yield batches whose scoring has started, each after the following one has been read."""
        waiting = deque[tuple[Batch, Result]]()
        problem = None
        with ThreadPoolExecutor(1) as executor:
            try:
                for docs in batches:
                    try:
                        result = executor.submit(self.run, self.read(docs)).result
                    except Exception:  # raised again when the batch is annotated
                        result = partial(self.predict, docs)
                    waiting.append((docs, result))
                    if len(waiting) > 1:
                        yield waiting.popleft()
            except Exception as error:
                problem = error
            yield from waiting
        if problem is not None:
            raise problem


def register_component(
    kind: type[BatchedPipe],
    factory: str,
    started: Callable[[Any, Any], None] | None = None,
    *,
    assigns: Iterable[str],
    scorer: str | None = None,
    weights: dict[str, float | None] | None = None,
) -> Callable[..., Any]:
    """Register a component with spaCy: its settings are the arguments of its class, with their
    defaults, except for the registered `scorer`, if any. Returns the factory for `nlp.add_pipe`,
    which creates the component and calls `started` with the pipeline and the component."""

    def make(nlp: Any, name: str, **settings: Any) -> Any:
        component = kind(name, **settings)  # type: ignore[call-arg]
        note_requirement(nlp.meta, component.device)
        if started is not None:
            started(nlp, component)
        return component

    arguments = signature(kind).parameters
    asked = [one.replace(default=Parameter.empty) for one in arguments.values()]
    pipeline = Parameter("nlp", Parameter.POSITIONAL_OR_KEYWORD, annotation=Any)
    make.__signature__ = Signature([pipeline, *asked])  # type: ignore[attr-defined]
    defaults = {name: one.default for name, one in arguments.items() if name != "name"}
    Language.factory(
        factory,
        assigns=[*assigns],
        default_config=defaults | ({"scorer": {"@scorers": scorer}} if scorer else {}),
        default_score_weights=weights or {},
        func=make,
    )
    return make


def files_from_bytes(data: bytes) -> Files:
    """Read the files of a bundle from `to_bytes`. Raises BundleError for any other bytes."""
    try:
        return _FILES.validate_python(srsly.msgpack_loads(data), strict=True)
    except Exception as error:  # msgpack raises many types of errors
        if raised_by_signal_handler(error):
            raise
        why = "" if isinstance(error, ValidationError) else f" ({error!s:.200})"
        problem = f"found other bytes; save the pipeline again{why}"
        raise BundleError(f"{SOURCE}: expected the files of a bundle, {problem}") from None


def note_requirement(meta: dict[str, Any], device: Device) -> None:
    """Add thinstack to the requirements in a pipeline's `meta`, unless it is there already.

    `spacy package` writes them into the wheel. Automatically, it only detects packages with a file
    top_level.txt, which thinstack's build does not write.
    """
    required = meta.setdefault("requirements", [])
    if "thinstack" not in [split_requirement(line)[0] for line in required]:
        extra = next((gpu.extra for gpu in GPUS if gpu.name == device), "cpu")
        required.append(f"thinstack[{extra}]{get_minor_version_range(__version__)}")
