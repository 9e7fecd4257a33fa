"""A model that some texts kill, or stop for ever."""

import os
import signal
import threading
from dataclasses import dataclass
from pathlib import Path

from thinstack.errors import StoppedError
from thinstack.integrations.corpora.scoring import TextScorer
from thinstack.integrations.corpora.workers import ModelSource


class DeadlyScorer(TextScorer):
    """Of a text "poison" its process is killed, of "once FILE" unless that file is there, which is
    then made; by "wait" it is held up until a signal."""

    def score(self, texts):
        for text in texts:
            first, _, mark = text.partition(" ")
            if first == "poison" or (first == "once" and not Path(mark).exists()):
                if mark:
                    Path(mark).touch()
                os.kill(os.getpid(), signal.SIGKILL)
            if first == "wait":
                threading.Event().wait()
        return super().score(texts)

    def __call__(self, rows):
        if any(row.text == "full" for row in rows):
            raise OSError(28, "No space left on device")
        return super().__call__(rows)


@dataclass(frozen=True, slots=True)
class DeadlyModel(ModelSource):
    def scorer(self, settings):
        made = ModelSource.scorer(self, settings)
        return DeadlyScorer(made.predictor, made.layout.output, made.source)


@dataclass(frozen=True, slots=True)
class StillbornModel(ModelSource):
    """It kills any process but that of the test."""

    parent: int = 0

    def scorer(self, settings):
        if os.getpid() != self.parent:
            os._exit(7)
        return ModelSource.scorer(self, settings)


@dataclass(frozen=True, slots=True)
class UnloadableModel(StillbornModel):
    def scorer(self, settings):
        if os.getpid() != self.parent:
            raise StoppedError("the model cannot be loaded")
        return ModelSource.scorer(self, settings)
