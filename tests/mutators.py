"""Bundles that are like a given one but for changes of one file. The digests fit what is changed,
as whoever makes a bundle to do harm would have them.

`mutant(files, number)` is always the same for a number, so a finding is told by its number.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

import numpy as np
from bundle_folders import record, sealed
from onnx_mutators import mutated_onnx

__all__ = ["KINDS", "Mutant", "mutant"]

Random = np.random.Generator
MANIFEST = "manifest.json"
VALUES: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, 1, -1, 2, 1 << 31, 1 << 63, -(1 << 64), 1e308, -0.5, 1e-300),
    *("", "a", "sst", "\0", "é" * 300, "../x", "/etc/passwd", "int8", "self", "sequence"),
    *([], {}, [[]], [1, 2], ["a"], {"a": 1}, [None], {"": {}}),
)


class Mutant(NamedTuple):
    """The files of a bundle, the name of the one that was changed, and how."""

    files: dict[str, bytes]
    name: str
    kind: str


def mutated_bytes(content: bytes, random: Random) -> bytes:
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


def mutated_json(content: bytes, random: Random) -> bytes:
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


def _inside(data: Any) -> Any:
    """Every place in it: a list or mapping, and a key of it."""
    keys = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    for key in list(keys):
        yield data, key
        yield from _inside(data[key])


def mutated_lines(content: bytes, random: Random) -> bytes:
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


def mutated_safetensors(content: bytes, random: Random) -> bytes:
    """Another header, of a length that fits or not, or other bytes."""
    size = int.from_bytes(content[:8], "little")
    if random.random() < 0.4 or size > len(content):
        return mutated_bytes(content, random)
    header = mutated_json(content[8 : 8 + size], random)
    told = len(header) if random.random() < 0.9 else int(random.integers(1 << 40))
    return told.to_bytes(8, "little") + header + content[8 + size :]


Change = Callable[[bytes, Random], bytes]
KINDS: Final[Mapping[str, tuple[str, Change, float]]] = {
    "onnx structure": ("onnx/model.onnx", mutated_onnx, 0.45),
    "onnx bytes": ("onnx/model.onnx", mutated_bytes, 0.13),
    "config": ("config.json", mutated_json, 0.1),
    "config bytes": ("config.json", mutated_bytes, 0.03),
    "manifest": (MANIFEST, mutated_json, 0.06),
    "manifest bytes": (MANIFEST, mutated_bytes, 0.03),
    "vocabulary": ("vocabulary.txt", mutated_lines, 0.04),
    "vocabulary bytes": ("vocabulary.txt", mutated_bytes, 0.02),
    "distances": ("distances.json", mutated_json, 0.05),
    "distances bytes": ("distances.json", mutated_bytes, 0.02),
    "safetensors": ("model.safetensors", mutated_safetensors, 0.07),
}
"""The file that each kind changes, how, and its share of all."""


def mutant(files: Mapping[str, bytes], number: int) -> Mutant:
    """The mutant of this number of a bundle with these files."""
    random = np.random.default_rng(number)
    kinds = [kind for kind, (name, _, _) in KINDS.items() if name in files]
    shares = np.array([KINDS[kind][2] for kind in kinds])
    kind = kinds[int(random.choice(len(kinds), p=shares / shares.sum()))]
    name, change, _ = KINDS[kind]
    made = dict(files)
    made[name] = change(files[name], random)
    if name != MANIFEST:
        raw = json.loads(files[MANIFEST])
        raw["files"][name] = record(made[name])
        made[MANIFEST] = sealed(raw)
    elif random.random() < 0.8:  # else its own digest tells
        with suppress(ValueError, TypeError, AttributeError, RecursionError):
            made[MANIFEST] = sealed(json.loads(made[MANIFEST]))
    return Mutant(made, name, kind)
