"""Frozen descriptions of what a plugin provides: a versioned name, a builder and the options it
takes. No torch needed."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import BaseModel, ValidationError, create_model

from thinstack.core import Tree
from thinstack.core.forest import WORD_FIELDS
from thinstack.errors import ConfigError, PluginError, ThinstackError

if TYPE_CHECKING:
    from thinstack.core.cell import Cell
    from thinstack.core.embedding import Embedding
    from thinstack.core.head import TaskHead
    from thinstack.errors import TreeError

__all__ = ["CellSpec", "EmbeddingSpec", "HeadSpec", "ReaderSpec", "Spec"]

NAME = re.compile(r"[a-z][a-z0-9_]*\.v[0-9]+")

Product = TypeVar("Product")


@dataclass(frozen=True, slots=True)
class Spec(Generic[Product]):
    """What cell, head and embedding specs share. Raises PluginError if a field is not what it
    should be."""

    name: str
    build: Callable[..., Product]
    config: type[BaseModel]
    summary: str = ""

    kind: ClassVar[str]
    contract: ClassVar[str]
    method: ClassVar[str]

    def __post_init__(self) -> None:
        _check_name(self.kind, self.name)
        if not callable(self.build):
            raise PluginError(
                f"{self.kind} {self.name!r}: build must be callable, found {self.build!r}"
            )
        if not (isinstance(self.config, type) and issubclass(self.config, BaseModel)):
            raise PluginError(
                f"{self.kind} {self.name!r}: config must be a pydantic BaseModel class, found "
                f"{self.config!r}"
            )

    def parse(self, options: Mapping[str, Any]) -> BaseModel:
        """Validate `options`: an instance of `config`. Raises ConfigError that names the plugin and
        the field.

        An option that `config` does not know is refused, unless `config` itself says
        `extra="allow"`.
        """
        config = self.config
        if config.model_config.get("extra") != "allow":
            config = create_model(
                config.__name__, __base__=config, __cls_kwargs__={"extra": "forbid"}
            )
        try:
            return config.model_validate(dict(options))
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(map(str, item['loc'])) or 'options'}: {item['msg']} (found "
                f"{item['input']!r:.80})"
                for item in error.errors()
            )
            known = ", ".join(self.config.model_fields) or "none"
            raise ConfigError(
                f"options of {self.kind} {self.name!r}: {problems}; known options: {known}"
            ) from None

    def _create(self, options: Mapping[str, Any], **sizes: float) -> Product:
        keywords = {**sizes, "options": self.parse(options)}
        try:
            product = self.build(
                **{name: value for name, value in keywords.items() if self._names(name)}
            )
        except ThinstackError:
            raise
        except Exception as error:
            raise PluginError(
                f"{self.kind} {self.name!r} could not be built: {type(error).__name__}: {error}"
            ) from error
        if not callable(getattr(product, self.method, None)):
            raise PluginError(
                f"{self.kind} {self.name!r}: build must return a {self.contract}, found "
                f"{product!r:.80}"
            )
        return product

    def _names(self, keyword: str) -> bool:
        """Whether `build` takes such a keyword."""
        named = inspect.signature(self.build).parameters
        return keyword in named or any(
            parameter.kind is parameter.VAR_KEYWORD for parameter in named.values()
        )


@dataclass(frozen=True, slots=True)
class CellSpec(Spec["Cell"]):
    """A composition cell as a plugin provides it.

    Attributes:
        name: versioned, such as `my_cell.v1`; a saved model asks for its cell by this name.
        build: called with those of the keywords `input_size`, `inner_size`, `hidden_size`, `kinds`
            and `options` (an instance of `config`) that it names; returns a Cell.
        config: pydantic model class of the options.
        summary: one line for `thinstack plugins`.
    """

    kind: ClassVar[str] = "cell"
    contract: ClassVar[str] = "thinstack.core.cell.Cell"
    method: ClassVar[str] = "compose"

    def create(
        self,
        options: Mapping[str, Any],
        *,
        input_size: int,
        hidden_size: int,
        inner_size: int = 0,
        kinds: int = 1,
    ) -> "Cell":
        """Build the cell for leaf inputs of width X, inner inputs of width `inner_size`, outputs of
        width H.

        `kinds` is the number of edge types of its trees. A cell may settle for less: one without
        inner inputs says so by its own `inner_size`.
        Raises ConfigError if `options` do not validate, PluginError if `build` fails or returns
        something else.
        """
        return self._create(
            options,
            input_size=input_size,
            hidden_size=hidden_size,
            inner_size=inner_size,
            kinds=kinds,
        )


@dataclass(frozen=True, slots=True)
class HeadSpec(Spec["TaskHead"]):
    """A task head as a plugin provides it.

    Attributes:
        name: versioned, such as `my_head.v1`; a saved model asks for its head by this name.
        build: called with those of the keywords `hidden_size`, `word_size`, `classes` and `options`
            (an instance of `config`) that it names; returns a TaskHead.
        config: pydantic model class of the options.
        summary: one line for `thinstack plugins`.
    """

    kind: ClassVar[str] = "head"
    contract: ClassVar[str] = "thinstack.core.head.TaskHead"
    method: ClassVar[str] = "loss"

    def create(
        self, options: Mapping[str, Any], *, hidden_size: int, classes: int, word_size: int = 0
    ) -> "TaskHead":
        """Build the head for node outputs of width H and C classes; `word_size` is the width of a
        node's head-word vector.

        Raises ConfigError if `options` do not validate, PluginError if `build` fails or returns
        something else.
        """
        return self._create(options, hidden_size=hidden_size, classes=classes, word_size=word_size)


@dataclass(frozen=True, slots=True)
class EmbeddingSpec(Spec["Embedding"]):
    """A leaf embedding as a plugin provides it.

    Attributes:
        name: versioned, such as `my_embedding.v1`; a saved model asks for its embedding by this
            name.
        build: called with those of the keywords `entries`, `size`, `dropout` and `options` (an
            instance of `config`) that it names; returns an Embedding.
        config: pydantic model class of the options.
        summary: one line for `thinstack plugins`.
        vocabulary: whose ids it reads: `words` (`token_ids`) or `wordpieces` (`piece_ids`,
            `pieces_per_word`).
    """

    vocabulary: Literal["words", "wordpieces"] = field(kw_only=True)

    kind: ClassVar[str] = "embedding"
    contract: ClassVar[str] = "thinstack.core.embedding.Embedding"
    method: ClassVar[str] = "forward"

    def __post_init__(self) -> None:
        Spec.__post_init__(self)
        if self.vocabulary not in WORD_FIELDS:
            raise PluginError(
                f"embedding {self.name!r}: vocabulary must be words or wordpieces, found "
                f"{self.vocabulary!r}"
            )

    def create(
        self, options: Mapping[str, Any], *, entries: int, size: int, dropout: float = 0.0
    ) -> "Embedding":
        """Build the embedding for a table of V entries and word vectors of width X; `dropout` is
        that of the vectors.

        Raises ConfigError if `options` do not validate, or for dropout where `build` takes none;
        PluginError if `build` fails or returns something else.
        """
        if dropout > 0 and not self._names("dropout"):
            raise ConfigError(
                f"embedding {self.name!r} has no dropout, found {dropout}: leave it out"
            )
        product = self._create(options, entries=entries, size=size, dropout=dropout)
        expected = {"index_names": WORD_FIELDS[self.vocabulary], "entries": entries, "size": size}
        found = {name: getattr(product, name, None) for name in expected}
        if found != expected:
            raise PluginError(
                f"embedding {self.name!r}: build must return a {self.contract} of {expected}, "
                f"found {found}"
            )
        return product


@dataclass(frozen=True, slots=True)
class ReaderSpec:
    """A reader of tree files as a plugin provides it. It runs without torch. Raises PluginError if
    a field is wrong.

    Attributes:
        name: versioned, such as `my_format.v1`; recipes and `thinstack evaluate` ask for it by this
            name.
        read: called with the path and, if it names it, `skipped`; returns a list of
            `thinstack.Tree`. It raises TreeError for the first malformed tree; where `skipped` is a
            list, it leaves such trees out and appends their errors to it.
        summary: one line for `thinstack plugins`.
    """

    name: str
    read: Callable[..., list[Tree]]
    summary: str = ""

    kind: ClassVar[str] = "reader"

    def __post_init__(self) -> None:
        _check_name(self.kind, self.name)
        if not callable(self.read):
            raise PluginError(f"reader {self.name!r}: read must be callable, found {self.read!r}")

    def trees(self, path: str | Path, *, skipped: "list[TreeError] | None" = None) -> list[Tree]:
        """Read the trees of a file; `skipped` takes the errors of malformed ones, which are then
        left out.

        Raises what the reader raises of thinstack.errors, PluginError for any other error, for what
        is no list of trees, and if it cannot skip.
        """
        keywords = {} if skipped is None else {"skipped": skipped}
        if keywords and "skipped" not in inspect.signature(self.read).parameters:
            raise PluginError(
                f"reader {self.name!r} cannot skip malformed trees: its function takes no `skipped`"
            )
        try:
            trees = list(self.read(path, **keywords))
        except ThinstackError:
            raise
        except Exception as error:
            raise PluginError(
                f"reader {self.name!r} failed on {path}: {type(error).__name__}: {error}"
            ) from error
        for tree in trees:
            if not isinstance(tree, Tree):
                raise PluginError(
                    f"reader {self.name!r} must return a list of thinstack.Tree, found "
                    f"{tree!r:.80} in it"
                )
        return trees


def _check_name(kind: str, name: object) -> None:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise PluginError(
            f"{kind} name {name!r} is not versioned: expected lower-case letters, digits and "
            "underscores, "
            "then .v and a number, such as 'my_name.v1'"
        )
