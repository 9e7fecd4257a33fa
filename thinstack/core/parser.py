"""The contract of a parser of syntactic distances, see `thinstack.core.distance_trees`."""

from typing import ClassVar

from torch import Tensor, nn


class Parser(nn.Module):
    """A module that predicts a distance for each gap between neighboring words.

    `input_size`: width X of a word's vector. In evaluation mode, sentences do not affect each
    other. L = 0 must work. The rules of a `Cell` for TorchScript also apply.

    Attributes:
        name: a versioned name, such as `my_parser.v1`, by which configurations find the parser.
        summary: a description of the parser in one line.
        onnx: the module that exports it, as a dotted path, with a function `distances`, see
            `thinstack.export.onnx.parser`. Without it, torch exports `forward`.
    """

    plugin_kind: ClassVar[str] = "parser"
    name: ClassVar[str]
    summary: ClassVar[str] = ""
    onnx: ClassVar[str] = ""

    def __init__(self, *, input_size: int):
        super().__init__()
        self.input_size = int(input_size)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Return the distance of the gap after each word; that after the last word is not read.

        Args:
            words: vectors of the words, sentence after sentence.
            lengths: int64, the number >= 1 of words in each sentence; on the host, or on the device
                of `words`.

        Shapes:
            words: (L, X).
            lengths: (B,).
            returned: (L,).
        """
        raise NotImplementedError("a Parser must define forward")
