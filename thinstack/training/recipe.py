"""The recipe of a training run: task, data, model, training and export."""

from pathlib import Path
from typing import Literal, Self

from pydantic import ConfigDict, Field, PrivateAttr, field_validator, model_validator

from thinstack.core.config import ModelConfig
from thinstack.core.config.base import Strict, read_toml
from thinstack.training.lesson import Lessons
from thinstack.training.task import AnyTask
from thinstack.training.training_config import TrainingConfig as TrainingConfig

Part = Literal["embedding", "encoder", "parser", "head", "vectors"]
"""A part of a model that can start from another model's weights."""


class DataConfig(Strict):
    """The data files of a recipe, relative to the folder that `--data` names."""

    train: str
    """Training data: a file."""
    add: str | None = None
    """Additional training file in the same format, such as corrections. Its rows replace rows with
    the same text, also in the development data. If it has several rows for a text, the last one
    counts."""
    dev: str | None = None
    """Development data, in the same format. A recipe sets `dev`, `dev_size` or `dev_share`."""
    test: str | None = None
    """Held-out test data, in the same format. It is only reported on, whereas `dev` may select the
    epoch and the temperature."""
    dev_size: int | None = Field(default=None, gt=0)
    """Instead of `dev`: number of evenly spread training examples to hold out."""
    dev_share: float | None = Field(default=None, gt=0, lt=1)
    """Instead of `dev`: share of the texts or pairs of each class to hold out (for trees and rated
    pairs: of all)."""
    vectors: str | None = None
    """Pretrained vectors of words or pieces: `.npz`, text in GloVe's format, or `wordpieces`, which
    ships with thinstack (100 columns, from MiniLM). The leaf table uses as many of the first
    columns as it has. "" means none. A wordpiece model requires them, because they also define the
    pieces."""
    encoder: str | None = None
    """Pretrained encoder for a leaf embedding that uses one: a folder, or a name on the Hugging
    Face Hub. It also defines the pieces. `vectors` then fill the static columns of the
    embedding."""
    vector_std: float | None = Field(default=None, gt=0)
    """Standard deviation to which the vectors are scaled. By default, they are not scaled."""
    statement: str = ""
    """Text about the data for the bundle's card: contents, terms and citation."""

    @property
    def reported(self) -> str:
        """Describe the development data, without the user's folders."""
        if self.dev is not None:
            return Path(self.dev).name if Path(self.dev).is_absolute() else self.dev
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
                "expected a development set: set its file (dev), how many examples to set "
                "aside (dev_size), or their share (dev_share)"
            )
        return self


class TeacherConfig(Strict):
    """Teacher bundles. The model is trained on their probabilities for every phrase, in addition to
    the labels of the training file and in lessons that use a teacher."""

    bundles: tuple[str, ...] = Field(min_length=1)
    """Names or folders of bundles with the classes of `model.labels`. The probabilities of several
    are averaged."""
    alpha: float = Field(default=0.3, ge=0, le=1)
    """Weight of the training file's label, if there is one. The teacher's gets the rest."""
    own_words: bool = False
    """Whether words in the training file keep only its labels in everything that the teacher
    labels. A contextual teacher labels a word differently in each sentence."""
    parser: str | None = None
    """Name or folder of the bundle that parses texts, for example in the lesson `texts.v1`.
    Default: the first of `bundles` with a parser."""


class InitConfig(Strict):
    """The starting point: the weights of a bundle instead of random weights."""

    bundle: str
    """Name, folder or hf:// address of the bundle. Its vocabulary replaces `data.vectors`, and its
    weights must have the shapes of the model's."""
    parts: tuple[Part, ...] = Field(default=("embedding", "encoder", "parser"), min_length=1)
    """Parts to reuse: "embedding" (always), "encoder", "parser", "head", "vectors"."""
    frozen: tuple[Part, ...] = ("parser",)
    """Parts of the model to freeze."""

    @model_validator(mode="after")
    def _table_and_ids_go_together(self) -> Self:
        if "embedding" not in self.parts:
            raise ValueError("parts: the others need 'embedding': add it")
        if {"embedding", "encoder", "head"} <= set(self.frozen):
            raise ValueError("frozen: nothing is left to train; unfreeze a part")
        return self


class ExportConfig(Strict):
    """How the trained model is exported."""

    inference_only: bool = False
    """Omit the TorchScript file from the bundle, and the PyTorch weights that are also in the ONNX
    file."""
    quantize: Literal["none", "fp16", "int8-tables", "int8"] = "none"
    """How the ONNX file stores weights. "int8-tables": 8 bits with one scale per row for the leaf
    table (fp16 if the embedding does more than look up words), fp16 for matrices. "int8": also 8
    bits with one scale per column for matrices, and products computed in 8 bits."""
    gpu: bool = False
    """Add a graph for GPUs to the bundle, which shares the weights of the ONNX file. Without it, a
    GPU runs the ONNX file with more memory transfers."""
    calibrate: bool = True
    """Fit a temperature on the development data and divide the weights of the head's last layer by
    it, so that probabilities match accuracy better. The most probable class does not change. Has no
    effect for relatedness and for fewer than 50 cases."""


