"""The file for GPUs of a bundle: what it holds, which bundle it fits, and where it runs."""

import numpy as np
import onnx
import pytest
from export.export_models import session_of
from fake_gpu import LOST
from gpu_bundles import WORDS, gpu_bundle
from onnx import helper, numpy_helper

from thinstack.bundle import Bundle, open_bundle, write_bundle
from thinstack.bundle.gate.onnx_gate import check_onnx
from thinstack.bundle.gpu_file import BESIDE, digest, host_nodes, joined, metadata
from thinstack.bundle.manifest import GPU_FILE, ONNX_FILE
from thinstack.bundle.reading import pack, unpacked
from thinstack.bundle.writing import seal, write_packed
from thinstack.errors import BundleError
from thinstack.export.onnx.beside import SMALL
from thinstack.runtime.isolated import ModelProcess
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.reference import check_cases
from thinstack.runtime.session import open_session

FEEDS = {
    "token_ids": np.array([1, 2, 3, 0, 5], np.int32),
    "transitions": np.array([0, 0, 0, 1, 1, 0, 0, 1], np.int32),
    "lengths": np.array([3, 2], np.int32),
}


@pytest.fixture(scope="module", params=["int8-tables", "int8"])
def stored(request):
    """A bundle whose weights are stored so, and the whole file for GPUs."""
    return gpu_bundle(quantize=request.param)


@pytest.fixture(scope="module")
def bundle():
    return gpu_bundle()[0]


def files_of(bundle):
    return bundle.for_gpu(), bundle.read(ONNX_FILE)


def answers(file):
    session = session_of(file)
    return session.run(None, {each.name: FEEDS[each.name] for each in session.get_inputs()})


