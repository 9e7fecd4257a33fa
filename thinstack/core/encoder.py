"""The contract of an encoder, which computes a vector for every node of a tree."""

from typing import ClassVar, Literal, NamedTuple

from torch import Tensor, nn

Structure = Literal["transitions", "parents", "lengths"]
"""The representation of trees: transitions (binary), parents (any), or lengths of sentences."""


class Encoding(NamedTuple):
    """The result for B trees over N nodes, I of them with children. Fields that an encoder does not
    fill are empty, see `plain_encoding`.

    Attributes:
        stacked: (N, H) outputs of all nodes, in an order that the encoder chooses.
        places: (N,) the row of each node in `stacked`.
        roots: (B, H) outputs of the roots, in the order of the trees.
        words: (N, W) head-word vectors of all nodes, in the order of `stacked`; (N, 0) without any.
        inner: (I,) positions of the nodes with children.
        children: (I, arity) 1 + position of each of their children, 0 for a missing child.
        root_nodes: (B,) positions of the roots.
        transitions: (N,) int64, the transitions that were taken.
        choices: the scores of the parser's choices: (N, 2) unnormalized scores of SHIFT and REDUCE
            before each transition, in node order, or (L, 1) distances of gaps; or (N, 0).
        free: (N,) 1 if both transitions were possible, in node order; (0,) with distances. It may
            be on the host even if `choices` are not.
    """

    stacked: Tensor
    places: Tensor
    roots: Tensor
    words: Tensor
    inner: Tensor
    children: Tensor
    root_nodes: Tensor
    transitions: Tensor
    choices: Tensor
    free: Tensor


class Judgement(NamedTuple):
    """The quality of a parser's choices.

    Attributes:
        loss: the sum of their losses, ().
        right: number of correct choices, which may stay on the device as a tensor ().
        cases: number of choices.
    """

    loss: Tensor
    right: Tensor | int
    cases: int


def plain_encoding(
    stacked: Tensor,
    places: Tensor,
    roots: Tensor,
    transitions: Tensor | None = None,
    choices: Tensor | None = None,
    free: Tensor | None = None,
) -> Encoding:
    """Return an encoding without head words and children, and by default without a parse."""
    wide, none = stacked[:, :0], places[:0]
    return Encoding(
        stacked=stacked,
        places=places,
        roots=roots,
        words=wide,
        inner=none,
        children=none.unsqueeze(1),
        root_nodes=none,
        transitions=none if transitions is None else transitions,
        choices=wide if choices is None else choices,
        free=none if free is None else free,
    )


class Encoder(nn.Module):
    """A module that computes a vector (H,) for every node of a forest. In evaluation mode, trees do
    not affect each other. A forest without trees must work. The rules of a `Cell` for TorchScript
    also apply.

    Args:
        hidden_size: width H of a node's output.
        word_size: width W of the head-word vectors, 0 without them.
        structure: the representation of trees.
        words_at_leaves: whether only leaves have a word.
        parses: whether it predicts the trees if `transitions` are empty. It then also reads
            `lengths`, and its encodings contain `transitions`, `choices` and `free`.
        joins: whether it also joins the predicted trees of a text's sentences, as `breaks` specify.
        arity, kinds: as in a `Cell`; they determine whether `slots` and `kinds` are read.
        ranks: whether encodings contain `inner`, `children` and `root_nodes`, for heads that rank
            candidates.

    Attributes:
        name: a versioned name, such as `my_encoder.v1`, by which configurations find the encoder.
        summary: a description of the encoder in one line.
        onnx: the module that exports it, as a dotted path, imported at export, with a function
            `encode`, see `thinstack.export.onnx.encoder`.
        oracle: the transitions that an encoder that parses is trained on. "dynamic": the best ones
            along its own trees. "static": the treebank's.
        input_names: the fields of a `Forest` that it reads, without the fields of the words.
    """

    plugin_kind: ClassVar[str] = "encoder"
    name: ClassVar[str]
    summary: ClassVar[str] = ""
    onnx: ClassVar[str] = ""
    oracle: ClassVar[Literal["dynamic", "static"]] = "dynamic"

    def __init__(
        self,
        *,
        hidden_size: int,
        word_size: int = 0,
        structure: Structure = "transitions",
        words_at_leaves: bool = True,
        parses: bool = False,
        joins: bool = False,
        arity: int = 2,
        kinds: int = 0,
        ranks: bool = False,
    ):
        super().__init__()
        self.hidden_size, self.word_size = int(hidden_size), int(word_size)
        self.structure: str = structure
        self.words_at_leaves, self.ranks = words_at_leaves, ranks
        self.parses, self.joins = parses, joins
        self.arity, self.kinds = int(arity), int(kinds)
        self.input_names = ["lengths", "transitions"] if parses else [str(structure)]
        if joins:
            self.input_names.insert(1, "breaks")
        if structure == "parents" and self.arity > 1:
            self.input_names.append("slots")
        if structure == "parents" and self.kinds > 1:
            self.input_names.append("kinds")

    def encode(self, words: Tensor, inputs: dict[str, Tensor], track: bool) -> Encoding:
        """Encode a forest.

        Args:
            words: vectors of the words.
            inputs: the fields in `input_names`, by name, int32 or int64. They may be on the host
                even if `words` are not, see `thinstack.core.schedule.moved`.
            track: whether to return `choices` and `free`.

        Shapes:
            words: (L, X), or (N, X) if every node has a word.
            inputs: as in a `Forest`.
            returned: as in an `Encoding`.

        Raises ValueError for inconsistent inputs.
        """
        raise NotImplementedError("an Encoder must define encode")

    def choose_trees(self, words: Tensor, inputs: dict[str, Tensor]) -> Tensor:
        """Return the `transitions` (N,) of `encode`, with the same arguments and errors, for an
        encoder that parses; if possible, without composing."""
        return self.encode(words, inputs, False).transitions

    def judge(self, choices: Tensor, free: Tensor, wanted: Tensor) -> Judgement:
        """Rate the `choices` and `free` of an encoding, for an encoder that parses.

        `wanted`: (N,) the transitions of `oracle`, on the host. -1 means for a dynamic oracle that
        both are right, or that the right one is unknown. A static oracle may omit unknown trailing
        trees.
        """
        raise NotImplementedError("an Encoder that parses must define judge")

    def worst_choice(self, choices: Tensor, free: Tensor, taken: Tensor) -> float:
        """Return how far the worst choice in the trees `taken` (N,) scores below the best one,
        relative for scores above 1; -inf without a choice."""
        raise NotImplementedError("an Encoder that parses must define worst_choice")
