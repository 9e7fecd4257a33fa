"""How the fuzzer changes the files of a bundle."""

import json
from collections.abc import Callable

import numpy as np
from onnx_mutators import mutated_onnx

Random = np.random.Generator
MANIFEST = "manifest.json"
VALUES = (
    *(None, True, False, 0, 1, -1, 2, 1 << 31, 1 << 63, -(1 << 64), 1e308, -0.5, 1e-300),
    *("", "a", "sst", "\0", "é" * 300, "../x", "/etc/passwd", "int8", "self", "sequence"),
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
        inside = list(_inside(data))
        if not inside:
            break
        place, key = inside[int(random.integers(len(inside)))]
        match int(random.integers(5)):
            case 0:
                del place[key]
            case 1 if isinstance(place, dict):
                place[f"{key}_"] = place.pop(key)
            case 2 if isinstance(place, list):
                place += [place[key]] * int(random.integers(1, 50))
            case _:
                place[key] = VALUES[int(random.integers(len(VALUES)))]
    text = json.dumps(data)
    if random.random() < 0.1:  # a number that is too long for one
        text = text.replace("1", "9" * int(random.choice([400, 5000])), 1)
    return text.encode()


def _inside(data):
    """Every place in it: a list or mapping, and a key of it."""
    keys = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    for key in list(keys):
        yield data, key
        yield from _inside(data[key])


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
                lines[place] = odd[int(random.integers(len(odd)))]
    return b"\n".join(lines)


def mutated_safetensors(content, random):
    """Another header, of a length that fits or not, or other bytes."""
    size = int.from_bytes(content[:8], "little")
    if random.random() < 0.4 or size > len(content):
        return mutated_bytes(content, random)
    header = mutated_json(content[8 : 8 + size], random)
    told = len(header) if random.random() < 0.9 else int(random.integers(1 << 40))
    return told.to_bytes(8, "little") + header + content[8 + size :]


Change = Callable[[bytes, Random], bytes]
KINDS = {
    "onnx structure": ("onnx/model.onnx", mutated_onnx),
    "onnx bytes": ("onnx/model.onnx", mutated_bytes),
    "config": ("config.json", mutated_json),
    "config bytes": ("config.json", mutated_bytes),
    "manifest": (MANIFEST, mutated_json),
    "manifest bytes": (MANIFEST, mutated_bytes),
    "vocabulary": ("vocabulary.txt", mutated_lines),
    "vocabulary bytes": ("vocabulary.txt", mutated_bytes),
    "distances": ("distances.json", mutated_json),
    "distances bytes": ("distances.json", mutated_bytes),
    "safetensors": ("model.safetensors", mutated_safetensors),
}
"""The file that each kind changes, and how."""
