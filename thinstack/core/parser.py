"""The contract of a parser: from the vectors of words to a syntactic distance for every gap between
them. The tree cuts each span at its greatest gap, see `thinstack.core.distance_trees`."""

from typing import ClassVar

from torch import Tensor, nn

__all__ = ["Parser"]


class Parser(nn.Module):
    """Gives each gap between neighbouring words a distance. Sentences do not see each other in
    evaluation mode, and L = 0 must work. For the sake of TorchScript the rules of a `Cell` hold.

    Args:
        input_size: width X of a word's vector.

    Attributes:
        name: versioned, such as `my_parser.v1`; configurations ask for a registered parser by it.
        summary: one line on the parser.
        onnx: the module that exports it, as a dotted path, with a function `distances`, see
            `thinstack.export.onnx.parser`. Without one torch exports `forward`.
    """

    plugin_kind: ClassVar[str] = "parser"
    name: ClassVar[str]
    summary: ClassVar[str] = ""
    onnx: ClassVar[str] = ""

    def __init__(self, *, input_size: int):
        super().__init__()
        self.input_size = int(input_size)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Distances (L,) of the gap after each word; those after last words are not read.

        Args:
            words: (L, X) vectors of the words, sentence after sentence.
            lengths: (B,) int64, the words >= 1 of each sentence; on the host, or where `words` are.
        """
        raise NotImplementedError("a Parser must define forward")
