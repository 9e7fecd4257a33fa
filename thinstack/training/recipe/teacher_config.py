"""The configuration of a teacher: bundles that label sentences, and how a model learns their
probabilities (Hinton et al. 2015, "Distilling the Knowledge in a Neural Network")."""

from pydantic import Field

from thinstack.core.config.base import Strict


class TeacherConfig(Strict):
    """Bundles that teach. A model learns their probabilities for every phrase, both beside the
    labels of the training file and on the lessons that are taught."""

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
    parser: str | None = Field(
        default=None,
        description="Name or folder of the bundle that makes the trees of the lesson `texts.v1`; "
        "by default the first of `bundles` that parses.",
    )
