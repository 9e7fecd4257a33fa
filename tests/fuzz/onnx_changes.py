"""ONNX files that are like a given one but for a few changes of their structure."""

import copy

import onnx
from fuzz.changes import chosen, places_in
from google.protobuf import json_format

NUMBERS = ("0", "1", "-1", "2", "7", "64", str(1 << 31), str(-(1 << 31)), str((1 << 63) - 1))
FLOATS = (0.0, -1.0, 1e-30, 3e38, "Infinity", "NaN", 0.5)
TEXTS = ("", "nothing", "Softplus", "RandomNormal", "a" * 10**5, "bXVs")
ODD = {str: TEXTS, float: FLOATS, int: (0, -1, 1 << 30)}


def mutated_onnx(content, random):
    """The file with one to three changes: a part is lost or doubled, or takes the place of another
    of its kind, or a value is an odd one."""
    model = json_format.MessageToDict(onnx.load_from_string(content))
    for _ in range(int(random.integers(1, 4))):
        places = [*places_in(model)]
        field, inside, key = chosen(random, places)
        value = inside[key]
        match int(random.integers(4)):
            case 0:
                del inside[key]
            case 1 if isinstance(inside, list):
                inside.insert(key, copy.deepcopy(value))
            case 2 if type(value) in ODD:
                number = isinstance(value, str) and value.lstrip("-").isdigit()
                inside[key] = chosen(random, NUMBERS if number else ODD[type(value)])
            case _:
                alike = [one[at] for name, one, at in places if name == field]
                inside[key] = copy.deepcopy(chosen(random, alike))
    made = json_format.ParseDict(model, onnx.ModelProto())
    return bytes(made.SerializeToString())
