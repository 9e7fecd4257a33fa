"""The data of a training run: files, their columns, and the task."""

from typing import Self

from pydantic import Field, field_validator, model_validator

from thinstack.core.config.base import Strict
from thinstack.core.config.separator import Separator
from thinstack.core.config.task import PAIR_TASKS, TABLE, Task

__all__ = ["DataConfig"]


class DataConfig(Strict):
    """The files of a recipe, relative to the folder that `--data` names, and what is learnt from
    them."""

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
        description="In place of `dev`, of a table: this share of the rows of each class (of rated "
        "pairs, of all rows) is set aside to report on.",
    )
    text_column: str = Field(
        default="text", description="The column of a table that holds the texts."
    )
    label_column: str = Field(
        default="label", description="The column of a table that holds their classes."
    )
    pair_columns: tuple[str, str] = Field(
        default=("text_a", "text_b"),
        description="Of pairs, the columns of a table that hold the first and the second sentence.",
    )
    score_column: str = Field(
        default="score", description="The column of a table that holds the ratings of pairs."
    )
    spans: bool = Field(
        default=False,
        description="Rows of a table label phrases: the characters from column `start` to column "
        "`end` of the text.",
    )
    span_group: str | None = Field(
        default=None,
        description="With `spans`, of a .spacy file: the name of the span group they come from.",
    )
    encoding: str = Field(default="utf-8", description="The encoding of a table.")
    separator: Separator | None = Field(
        default=None,
        description="The character between the cells of a table. By default it is found in each "
        "file.",
    )
    header: bool | None = Field(
        default=None,
        description="Whether the first row of a table names its columns. If not, their names are "
        '"1", "2" and so on. By default it does, but a first row that looks like any other row is '
        "an error.",
    )
    skip_bad: bool = Field(
        default=False,
        description="Leave out rows of a table that cannot be used, and list them in the file "
        "skipped.txt. Otherwise the first one ends the run.",
    )
    task: Task = Field(
        default="phrases",
        description='What is learnt. "phrases": classes of all labelled phrases, that go from '
        'negative to positive; "sentences": classes of whole sentences; "texts": classes of texts '
        "of any number of sentences, from a table (.csv, .tsv, .json, .jsonl, .parquet, .spacy); "
        '"relatedness": ratings of pairs of sentences; "entailment": classes of pairs.',
    )
    format: str = Field(
        default="brackets.v1",
        description="The registered reader of the files; for pairs `sick.v1` (folders), `snli.v1` "
        "(JSON lines) or `table.v1` (.csv, .tsv, .json, .jsonl, .parquet).",
    )
    relabel: dict[str, str] = Field(
        default_factory=dict,
        description='New names for classes of the files, "" for no class. Sentences that then have '
        "no class are left out. Not for pairs.",
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

    @property
    def from_table(self) -> bool:
        """Whether the data are rows of tables, which have no trees."""
        return self.task == "texts" or self.format == TABLE

    @property
    def target_column(self) -> str:
        """The column of a table that holds what is learnt."""
        return self.score_column if self.task == "relatedness" else self.label_column

    @field_validator("vectors")
    @classmethod
    def _no_vectors(cls, value: str | None) -> str | None:
        return value or None

    @model_validator(mode="after")
    def _one_development_set(self) -> Self:
        named = [self.dev, self.dev_size, self.dev_share]
        if named.count(None) != 2:
            raise ValueError(
                "name the file to report on (dev), or how many examples to set aside (dev_size), "
                "or which share of texts (dev_share)"
            )
        if self.span_group is not None and not self.spans:
            raise ValueError("span_group: it says where spans come from; write spans = true")
        if self.task == "texts" and self.dev_size is not None:
            raise ValueError("dev_size: of texts a share is set aside; write dev_share")
        if not self.from_table and self.dev_share is not None:
            raise ValueError("dev_share: of tables alone; write dev_size")
        if self.format == TABLE and self.task not in ("texts", *PAIR_TASKS):
            raise ValueError(
                f"format: a table has no trees of a treebank for task = {self.task!r}; it trains "
                f"{', '.join(map(repr, ('texts', *PAIR_TASKS)))}"
            )
        return self
