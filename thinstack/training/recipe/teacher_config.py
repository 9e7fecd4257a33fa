"""The configuration of a teacher: bundles that label sentences, and how a model learns their
probabilities (Hinton et al. 2015, "Distilling the Knowledge in a Neural Network")."""

from pydantic import Field

from thinstack.core.config.base import Strict

__all__ = ["SourceWeights", "TeacherConfig"]


class SourceWeights(Strict):
    """How much a sentence counts in the loss if only the teacher labels it. A sentence of the
    training file counts 1."""

    exchanged: float = Field(default=1.0, gt=0, description="Trees with exchanged subtrees.")
    negated: float = Field(default=1.0, gt=0, description="Negated variants.")
    texts: float = Field(default=1.0, gt=0, description="Sentences of texts.")


class TeacherConfig(Strict):
    """Bundles that teach. A model learns their probabilities for every phrase, both beside the
    labels of the training file and on sentences without labels."""

    bundles: tuple[str, ...] = Field(
        min_length=1,
        description="Names or folders of bundles with the classes of `model.labels`; of several, "
        "the mean of their probabilities is learnt.",
    )
    alpha: float = Field(
        default=0.3,
        ge=0,
        le=1,
        description="Weight of the label of the training file, where there is one; the rest is the "
        "teacher's.",
    )
    exchanged: float = Field(
        default=1.0,
        ge=0,
        description="How many trees to make for each training tree by exchanging phrases of up to "
        "8 words for phrases of other trees, of like length.",
    )
    negated: float = Field(
        default=1.0,
        ge=0,
        description="How many English variants to make for each training tree by negating phrases "
        "that have a label other than the middle one, where they stand or in short sentences.",
    )
    texts: tuple[str, ...] = Field(
        default=(),
        description="Files of English text in the folder of the data, read line by line; of "
        "`.conllu` the comments `# text`. Their sentences get the trees of `parser`.",
    )
    max_text_words: int = Field(
        default=30, gt=1, description="Sentences of texts with more words are left out."
    )
    parser: str | None = Field(
        default=None,
        description="Name or folder of the bundle that makes the trees of texts; by default the "
        "first of `bundles` that parses.",
    )
    weights: SourceWeights = Field(
        default=SourceWeights(), description="How much each kind of sentence counts."
    )
