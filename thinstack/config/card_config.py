"""What a recipe says for the card of its bundle, beside what the figures say."""

from pydantic import Field

from thinstack.config.base import Strict

__all__ = ["CardConfig"]


class CardConfig(Strict):
    """The fields at the head of the card, as the Hugging Face hub has them. What is left out is not
    written; the rest of them is told by the model and its figures."""

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
