"""The contract of an encoder: from the vectors of words, and trees, to a vector for every node."""

from typing import ClassVar, Literal, NamedTuple

from torch import Tensor, nn

__all__ = ["Encoder", "Encoding", "Judgement", "Structure", "plain_encoding"]

Structure = Literal["transitions", "parents", "lengths"]
"""How trees are given: as transitions of binary trees, as parents of any trees, or as lengths of
plain sentences."""


class Encoding(NamedTuple):
    """B trees over N nodes, I of them with children. What an encoder does not tell is empty, see
    `plain_encoding`.

    Attributes:
        stacked: (N, H) outputs of all nodes, in an order that the encoder chooses.
        places: (N,) the row of each node in `stacked`.
        roots: (B, H) outputs of the roots, in the order of the trees.
        words: (N, W) head-word vectors of all nodes, as `stacked`; (N, 0) if there are none.
        inner: (I,) positions of the nodes with children.
        children: (I, arity) 1 + position of each child of these, 0 where there is none.
        root_nodes: (B,) positions of the roots.
        transitions: (N,) int64 that were taken.
        choices: what a parser chose by: (N, 2) unnormalised scores of SHIFT and REDUCE before each
            transition, in node order, or (L, 1) distances of gaps; (N, 0) without a parser.
        free: (N,) 1 where both transitions were possible, in node order; (0,) where there are
            distances.
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
    """What a parser's choices are worth, over so many `cases`: their `loss` in all, and how many
    are `right`."""

    loss: Tensor
    right: int
    cases: int


def plain_encoding(
    stacked: Tensor,
    places: Tensor,
    roots: Tensor,
    transitions: Tensor | None = None,
    choices: Tensor | None = None,
    free: Tensor | None = None,
) -> Encoding:
    """An encoding without head words and children, by default without a parse."""
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
    """Gives every node of a forest a vector (H,). Trees do not see each other in evaluation mode,
    and a forest of no trees must work. For the sake of TorchScript the rules of a `Cell` hold.

    Args:
        hidden_size: width H of a node's output.
        word_size: width W of the head-word vectors, 0 if there are none.
        structure: how trees are given.
        words_at_leaves: whether only leaves have a word.
        parses: whether it makes the trees where `transitions` are empty. It then reads `lengths`
            too, and its encodings hold `transitions`, `choices` and `free`.
        arity, kinds: as a `Cell` has them; they say whether `slots` and `kinds` are read.
        ranks: whether encodings hold `inner`, `children` and `root_nodes`, which heads read that
            rank candidates.

    Attributes:
        name: versioned, such as `my_encoder.v1`; configurations ask for a registered encoder by it.
        summary: one line on the encoder.
        onnx: the module that exports it, as a dotted path. It is imported when a model is exported,
            and has `encode`, see `thinstack.export.onnx.encoder`.
        oracle: of an encoder that parses, which transitions teach it: the best ones along the trees
            that were taken ("dynamic"), or the treebank's whatever was taken ("static").
        input_names: of the fields of a `Forest` that it reads, beside those of the words.
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
        arity: int = 2,
        kinds: int = 0,
        ranks: bool = False,
    ):
        super().__init__()
        self.hidden_size, self.word_size = int(hidden_size), int(word_size)
        self.structure: str = structure
        self.words_at_leaves, self.parses, self.ranks = words_at_leaves, parses, ranks
        self.arity, self.kinds = int(arity), int(kinds)
        self.input_names = ["lengths", "transitions"] if parses else [str(structure)]
        if structure == "parents" and self.arity > 1:
            self.input_names.append("slots")
        if structure == "parents" and self.kinds > 1:
            self.input_names.append("kinds")

    def encode(self, words: Tensor, inputs: dict[str, Tensor], track: bool) -> Encoding:
        """Encode a forest.

        Args:
            words: (L, X) vectors of the words, or (N, X) if every node has one.
            inputs: by name, int32 or int64, at least those of `input_names`. They may lie on the
                host while `words` do not; `thinstack.core.transfer.moved` sends what is made of
                them.
            track: whether `choices` and `free` are wanted.

        Raises ValueError for inputs that do not go together.
        """
        raise NotImplementedError("an Encoder must define encode")

    def judge(self, choices: Tensor, free: Tensor, wanted: Tensor) -> Judgement:
        """What the choices of an encoding are worth, of an encoder that parses.

        Args:
            choices, free: of the encoding.
            wanted: (N,) the transitions of `oracle`, on the host; of a dynamic one, -1 where either
                is right or none is known, of a static one those of the first trees alone where the
                others' are not known.
        """
        raise NotImplementedError("an Encoder that parses must define judge")

    def worst_choice(self, choices: Tensor, free: Tensor, taken: Tensor) -> float:
        """By how much the worst choice of the trees `taken` (N,) scores less than the best one,
        relative to scores beyond 1; -inf if there was none."""
        raise NotImplementedError("an Encoder that parses must define worst_choice")
