"""Reads from a plugin's class its name, summary and options, without torch."""

import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from thinstack.core import Tree
from thinstack.core.forest import WORD_FIELDS
from thinstack.errors import ConfigError, PluginError, ThinstackError, raised_by_signal_handler

if TYPE_CHECKING:
    from thinstack.core.cell import Cell
    from thinstack.core.embedding import Embedding
    from thinstack.core.encoder import Encoder
    from thinstack.core.head import TaskHead
    from thinstack.core.parser import Parser
    from thinstack.errors import TreeError

__all__ = [
    "CellSpec",
    "EmbeddingSpec",
    "EncoderSpec",
    "HeadSpec",
    "ParserSpec",
    "Reader",
    "ReaderSpec",
    "Spec",
]

NAME = re.compile(r"[a-z][a-z0-9_]*\.v[0-9]+")

Product = TypeVar("Product")


class Spec(Generic[Product]):
    """A plugin's class with its name and summary, and the way to build it. Raises PluginError for a
    class that breaks its contract.

    thinstack passes the `sizes` that the constructor names. Its other keyword-only arguments are
    options, which a configuration gives. Their types (with pydantic's constraints in `Annotated`)
    and defaults come from the signature. If options choose between classes, the class has a
    classmethod `build`, which is called instead of the constructor, and may have more options.
    `options` is a pydantic model of all options.
    """

    kind: ClassVar[str]
    contract: ClassVar[str]
    sizes: ClassVar[tuple[str, ...]] = ()

    def __init__(self, plugin: type[Product]):
        self.plugin = plugin
        if not isinstance(plugin, type) or getattr(plugin, "plugin_kind", None) != self.kind:
            raise PluginError(
                f"must return a list of classes derived from {self.contract}, found {plugin!r:.80}"
            )
        self.name: str = getattr(plugin, "name", "")
        self.summary: str = getattr(plugin, "summary", "")
        if not isinstance(self.name, str) or not NAME.fullmatch(self.name):
            raise PluginError(
                f"{self.kind} name {self.name!r} of {plugin.__name__} is not versioned: expected "
                "lower-case letters, digits and underscores, then .v and a number, such as "
                "'my_name.v1'"
            )
        build = getattr(plugin, "build", None)
        self._build: Callable[..., Product] = build if inspect.ismethod(build) else plugin
        constructor = inspect.signature(plugin).parameters
        self._open = any(each.kind is each.VAR_KEYWORD for each in constructor.values())
        self._arguments = {**constructor, **inspect.signature(self._build).parameters}
        self.options = self._model()

    def _model(self) -> type[BaseModel]:
        """The options, as a pydantic model."""
        constructor: Any = self.plugin.__init__
        try:
            types = get_type_hints(constructor, include_extras=True)
            if self._build is not self.plugin:
                types |= get_type_hints(self._build, include_extras=True)
            fields: dict[str, Any] = {
                name: (types.get(name, Any), ... if each.default is each.empty else each.default)
                for name, each in self._arguments.items()
                if name not in self.sizes and each.kind is each.KEYWORD_ONLY
            }
            closed = ConfigDict(extra="forbid", protected_namespaces=())
            return create_model("Options", __config__=closed, **fields)
        except Exception as error:
            raise PluginError(
                f"{self.kind} {self.name!r}: the arguments of {self.plugin.__name__} cannot become "
                f"options: {type(error).__name__}: {error}"
            ) from error

    def parse(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """All options of the plugin, validated. Raises ConfigError, which names the plugin and the
        field."""
        try:
            return dict(self.options.model_validate(dict(options)))
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(map(str, item['loc'])) or 'options'}: {item['msg']} (found "
                f"{item['input']!r:.80})"
                for item in error.errors()
            )
            known = ", ".join(self.options.model_fields) or "none"
            raise ConfigError(
                f"options of {self.kind} {self.name!r}: {problems}; known options: {known}"
            ) from None

    def _create(self, options: Mapping[str, Any], **sizes: Any) -> Product:
        named = {size: value for size, value in sizes.items() if self._takes(size)}
        parsed = self.parse(options)
        try:
            product = self._build(**named, **parsed)
        except ThinstackError:
            raise
        except Exception as error:
            if raised_by_signal_handler(error):
                raise
            raise PluginError(
                f"{self.kind} {self.name!r} could not be built: {type(error).__name__}: {error}"
            ) from error
        if getattr(product, "plugin_kind", None) != self.kind:
            raise PluginError(
                f"{self.kind} {self.name!r}: build must return a {self.contract}, found "
                f"{product!r:.80}"
            )
        return product

    def _takes(self, size: str) -> bool:
        return self._open or size in self._arguments


class CellSpec(Spec["Cell"]):
    """A registered composition cell."""

    kind = "cell"
    contract = "thinstack.core.cell.Cell"
    sizes = ("input_size", "hidden_size", "inner_size", "kinds")

    def create(
        self,
        options: Mapping[str, Any],
        *,
        input_size: int,
        hidden_size: int,
        inner_size: int = 0,
        kinds: int = 1,
    ) -> "Cell":
        """Build the cell for leaf inputs of width X, inner inputs of width `inner_size`, and
        outputs of width H.

        `kinds` is the number of edge types in its trees. A cell may read less than it is offered:
        without inner inputs, its own `inner_size` is 0. Raises ConfigError if `options` are not
        valid, PluginError if the constructor fails.
        """
        return self._create(
            options,
            input_size=input_size,
            hidden_size=hidden_size,
            inner_size=inner_size,
            kinds=kinds,
        )


