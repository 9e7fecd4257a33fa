"""What the components have in common: Docs are annotated in batches."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from spacy.pipeline import Pipe
from spacy.tokens import Doc

__all__ = ["BatchedPipe"]


class BatchedPipe(Pipe):
    """A component that has `predict(docs)` and `set_annotations(docs, found)`."""

    predict: Any
    set_annotations: Any

    def __call__(self, doc: Doc) -> Doc:
        """Annotate one Doc. Raises what `predict` does."""
        self.set_annotations([doc], self.predict([doc]))
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Annotate Docs in order, `batch_size` in one call of the model.

        When that fails, its Docs are tried one by one. One that fails then goes to the error
        handler (`nlp.set_error_handler`; the default raises) and is left out.
        """
        rest = iter(stream)
        while docs := list(islice(rest, batch_size)):
            try:
                self.set_annotations(docs, self.predict(docs))
            except Exception:
                yield from super().pipe(docs)
            else:
                yield from docs