class CardConfig(Strict):
    """The metadata at the top of the card, for the Hugging Face Hub. Omitted fields are not
    written. All other fields come from the model and its figures."""

    language: tuple[str, ...] = ()
    """Language codes of the texts, such as ["en"]."""
    license: str | None = None
    """License of the weights by its name on the Hub, such as "mit", "apache-2.0" or "other"."""
    base_model: str | None = None
    """Model on the Hub from which the weights are derived, such as "user/name"."""
    dataset: str | None = None
    """Name on the Hub of the data on which results are reported. Default: its file name."""
    tags: tuple[str, ...] = ()
    """Tags in addition to those of every bundle (thinstack, onnx)."""


class Recipe(Strict):
    """Everything that a training run needs."""

    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=True)

    schema_version: Literal[1] = Field(default=1, alias="schema")
    """Version of the recipe format."""
    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    """Name of the bundle: letters, digits and `._-`."""
    description: str = ""
    """First paragraph of the bundle's card."""
    task: AnyTask
    """What to train on and how to evaluate."""
    data: DataConfig
    """Data files."""
    init: InitConfig | None = None
    """Bundle to start from. Without it, weights are random."""
    teacher: TeacherConfig | None = None
    """Bundles that also label phrases."""
    model: ModelConfig
    """The model."""
    lessons: Lessons = ()
    """Additional trees to train on."""
    training: TrainingConfig = TrainingConfig()
    """Seeds, epochs, optimizers and early stopping."""
    export: ExportConfig = ExportConfig()
    """Contents of the bundle."""
    card: CardConfig = CardConfig()
    """Metadata of the bundle's card."""
    _folder: Path | None = PrivateAttr(default=None)

    def __eq__(self, other: object) -> bool:
        """Whether the settings are the same, in any folder."""
        return isinstance(other, Recipe) and dict(self) == dict(other)

    def folders(self, data: Path) -> tuple[Path, ...]:
        """Return the folders of lessons' files: those of the data and of the recipe."""
        return (data,) if self._folder is None else (data, self._folder)

    @property
    def measured_trees(self) -> tuple[str, ...]:
        """The tree sources that the model is evaluated with."""
        return self.task.measured_trees(self)

    @model_validator(mode="after")
    def _trees_and_task_fit(self) -> Self:
        others = [source for source in self.training.trees if source != "gold"]
        if others and self.model.trees != "binary":
            raise ValueError(
                "training.sources: generated trees need model.trees = 'binary', found "
                f"{self.model.trees!r}"
            )
        if "self" in self.training.sources and not self.model.parses:
            raise ValueError("training.sources: 'self' needs a model.parser")
        if self.training.epochs == 0 and (self.init is None or self.training.parser_epochs == 0):
            raise ValueError(
                "training.epochs: expected 1 or more, found 0; 0 is only for a recipe with [init] "
                "and training.parser_epochs, which trains the parser of a bundle"
            )
        if self.training.parser_epochs > 0:
            if self.model.parser is None:
                raise ValueError("training.parser_epochs: needs a model.parser to train")
            if self.init is not None and "parser" in self.init.frozen:
                raise ValueError("training.parser_epochs: init.frozen has the parser; omit either")
        self.task.check(self)
        return self

    @model_validator(mode="after")
    def _lessons_fit(self) -> Self:
        if not (self.teacher or self.lessons):
            return self
        if not self.task.takes_lessons or self.model.trees != "binary":
            raise ValueError(
                "teacher, lessons: they need phrases of binary trees; expected a task such as "
                f"phrases.v1, and model.trees = 'binary', found {self.task.name}, "
                f"{self.model.trees!r}"
            )
        for lesson in self.lessons:
            if lesson.anew and not self.training.gold:
                raise ValueError(f"lessons: {lesson.name} has its own trees; set training.gold")
            if lesson.taught and not lesson.soft and self.teacher is None:
                raise ValueError(f"lessons: {lesson.name} needs a teacher; add one in [teacher]")
            if shown := {self.data.train, self.data.dev, self.data.test}.intersection(lesson.files):
                raise ValueError(
                    f"lessons: {lesson.name} must read files other than the recipe's, found "
                    f"{sorted(map(str, shown))}"
                )
        return self

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a TOML recipe. Raises ConfigError if the file is missing or not valid."""
        recipe = cls.parse(read_toml(path, "recipe"), source=str(path))
        recipe._folder = Path(path).parent
        return recipe
