"""Misspells a word of a sentence, as people do who type fast."""

from random import Random
from typing import Final

SHORTEST: Final = 4
"""The letters of the shortest word that is misspelt."""
CAPITALS: Final = 0.25
"""How often a word is written in capitals instead."""


def misspell(words: list[str], draw: Random) -> None:
    """Misspell one of the words, if one has `SHORTEST` letters or more: two letters change places,
    one is missing or stands twice or more often, or all are capitals. The first letter stays."""
    places = [at for at, word in enumerate(words) if len(word) >= SHORTEST and word.isalpha()]
    if not places:
        return
    at = places[int(draw.random() * len(places))]
    word = words[at]
    if draw.random() < CAPITALS:
        words[at] = word.upper()
        return
    letter = 1 + int(draw.random() * (len(word) - 2))
    before, own, behind = word[:letter], word[letter], word[letter + 1 :]
    words[at] = (
        before + behind[0] + own + behind[1:],
        before + behind,
        before + own * 2 + behind,
        before + own * 4 + behind,
    )[int(draw.random() * 4)]
