"""How inputs are changed."""

import json
import re

VALUES = (
    *(None, True, False, 0, 1, -1, 2, 1 << 31, 1 << 63, -(1 << 64), 1e308, -0.5, 1e-300),
    *("", "a", "sentiment", "\0", "é" * 300, "../x", "/etc/passwd", "int8", "self", "sequence"),
    *([], {}, [[]], [1, 2], ["a"], {"a": 1}, [None], {"": {}}),
)


def mutated_bytes(content, random):
    """Flipped, lost, doubled, foreign and cut bytes."""
    made = bytearray(content)
    for _ in range(int(random.integers(1, 5))):
        place, span = int(random.integers(len(made) + 1)), int(random.integers(1, 20))
        match int(random.integers(6)):
            case 0 if place < len(made):
                made[place] ^= 1 << int(random.integers(8))
            case 1 if place < len(made):
                made[place] = int(random.integers(256))
            case 2:
                del made[place : place + span]
            case 3:
                made[place:place] = made[:span]
            case 4:
                made[place:place] = random.bytes(span)
            case 5 if random.random() < 0.1:
                del made[place:]
    return bytes(made)


def mutated_json(content, random):
    """Another value, a lost or a new one, anywhere in it."""
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        return mutated_bytes(content, random)
    for _ in range(int(random.integers(1, 4))):
        places = list(places_in(data))
        if not places:
            break
        _, place, key = chosen(random, places)
        match int(random.integers(5)):
            case 0:
                del place[key]
            case 1 if isinstance(place, dict):
                place[f"{key}_"] = place.pop(key)
            case 2 if isinstance(place, list):
                place += [place[key]] * int(random.integers(1, 50))
            case _:
                place[key] = chosen(random, VALUES)
    text = json.dumps(data)
    if random.random() < 0.1:  # a number that is too long for one
        text = text.replace("1", "9" * int(random.choice([400, 5000])), 1)
    return text.encode()


def places_in(data, field=""):
    """Every place in it: the field that it is of, a list or mapping, and a key of it."""
    if not isinstance(data, (dict, list)):
        return
    for key, value in list(data.items() if isinstance(data, dict) else enumerate(data)):
        name = key if isinstance(data, dict) else field
        yield name, data, key
        yield from places_in(value, name)


def mutated_lines(content, random):
    """Lost, doubled, exchanged, empty, long and undecodable lines."""
    lines = content.split(b"\n")
    for _ in range(int(random.integers(1, 4))):
        place, other = (int(random.integers(len(lines))) for _ in range(2))
        odd = (b"", b"\xff\xfe", b"\0", b"a" * 100_000, b"\r", "\u2028".encode(), b"##", b" x ")
        match int(random.integers(5)):
            case 0 if len(lines) > 1:
                del lines[place]
            case 1:
                lines.insert(place, lines[other])
            case 2:
                lines[place], lines[other] = lines[other], lines[place]
            case _:
                lines[place] = chosen(random, odd)
    return b"\n".join(lines)


def mutated_safetensors(content, random):
    """Another header, of a length that fits or not, or other bytes."""
    size = int.from_bytes(content[:8], "little")
    if random.random() < 0.4 or size > len(content):
        return mutated_bytes(content, random)
    header = mutated_json(content[8 : 8 + size], random)
    told = len(header) if random.random() < 0.9 else int(random.integers(1 << 40))
    return told.to_bytes(8, "little") + header + content[8 + size :]


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
    return lambda content, random: chosen(random, changes)(content, random)


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
                    pieces[place] = chosen(random, NUMBERS)
                case 5 if words:
                    pieces[place] = chosen(random, words)
                case 6 if len(pieces[place]) < 100:
                    pieces[place] *= int(random.choice([2, 50, 1000]))
                case _:
                    piece, at = pieces[place], int(random.integers(len(pieces[place]) + 1))
                    pieces[place] = piece[:at] + chosen(random, CHARACTERS) + piece[at:]
        return "".join(pieces).encode(errors="surrogateescape")

    return change


def chosen(random, items):
    return items[int(random.integers(len(items)))]
