"""`tree_vectors`, a spaCy component: a vector of every Doc, span and token.

It is a `tree_sentiment` that shows other things of its results: `vector`, `has_vector`,
`vector_norm` and `similarity` of the Doc, of its spans and of its tokens, by
`thinstack.integrations.spacy.doc_vectors`. `doc.cats` stays as it is. docs/vectors.md describes its
settings.
"""

from typing import Literal

from spacy.tokens import Doc

from thinstack.bundle.opening import SEPARATE
from thinstack.core.config import Device
from thinstack.errors import InputError, shown
from thinstack.integrations.spacy.component import Source, TreeSentiment
from thinstack.integrations.spacy.doc_vectors import DocVectors
from thinstack.integrations.spacy.pipe import check_docs
from thinstack.runtime.long_sentences import MAX_WORDS
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.result import Result


class TreeVectors(TreeSentiment):
    """The component. Its settings are as in a `TreeSentiment`."""

    kind = "tree_vectors"
    learner = "thinstack train RECIPE, of the task vectors.v1"

    def __init__(
        self,
        name: str = "tree_vectors",
        model: str = "vectors",
        source: Source = "auto",
        device: Device = "cpu",
        threads: int | None = None,
        aggregation: Literal["tree", "words"] | None = None,
        max_words: int = MAX_WORDS,
        isolated: bool | None = None,
    ):
        super().__init__(
            name,
            model,
            source,
            device,
            threads,
            aggregation,
            max_words=max_words,
            isolated=isolated,
        )

    def show(self, doc: Doc, result: Result) -> None:
        """Set the hooks of a Doc."""
        DocVectors(self.name, self).attach(doc)

    def attach(self, doc: Doc) -> Doc:
        """Set the hooks of a Doc that has the vectors of this component, but not its hooks, which
        spaCy does not pass on: one that comes from `Doc.from_bytes`, from a DocBin
        (`store_user_data=True`) or from `nlp.pipe` with `n_process`. Returns the Doc. Raises
        InputError for a Doc without vectors."""
        check_docs([doc])
        DocVectors(self.name, self).attach(doc)
        return doc

    def check(self, predictor: Predictor) -> None:
        """Raise InputError for a model without vectors."""
        if not predictor.width:
            raise InputError(
                f"{self.name}: expected a model that gives vectors, found {shown(self.model)}: "
                f"take the model 'vectors' ({SEPARATE['vectors']})"
            )
