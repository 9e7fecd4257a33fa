"""How inputs are changed, beside the ways of `mutators`."""

import re

from mutators import Change as Change
from mutators import mutated_bytes as mutated_bytes
from mutators import mutated_json as mutated_json
from mutators import mutated_lines as mutated_lines
from mutators import mutated_safetensors as mutated_safetensors

NUMBERS = (
    *("0", "-0", "-1", "1", "2", "007", "+1", "1.5", "1e999", "-1e999", "1e-400", "nan", "inf"),
    *("2147483648", "9223372036854775807", "9223372036854775808", "9" * 40, "9" * 5000, "1_0"),
    *("0x10", "\u0663", "\u00b2", "1e5", "1e15", "True"),
)
CHARACTERS = (
    *"\0\t\r\n\f\v\x1c\x1e\x85\xa0\u2028\u2029\u200b\u200d\ufeff\ufffd\ufffe\u00ad\u0345\u0301",
    *"()[]{}<>\"'`\\/*#@&$%=_^~+-–—.,:;?!|…“”‘’«»",
    *"aZ0éİıßſǅΣς日語👍🏽🇩🇪ﬁ½²٣अ्नุ\U000e0041\U0010ffff",
)


def any_of(*changes):
    """One of these changes, by chance."""
    return lambda content, random: changes[int(random.integers(len(changes)))](content, random)


def mutated_text(*words, separators=r"\s+"):
    """Pieces of a text lost, doubled, exchanged, replaced by one of these words, by odd numbers or
    odd characters. `separators` stand between pieces."""
    pattern = re.compile(f"({separators})")

    def change(content, random):
        pieces = pattern.split(content.decode(errors="surrogateescape"))
        for _ in range(int(random.integers(1, 5))):
            place, other = (int(random.integers(len(pieces))) for _ in range(2))
            match int(random.integers(8)):
                case 0 if len(pieces) > 1:
                    del pieces[place]
                case 1:
                    pieces[place] = pieces[other]
                case 2:
                    pieces[place], pieces[other] = pieces[other], pieces[place]
                case 3:
                    pieces[place:place] = pieces[other : other + int(random.integers(1, 30))]
                case 4:
                    pieces[place] = _chosen(random, NUMBERS)
                case 5 if words:
                    pieces[place] = _chosen(random, words)
                case 6 if len(pieces[place]) < 100:
                    pieces[place] *= int(random.choice([2, 50, 1000]))
                case _:
                    piece, at = pieces[place], int(random.integers(len(pieces[place]) + 1))
                    pieces[place] = piece[:at] + _chosen(random, CHARACTERS) + piece[at:]
        return "".join(pieces).encode(errors="surrogateescape")

    return change


def _chosen(random, items):
    return items[int(random.integers(len(items)))]


def mutated_json_lines(content, random):
    """One of the lines as `mutated_json` changes it."""
    lines = content.split(b"\n")
    place = int(random.integers(len(lines)))
    lines[place] = mutated_json(lines[place], random)
    return b"\n".join(lines)
