"""Which of a bundle's two files runs, where an onnxruntime of the tests' own finds GPUs."""

import numpy as np
import pytest
from fake_gpu import LOST
from gpu_bundles import WORDS, gpu_bundle

from thinstack.bundle import Bundle
from thinstack.bundle.gpu_file import host_nodes, joined
from thinstack.bundle.manifest import GPU_FILE, ONNX_FILE
from thinstack.bundle.writing import seal
from thinstack.errors import BundleError
from thinstack.runtime.isolated import ModelProcess
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.reference import check_cases

SENTENCES = [[*WORDS], ["good"], ["never", "awful"]]
CASES = b'{"labels": ["bad", "good", "best"], "tolerance": 1e-4, "cases": []}'


@pytest.fixture(scope="module")
def bundle():
    return gpu_bundle()[0]


def files_of(bundle):
    names = bundle.manifest.files.keys() - {"config.json"}
    return {name: bundle.read(name) for name in names}


@pytest.fixture(scope="module")
def plain(bundle):
    """Without a file for GPUs."""
    files = files_of(bundle)
    del files[GPU_FILE]
    return seal(files, config=bundle.config)


@pytest.fixture
def read(monkeypatch):
    """The names of the files of bundles that are read."""
    names, before = [], Bundle.read
    monkeypatch.setattr(Bundle, "read", lambda self, name: names.append(name) or before(self, name))
    return names


def both(bundle):
    return joined(bundle.for_gpu(), bundle.read(ONNX_FILE), source="a bundle")


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
    with_cases = seal(files_of(bundle) | {"cases.json": CASES}, config=bundle.config)
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
