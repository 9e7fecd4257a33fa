"""What holds of the words of any text."""

from collections.abc import Sequence

from thinstack.runtime.text import Sentence

__all__ = ["check_covered"]


def check_covered(text: str, found: Sequence[Sentence], *, split: bool) -> None:
    """Every character of the text but white space is in one word of one sentence, in order."""
    assert len(found) <= 1 or split
    place, covered = 0, []
    for sentence in found:
        start = text.index(sentence.text, place)
        assert text[place:start].strip() == ""
        assert len(sentence.words) == len(sentence.offsets) > 0
        assert all(sentence.words)
        assert not set("".join(sentence.words)) & set("()[]{}")
        covered += [(start + a, start + b) for a, b in sentence.offsets.tolist()]
        place = start + len(sentence.text)
        assert covered[-1][1] == place
    assert all(a < b for a, b in covered)
    gaps = zip([0, *(b for _, b in covered)], [*(a for a, _ in covered), len(text)], strict=True)
    assert all(a <= b and text[a:b].strip() == "" for a, b in gaps)
