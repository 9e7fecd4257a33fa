"""The supported GPUs: their onnxruntime providers and their requirements."""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final, Literal, NamedTuple

from thinstack.runtime.pool import usable_cores

RunningDevice = Literal["cpu", "cuda", "webgpu"]
"""The device that a model actually runs on."""

PAYS: Final = 1 << 8
"""Words per usable core and batch from which "auto" runs the batch on a GPU. For fewer words, a
core finishes before a GPU has launched its kernels. Calculated (lab/results/placement.md), not
measured."""


class Gpu(NamedTuple):
    """A kind of GPU that a model can run on.

    Attributes:
        name: its name in `device`.
        title: its name in messages.
        provider: the execution provider in onnxruntime.
        options: the settings of the provider.
        needs: the requirements and how to install them, as a sentence without a full stop.
        mend: what to do if it is installed but does not work.
        extra: the extra of thinstack that installs it.
        plugin: the package with the provider, if onnxruntime is built without it.
        host_nodes: the setting that lists the nodes to run on the host, if there is one.
        emulated: whether software on the CPU may emulate the GPU.
        packaged: whether its libraries may come from pip, outside the system's loader path.
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
        """Return whether the package with the provider is installed."""
        return bool(self.plugin) and find_spec(self.plugin) is not None


GPUS: Final = (
    Gpu(
        "cuda",
        "CUDA",
        "CUDAExecutionProvider",
        # By default it rounds factors to 10 bits (TF32), so scores would differ from the CPU's by
        # about 1e-3, and parses might differ too.
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
        "Direct3D 12, and onnxruntime-ep-webgpu with onnxruntime 1.24.4 or newer (pip install "
        "onnxruntime-ep-webgpu)",
        "install the driver of the GPU; on Linux also: apt-get install libvulkan1",
        "webgpu",
        plugin="onnxruntime_ep_webgpu",
        host_nodes="forceCpuNodeNames",
        emulated=True,
    ),
)
"""In the order that "auto" tries them."""


def pays(words: int) -> bool:
    """Return whether a batch of this many words is worth running on a GPU."""
    return words >= PAYS * usable_cores()
