"""The data of a training run: files and pretrained vectors."""

from typing import Self

from pydantic import Field, field_validator, model_validator

from thinstack.core.config.base import Strict


class DataConfig(Strict):
    """The files of a recipe, relative to the folder that `--data` names."""

    train: str = Field(description="What is trained on: a file, or a folder for `sick.v1`.")
    dev: str | None = Field(
        default=None,
        description="What is reported on, in the same format. "
        "A recipe has `dev`, `dev_size` or `dev_share`.",
    )
    dev_size: int | None = Field(
        default=None,
        gt=0,
        description="In place of `dev`: so many training examples, evenly spread, are set aside "
        "to report on.",
    )
    dev_share: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="In place of `dev`: this share of the texts or pairs of each class (of trees "
        "and rated pairs, of all) is set aside to report on.",
    )
    vectors: str | None = Field(
        default=None,
        description="Pretrained vectors of words or pieces (`.npz`, or text as GloVe's; or "
        "`wordpieces`, which thinstack brings along: 100 columns, from MiniLM), of which "
        'the first columns are taken, as many as the leaf table has. "" is the same as none. A '
        "wordpiece model needs them, for they bring the pieces.",
    )
    encoder: str | None = Field(
        default=None,
        description="Pretrained encoder, for a leaf embedding that takes one: a folder, or the "
        "name of one on the Hugging Face hub. It brings its pieces too. `vectors` then fill the "
        "static columns of the embedding.",
    )
    vector_std: float | None = Field(
        default=None,
        gt=0,
        description="Scale the vectors to this standard deviation. By default they are taken as "
        "they are.",
    )
    statement: str = Field(
        default="",
        description="What the card of the bundle says of the data: what it is, its terms, whom to "
        "cite.",
    )

    @property
    def reported(self) -> str:
        """What the model is measured on, in words."""
        if self.dev is not None:
            return self.dev
        aside = f"{self.dev_share:.0%}" if self.dev_share else f"{self.dev_size} examples"
        return f"{aside} of {self.train}"

    @field_validator("vectors")
    @classmethod
    def _no_vectors(cls, value: str | None) -> str | None:
        return value or None

    @model_validator(mode="after")
    def _one_development_set(self) -> Self:
        if [self.dev, self.dev_size, self.dev_share].count(None) != 2:
            raise ValueError(
                "name the file to report on (dev), or how many examples to set aside (dev_size), "
                "or which share of them (dev_share)"
            )
        return self