class HeadSpec(Spec["TaskHead"]):
    """A registered task head."""

    kind = "head"
    contract = "thinstack.core.head.TaskHead"
    sizes = ("hidden_size", "word_size", "classes")

    def create(
        self, options: Mapping[str, Any], *, hidden_size: int, classes: int, word_size: int = 0
    ) -> "TaskHead":
        """Build the head for node outputs of width H and C classes. `word_size` is the width of a
        node's head-word vector. Raises as `CellSpec.create` does."""
        return self._create(options, hidden_size=hidden_size, classes=classes, word_size=word_size)


class EmbeddingSpec(Spec["Embedding"]):
    """A registered leaf embedding.

    Attributes:
        vocabulary: the vocabulary of the ids that it reads, `words` (`token_ids`) or `wordpieces`
            (`piece_ids`, `pieces_per_word`).
    """

    kind = "embedding"
    contract = "thinstack.core.embedding.Embedding"
    sizes = ("entries", "size", "dropout")

    def __init__(self, plugin: "type[Embedding]"):
        super().__init__(plugin)
        self.vocabulary: str = plugin.vocabulary
        if self.vocabulary not in WORD_FIELDS:
            raise PluginError(
                f"embedding {self.name!r}: vocabulary must be words or wordpieces, found "
                f"{self.vocabulary!r}"
            )

    def create(
        self, options: Mapping[str, Any], *, entries: int, size: int, dropout: float = 0.0
    ) -> "Embedding":
        """Build the embedding for a table of V entries and word vectors of width X, with this
        dropout on the vectors.

        Raises as `CellSpec.create` does. Raises ConfigError also if the constructor does not take
        dropout, and PluginError for an embedding with other sizes or index inputs.
        """
        if dropout > 0 and not self._takes("dropout"):
            raise ConfigError(
                f"embedding {self.name!r} has no dropout, found {dropout}: leave it out"
            )
        product = self._create(options, entries=entries, size=size, dropout=dropout)
        names = list(WORD_FIELDS[self.vocabulary])
        if "lengths" in getattr(product, "index_names", ()):
            names.append("lengths")
        expected = {"index_names": names, "entries": entries, "size": size}
        found = {name: getattr(product, name, None) for name in expected}
        if found != expected:
            raise PluginError(
                f"embedding {self.name!r} must be a {self.contract} of {expected}, found {found}"
            )
        return product


class EncoderSpec(Spec["Encoder"]):
    """A registered encoder."""

    kind = "encoder"
    contract = "thinstack.core.encoder.Encoder"
    sizes = ("input_size", "hidden_size", "structure", "words_at_leaves", "kinds", "cell")

    def create(self, options: Mapping[str, Any], **sizes: Any) -> "Encoder":
        """Build the encoder of a model for words of width `input_size`.

        Trees are given as `structure` says, with `kinds` edge types. With `words_at_leaves`, only
        leaves have a word. `hidden_size` comes from the configuration's cell, and
        `cell(input_size, inner_size)` builds such a cell. Raises as `CellSpec.create` does.
        """
        return self._create(options, **sizes)


class ParserSpec(Spec["Parser"]):
    """A registered parser."""

    kind = "parser"
    contract = "thinstack.core.parser.Parser"
    sizes = ("input_size",)

    def create(self, options: Mapping[str, Any], *, input_size: int) -> "Parser":
        """Build the parser for word vectors of width X. Raises as `CellSpec.create` does."""
        return self._create(options, input_size=input_size)


class Reader:
    """The contract of a reader of tree files. A reader needs no torch.

    Attributes:
        name: a versioned name, such as `my_format.v1`, for recipes and `thinstack evaluate`.
        summary: a description of the format in one line.
        read: a static method that takes the path and returns the `thinstack.Tree`s. It raises
            TreeError for the first malformed tree. It may also take `skipped`. If that is a list,
            the reader leaves malformed trees out, and appends their errors to the list.
    """

    plugin_kind: ClassVar[str] = "reader"
    name: ClassVar[str]
    summary: ClassVar[str] = ""
    read: ClassVar[Callable[..., list[Tree]]]


class ReaderSpec(Spec[Reader]):
    """A registered reader of tree files."""

    kind = "reader"
    contract = "thinstack.plugins.Reader"

    def __init__(self, plugin: type[Reader]):
        super().__init__(plugin)
        if not callable(getattr(plugin, "read", None)):
            raise PluginError(f"reader {self.name!r} must define the static method `read`")

    def trees(self, path: str | Path, *, skipped: "list[TreeError] | None" = None) -> list[Tree]:
        """Read the trees of a file. A list `skipped` takes the errors of malformed trees, which are
        then left out.

        Raises the reader's error if it comes from thinstack.errors. Raises PluginError for any
        other error, for a result that is not a list of trees, and if the reader cannot skip.
        """
        read = self.plugin.read
        keywords = {} if skipped is None else {"skipped": skipped}
        if keywords and "skipped" not in inspect.signature(read).parameters:
            raise PluginError(
                f"reader {self.name!r} cannot skip malformed trees: its `read` takes no `skipped`"
            )
        try:
            trees = list(read(path, **keywords))
        except ThinstackError:
            raise
        except Exception as error:
            if raised_by_signal_handler(error):
                raise
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
