"""What a recipe says for the head of the card."""

from pydantic import Field

from thinstack.core.config.base import Strict


class CardConfig(Strict):
    """The fields at the top of the card, as the Hugging Face hub has them. A field that is left out
    is not written. All other fields come from the model and its figures."""

    language: tuple[str, ...] = Field(
        default=(), description='Languages of the texts by their codes, such as ["en"].'
    )
    license: str | None = Field(
        default=None,
        description='Licence of the weights, as the hub calls it: "mit", "apache-2.0", "other".',
    )
    base_model: str | None = Field(
        default=None,
        description='The model of the hub that the weights come from, such as "user/name".',
    )
    dataset: str | None = Field(
        default=None,
        description="The name on the hub of the data that is reported on. By default its file's.",
    )
    tags: tuple[str, ...] = Field(
        default=(), description="Tags beside those of every bundle (thinstack, onnx)."
    )
