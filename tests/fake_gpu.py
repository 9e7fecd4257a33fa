"""An onnxruntime that finds GPUs where there are none: its sessions run on the CPU, or fail."""

import sys
from collections import Counter
from types import ModuleType, SimpleNamespace

import onnxruntime

from thinstack.runtime import gpu_session

CPU = "CPUExecutionProvider"
PLUGIN = "onnxruntime_ep_webgpu"
PROVIDERS = {"cuda": "CUDAExecutionProvider", "webgpu": "WebGpuExecutionProvider"}
LOST = "Failed to download data from buffer: [Device] is lost."
TOO_LARGE = "WebGPU validation failed. [Invalid Buffer] is invalid due to a previous error."


class FailedError(Exception):
    """What onnxruntime raises, which has no common class of its errors."""


FailedError.__module__ = "onnxruntime.capi"


class FakeGpu:
    """Replaces parts of onnxruntime while `monkeypatch` lasts.

    Attributes:
        built_in: names of the devices whose provider onnxruntime has itself.
        plugged: kinds of the devices that the plugin finds, "GPU" or "CPU".
        plugin: whether its package is installed.
        starts: None, or what a session on a GPU raises when it is started.
        runs: None, or what is asked, with the device and the feeds, what a run raises, if any.
        registered: how often the plugin was registered.
        counts: runs by provider.
        asked: what sessions were started with: the providers or devices.
        files: the content of each session's file.
    """

    def __init__(self, monkeypatch):
        self.built_in, self.plugged, self.plugin = [], [], True
        self.starts, self.runs = None, None
        self.registered, self.counts, self.asked, self.files = 0, Counter(), [], []
        fake, real = self, onnxruntime.InferenceSession

        class Options(onnxruntime.SessionOptions):
            devices = ()

            def add_provider_for_devices(self, devices, options):
                self.devices = devices, options

        class Session:
            def __init__(self, content, options, providers=None, **settings):
                assert settings == {"enable_fallback": 0}
                asked = options.devices or providers
                fake.asked.append(asked)
                fake.files.append(content)
                first = asked[0][0]
                name = getattr(first, "ep_name", first if isinstance(first, str) else "")
                self.provider = asked[0] if isinstance(asked[0], str) else name
                if self.provider in PROVIDERS.values():
                    fake._start()
                self.session = real(content, onnxruntime.SessionOptions(), [CPU])

            def __getattr__(self, name):
                return getattr(self.session, name)

            def get_providers(self):
                return [self.provider, CPU]

            def run(self, names, feeds, options):
                fake.counts[self.provider] += 1
                if problem := fake.runs and fake.runs(self.provider, feeds):
                    raise FailedError(problem)
                return self.session.run(names, feeds, options)

        changes = {
            "InferenceSession": Session,
            "SessionOptions": Options,
            "get_available_providers": self._providers,
            "get_ep_devices": self._devices,
            "register_execution_provider_library": self._register,
        }
        for name, value in changes.items():
            monkeypatch.setattr(onnxruntime, name, value)
        package = ModuleType(PLUGIN)
        package.get_library_path = lambda: "webgpu.so"
        monkeypatch.setitem(sys.modules, PLUGIN, package)
        monkeypatch.setattr("thinstack.runtime.devices.find_spec", lambda name: self.plugin or None)
        for name, value in {"_tried_in": [], "_registered": set()}.items():
            monkeypatch.setattr(gpu_session, name, value)

    def _start(self):
        if self.starts:
            raise FailedError(self.starts)

    def _providers(self):
        plugged = ["webgpu"] if self.registered and self.plugged else []
        return [PROVIDERS[name] for name in (*self.built_in, *plugged)] + [CPU]

    def _register(self, name, library):
        assert (name, library) == (PLUGIN, "webgpu.so")
        self.registered += 1

    def _devices(self):
        kinds = self.plugged if self.registered else []
        return [
            SimpleNamespace(
                ep_name=PROVIDERS["webgpu"],
                ep_metadata={"library_path": "webgpu.so"},
                device=SimpleNamespace(type=SimpleNamespace(name=kind)),
            )
            for kind in kinds
        ]