def test_the_joined_file_answers_as_the_whole_one(stored):
    bundle, whole = stored
    file = both(bundle)
    check_onnx(file, source="a bundle")
    onnx.checker.check_model(onnx.load_from_string(file), full_check=True)
    for found, wanted in zip(answers(file), answers(whole), strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert host_nodes(file) == host_nodes(whole) != ""
    assert metadata(file) == metadata(whole) | {BESIDE: digest(bundle.read(ONNX_FILE))}


def test_no_weight_is_stored_twice(stored):
    bundle, whole = stored
    held = {
        weight.name: numpy_helper.to_array(weight).nbytes
        for file in (bundle.for_gpu(), whole)
        for weight in onnx.load_from_string(file).graph.initializer
    }
    part = onnx.load_from_string(bundle.for_gpu())
    assert max(held.values()) >= SMALL
    assert [each.name for each in part.graph.initializer if held[each.name] >= SMALL] == []
    constants = [node for node in part.graph.node if node.op_type == "Constant"]
    sizes = [numpy_helper.to_array(node.attribute[0].t).nbytes for node in constants]
    assert max(sizes) < 10 * SMALL


def without_graph(part):
    model = onnx.load_from_string(part)
    model.ClearField("graph")
    return model.SerializeToString()


DAMAGES = {
    "nothing": lambda part: b"garbage",
    "cut at the end": lambda part: part[:-1],
    "cut in the middle": lambda part: part[: len(part) // 2],
    "no graph": without_graph,
    "of another file": lambda part: open_bundle("sentiment").for_gpu(),
    "for CPUs": lambda part: gpu_bundle()[0].read(ONNX_FILE),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_part_that_does_not_fit_is_one_message(bundle, damage):
    part, beside = files_of(bundle)
    with pytest.raises(BundleError, match=r"^a bundle/onnx/model.onnx and onnx/model.gpu.onnx: "):
        open_session(
            beside, device="auto", source="a bundle/onnx/model.onnx", gpu=DAMAGES[damage](part)
        )


def custom_operator(model):
    model.opset_import.append(helper.make_opsetid("evil", 1))
    model.graph.node.append(helper.make_node("Open", [], ["door"], name="door", domain="evil"))


def other_file(model):
    model.graph.initializer[0].data_location = onnx.TensorProto.EXTERNAL
    model.graph.initializer[0].external_data.add(key="location", value="secret.bin")


@pytest.mark.parametrize(
    ("change", "said"), [(custom_operator, "the domain 'evil'"), (other_file, "in another file")]
)
def test_the_gate_refuses_what_a_part_brings(bundle, change, said):
    part, beside = files_of(bundle)
    model = onnx.load_from_string(part)
    change(model)
    with pytest.raises(BundleError, match=said):
        open_session(beside, device="webgpu", source="a bundle", gpu=model.SerializeToString())
    opened = open_session(beside, device="cpu", source="a bundle", gpu=b"not looked at")
    assert opened.device == "cpu"


def test_the_file_goes_with_its_bundle(bundle, tmp_path):
    """Written, copied and read from memory."""
    written = write_bundle(tmp_path / "one", plain_files(bundle), config=bundle.config)
    write_packed(pack(written), tmp_path / "two")
    for each in (written, open_bundle(tmp_path / "two"), unpacked(pack(written), "memory")):
        assert each.for_gpu() == bundle.for_gpu() != b""
    path = tmp_path / "two" / GPU_FILE
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(BundleError, match=GPU_FILE):
        open_bundle(tmp_path / "two")


def test_what_is_bundled_fits():
    file = joined(*files_of(open_bundle("sentiment")), source="sentiment")
    check_onnx(file, source="sentiment")
    assert host_nodes(file)


SENTENCES = [[*WORDS], ["good"], ["never", "awful"]]
CASES = b'{"labels": ["bad", "good", "best"], "tolerance": 1e-4, "cases": []}'


def plain_files(bundle):
    names = bundle.manifest.files.keys() - {"config.json"}
    return {name: bundle.read(name) for name in names}


@pytest.fixture(scope="module")
def plain(bundle):
    """Without a file for GPUs."""
    files = plain_files(bundle)
    del files[GPU_FILE]
    return seal(files, config=bundle.config)


@pytest.fixture
def read(monkeypatch):
    """The names of the files of bundles that are read."""
    names, before = [], Bundle.read
    monkeypatch.setattr(Bundle, "read", lambda self, name: names.append(name) or before(self, name))
    return names


def both(bundle):
    return joined(*files_of(bundle), source="a bundle")


def like_the_cpu(predictor, bundle):
    wanted = Predictor(bundle, isolated=False).predict(SENTENCES)
    for found, each in zip(predictor.predict(SENTENCES), wanted, strict=True):
        np.testing.assert_allclose(found.node_scores, each.node_scores, rtol=0, atol=1e-6)


def test_webgpu_gets_the_joined_file_and_the_names_of_the_hosts_nodes(bundle, fake):
    fake.plugged = ["GPU"]
    predictor = Predictor(bundle, device="webgpu", isolated=False)
    _, options = fake.asked[-1]
    names = options["forceCpuNodeNames"]
    assert options == {"forceCpuNodeNames": host_nodes(both(bundle))}
    assert len(names.split("\n")) > 20
    assert fake.files == [both(bundle)]
    like_the_cpu(predictor, bundle)


def test_cuda_gets_the_joined_file_and_no_names(bundle, fake):
    fake.built_in = ["cuda"]
    predictor = Predictor(bundle, device="cuda", isolated=False)
    (_, options), _ = fake.asked[-1]
    assert options == {"use_tf32": 0}
    assert fake.files == [both(bundle)]
    like_the_cpu(predictor, bundle)


def test_the_cpu_reads_no_file_for_gpus(bundle, fake, read):
    like_the_cpu(Predictor(bundle, device="cpu", isolated=False), bundle)
    assert ONNX_FILE in read
    assert GPU_FILE not in read
    assert set(fake.files) == {bundle.read(ONNX_FILE)}


def test_reference_cases_on_a_gpu_are_those_of_its_file(bundle, fake):
    fake.plugged = ["GPU"]
    with_cases = seal(plain_files(bundle) | {"cases.json": CASES}, config=bundle.config)
    with pytest.raises(BundleError, match="no reference case could be compared"):
        check_cases(with_cases, isolated=False, device="webgpu")
    assert fake.files == [both(bundle)]


@pytest.mark.parametrize("device", ["cuda", "webgpu"])
def test_without_one_a_gpu_runs_the_file_for_cpus(plain, fake, device):
    fake.built_in = [device]
    predictor = Predictor(plain, device=device, isolated=False)
    assert predictor.device == device
    assert fake.files == [plain.read(ONNX_FILE)]
    (_, options), _ = fake.asked[-1]
    assert "forceCpuNodeNames" not in options
    like_the_cpu(predictor, plain)


def test_auto_that_loses_its_gpu_goes_on_with_the_file_for_cpus(bundle, fake):
    fake.plugged = ["GPU"]
    predictor = Predictor(bundle, device="auto", isolated=False)
    assert predictor.device == "webgpu"
    fake.runs = lambda provider, feeds: LOST if provider.startswith("WebGpu") else None
    many = [["good", "film"]] * 512
    with pytest.warns(RuntimeWarning, match="on the CPU"):
        predictor.predict(many)
    assert fake.files == [both(bundle), bundle.read(ONNX_FILE)]
    like_the_cpu(predictor, bundle)


def test_a_process_of_its_own_is_sent_both(bundle, plain, monkeypatch):
    sent, ask = [], ModelProcess.ask

    def told(process, request, arrays):
        if "model" in arrays:
            sent.append({name: array.tobytes() for name, array in arrays.items()})
            request = {**request, "device": "cpu"}
        return ask(process, request, arrays)

    monkeypatch.setattr(ModelProcess, "ask", told)
    for one in (bundle, plain):
        Predictor(one, device="auto", isolated=True)
    assert [each["model"] for each in sent] == [bundle.read(ONNX_FILE)] * 2
    assert [each["on_gpu"] for each in sent] == [both(bundle), b""]
