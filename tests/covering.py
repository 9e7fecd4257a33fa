"""What holds of the words of any text."""

from thinstack.text.english import rules


def check_covered(text, found, *, split):
    """Every character that is read but white space is in one word of one sentence, in order."""
    assert len(found) <= 1 or split
    place, covered = 0, []
    for sentence in found:
        start = sentence.start
        assert start >= place
        assert text.startswith(sentence.text, start)
        assert not read_of(text) & {*range(place, start)}
        assert len(sentence.words) == len(sentence.offsets) > 0
        assert all(sentence.words)
        assert not set("".join(sentence.words)) & set("()[]{}")
        covered += [(start + a, start + b) for a, b in sentence.offsets.tolist()]
        place = start + len(sentence.text)
        assert covered[-1][1] == place
    assert all(a < b for a, b in covered)
    gaps = zip([0, *(b for _, b in covered)], [*(a for a, _ in covered), len(text)], strict=True)
    read = read_of(text)
    assert all(a <= b and not any(place in read for place in range(a, b)) for a, b in gaps)


def read_of(text):
    """The places of characters that are read: no white space, tags, or what has no width."""
    plain = rules().typed.plain(text)
    if plain is None:
        return {place for place, char in enumerate(text) if not char.isspace()}
    made = zip(plain.text, plain.starts.tolist(), plain.ends.tolist(), strict=True)
    return {at for char, a, b in made if not char.isspace() for at in range(a, b)}
