"""A process that scores shards until its parent ends it, or dies."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from thinstack.errors import StoppedError, ThinstackError
from thinstack.integrations.corpora.attempts import Attempt, OpenShard
from thinstack.integrations.corpora.folder import OutFolder
from thinstack.integrations.corpora.run_manifest import Settings
from thinstack.integrations.corpora.scoring import TextScorer
from thinstack.integrations.corpora.work import ModelSource, WrittenShard, score_shard, try_rows

Reply = WrittenShard | None | Exception
"""Of a worker: a shard is written; it waits for the next task; it cannot go on."""


class Worker:
    """A process, as its parent sees it.

    Attributes:
        connection: brings its replies, and comes to its end when the process dies.
        shard: what the process works on; None while it starts and while it waits.
        ready: whether it has started.
    """

    def __init__(self, model: ModelSource, settings: Settings, folder: OutFolder):
        context = multiprocessing.get_context("spawn")  # a session has threads, which no fork has
        self.connection, other = context.Pipe()
        arguments = (other, model, settings, folder)
        self._process: BaseProcess = context.Process(target=_serve, args=arguments, daemon=True)
        with _uninterrupted():
            self._process.start()
        other.close()
        self.shard: OpenShard | None = None
        self.ready = False

    def give(self, shard: OpenShard) -> None:
        """Let the process work on a shard."""
        self.shard = shard
        with suppress(OSError):  # where it is dead, its connection will say so
            self.connection.send(shard.attempt)

    def reply(self) -> Reply:
        """The process's reply. Raises EOFError if it is dead."""
        try:
            reply: Reply = self.connection.recv()
        except OSError:
            raise EOFError from None
        return reply

    def how_it_died(self) -> str:
        """The signal that killed the process, or its exit code, in words."""
        self._process.join()
        code = self._process.exitcode or 0
        try:
            return signal.Signals(-code).name if code < 0 else f"exit code {code}"
        except ValueError:
            return f"signal {-code}"

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self._process.terminate()
        self._process.join()
        self.connection.close()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """What is started in the block takes no notice of Ctrl-C, which is its parent's to answer."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _serve(
    connection: Connection, model: ModelSource, settings: Settings, folder: OutFolder
) -> None:
    """The work of the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, ConnectionError):  # as it is where the parent has gone
        try:
            scorer = model.scorer(settings)
            connection.send(None)
            while True:
                connection.send(_worked(connection.recv(), scorer, folder))
        except (EOFError, ConnectionError):
            raise
        except (ThinstackError, OSError) as error:
            connection.send(error)
        except Exception as error:
            connection.send(StoppedError(f"a process failed: {type(error).__name__}: {error}"))


def _worked(attempt: Attempt, scorer: TextScorer, folder: OutFolder) -> WrittenShard | None:
    if attempt.write:
        return score_shard(scorer, attempt.shard, folder)
    try_rows(scorer, attempt.shard)
    return None


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "a worker is started by another process"
    parent.join()
    os._exit(1)
