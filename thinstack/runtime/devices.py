"""The GPUs that a model can run on: how onnxruntime names them, and what each needs."""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final, Literal, NamedTuple

from thinstack.runtime.pool import usable_cores

RunningDevice = Literal["cpu", "cuda", "webgpu"]
"""Where a model really runs."""

PAYS: Final = 1 << 8
"""Words of a batch for each usable core from which "auto" runs it on a GPU. A core has fewer done
before a GPU has started its kernels. By arithmetic (lab/results/placement.md), not
measured."""


class Gpu(NamedTuple):
    """A way to run a model on a GPU.

    Attributes:
        name: as `device` has it.
        title: as messages have it.
        provider: onnxruntime's name of it.
        options: the settings of the provider.
        needs: what must be there and how to install it, as a sentence without its stop.
        mend: what a user does where it is installed and does not work.
        extra: the extra of thinstack that brings it.
        plugin: the package that brings the provider, where onnxruntime is built without it.
        host_nodes: the setting that names the nodes which are the host's, if there is one.
        emulated: whether a program on the CPU may stand for the GPU.
        packaged: whether pip may have installed its libraries, where no loader of the system looks.
    """

    name: RunningDevice
    title: str
    provider: str
    options: Mapping[str, object]
    needs: str
    mend: str
    extra: str
    plugin: str = ""
    host_nodes: str = ""
    emulated: bool = False
    packaged: bool = False

    def has_plugin(self) -> bool:
        """Whether the package is installed that brings the provider."""
        return bool(self.plugin) and find_spec(self.plugin) is not None


GPUS: Final = (
    Gpu(
        "cuda",
        "CUDA",
        "CUDAExecutionProvider",
        # By default it rounds what it multiplies to 10 bits (TF32): scores would differ from the
        # CPU's by some 1e-3, and trees with them.
        {"use_tf32": 0},
        "It needs an NVIDIA driver, the CUDA libraries and onnxruntime-gpu (pip uninstall "
        'onnxruntime; pip install "onnxruntime-gpu[cuda,cudnn]")',
        'pip install "onnxruntime-gpu[cuda,cudnn]"',
        "gpu",
        packaged=True,
    ),
    Gpu(
        "webgpu",
        "WebGPU",
        "WebGpuExecutionProvider",
        {},
        "It needs a GPU with a driver for Vulkan (on Linux, with the package libvulkan1), Metal or "
        "Direct3D 12, and onnxruntime-ep-webgpu beside onnxruntime 1.24.4 or newer (pip install "
        "onnxruntime-ep-webgpu)",
        "install the driver of the GPU; on Linux also: apt-get install libvulkan1",
        "webgpu",
        plugin="onnxruntime_ep_webgpu",
        host_nodes="forceCpuNodeNames",
        emulated=True,
    ),
)
"""In the order in which "auto" tries them."""


def pays(words: int) -> bool:
    """Whether so many words are enough for a GPU."""
    return words >= PAYS * usable_cores()
