"""Parsers that break one rule each, for the contract suite to find out."""

import torch
from torch import Tensor, nn

from thinstack.core.parser import Parser


class Good(Parser):
    """A gap's distance is linear in the word before it; the rule breakers are derived from it."""

    name = "good.v1"

    def __init_subclass__(cls) -> None:
        cls.name = f"{cls.__name__.lower()}.v1"

    def __init__(self, *, input_size: int):
        super().__init__(input_size=input_size)
        self.score = nn.Linear(input_size, 1)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        return self.score(words).squeeze(1)


class WrongSize(Good):
    """Keeps another width than it was asked for."""

    def __init__(self, *, input_size: int):
        super().__init__(input_size=input_size)
        self.input_size = input_size + 1


class GapsOnly(Good):
    """Gives no distance for the last word of a batch."""

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        return self.score(words).squeeze(1)[:-1]


class NeedsWords(Good):
    """Reads the longest sentence, where there may be none."""

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        return self.score(words).squeeze(1) * lengths.max() / lengths.max()


class Overwrites(Good):
    """Doubles the words that it was handed."""

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        return self.score(words.mul_(2)).squeeze(1)


class ReadsOthers(Good):
    """Reads the word before, over the bounds of sentences."""

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        return self.score(words + torch.cat([words[:1] * 0, words[:-1]])).squeeze(1)


class Unused(Good):
    """Has a weight that nothing reads."""

    def __init__(self, *, input_size: int):
        super().__init__(input_size=input_size)
        self.rest = nn.Parameter(torch.ones(2))


class Unscriptable(Good):
    """Calls what TorchScript cannot compile."""

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        return getattr(self, "sco" + "re")(words).squeeze(1)


class OtherwiseScripted(Good):
    """Computes something else in TorchScript."""

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        found = self.score(words).squeeze(1)
        return found * 2 if torch.jit.is_scripting() else found


class OtherwiseExported(Good):
    """Keeps the number of words of the first batch that it sees in an export."""

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        found = self.score(words).squeeze(1)
        return found * 2 if torch.compiler.is_compiling() else found


class NormAtZero(Good):
    """Divides words by their norm, which is 0 for an unknown word."""

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        return super().forward(words / words.norm(dim=1, keepdim=True), lengths)


class Overflows(Good):
    """A logarithm of a sum of exponentials written out."""

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        return super().forward(words, lengths).exp().add(1).log()


class NoDevice(Good):
    """Numbers the words on the CPU."""

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        return super().forward(words, lengths) + torch.zeros(len(words), dtype=words.dtype)


class LongSentences(Good):
    """Forgets the words beyond the 512th."""

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        found = super().forward(words, lengths)
        return torch.cat([found[:512], found[512:] * 0])
