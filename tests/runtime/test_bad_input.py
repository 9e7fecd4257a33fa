"""What onnxruntime makes of bad inputs of the bare ONNX files, as `docs/runtimes.md` says."""

import json
import random
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from command_line import run_program
from onnxruntime.capi import onnxruntime_pybind11_state as refusals
from peak_memory import peak_memory

from thinstack.bundle import open_bundle

GOLDEN = Path(__file__).parents[1] / "golden" / "schema-1"
BUNDLES = {
    "words": GOLDEN / "words",
    "wordpiece-parser": GOLDEN / "wordpiece-parser",
    "texts": GOLDEN / "texts",
    "bundled": "sentiment",
}
EXTREMES = (-(2**31), -(2**31) + 1, -1, 2, 7, 30_522, 2**31 - 1)


def good(words, rng, *, pieces, texts):
    """Two sentences, of so many words and of one. With `texts`, without trees, one text or two."""
    left = [0, *[0, 1] * (words - 1)]
    if not pieces:
        ids = [rng.randrange(6) for _ in range(words + 1)]
        return {"token_ids": ids, "transitions": [*left, 0]}
    counts = [rng.randint(1, 3) for _ in range(words + 1)]
    ids = [rng.randrange(7) for _ in range(sum(counts))]
    steps = [*left, 0] if rng.random() < 0.5 else []
    lengths = {"lengths": [words, 1], "transitions": steps}
    if texts:
        lengths["breaks"] = [0 if steps else rng.randrange(3), 0]
    return {"piece_ids": ids, "pieces_per_word": counts, **lengths}


def spoilt(inputs, rng):
    """One or two of them changed."""
    inputs = {name: list(values) for name, values in inputs.items()}
    for _ in range(rng.randint(1, 2)):
        name = rng.choice(sorted(inputs))
        values = inputs[name]
        match rng.randrange(5):
            case 0:
                values.clear()
            case 1 if values:
                values[rng.randrange(len(values))] = rng.choice(EXTREMES)
            case 2:
                values[:] = [rng.randrange(2) for _ in range(rng.randrange(20))]
            case 3:
                del values[rng.randrange(len(values) + 1) :]
            case 4:
                values += [rng.randrange(-1, 3) for _ in range(rng.randint(1, 9))]
    return inputs


def ends_defined(session, inputs, classes):
    """Run it; whether it gave scores, of the declared shapes and finite, and not an error of
    onnxruntime."""
    outputs = [item.name for item in session.get_outputs()]
    feeds = {name: np.array(values, np.int32) for name, values in inputs.items()}
    try:
        found = session.run(outputs, feeds)
    except (refusals.InvalidArgument, refusals.Fail):
        return False
    for name, values in zip(outputs, found, strict=True):
        assert values.shape[1:] == ((classes,) if name.endswith("scores") else ()), inputs
        assert np.isfinite(values).all(), inputs
    return True


def main(kind):
    """Run 300 bad inputs and print how many gave scores."""
    bundle, rng = open_bundle(BUNDLES[kind]), random.Random(0)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    session = onnxruntime.InferenceSession(
        bundle.read("onnx/model.onnx"), options, providers=["CPUExecutionProvider"]
    )
    classes = len(bundle.config.labels)
    given = {"pieces": kind != "words", "texts": kind in ("texts", "bundled")}
    assert all(ends_defined(session, good(n, rng, **given), classes) for n in (1, 2, 9))
    scored = sum(
        ends_defined(session, spoilt(good(rng.randint(1, 9), rng, **given), rng), classes)
        for _ in range(300)
    )
    sys.stdout.write(json.dumps({"scored": scored, "peak": peak_memory()}))


@pytest.mark.parametrize("kind", BUNDLES)
def test_bad_inputs_end_in_an_error_or_in_scores(kind):
    """In a process of its own: nothing crashes, hangs, or takes much memory."""
    found = run_program(Path(__file__), kind)
    assert 20 < found["scored"] < 280
    assert found["peak"] < 1 << 30


if __name__ == "__main__":
    main(sys.argv[1])
