"""Checks that a run's input and model stay what they were when it began.

Each shard is compared with what was counted first, before it is scored. So rows that are written
are always of the input that the manifest describes, and a run may go on from them.
"""

from collections.abc import Callable, Iterable, Iterator

from thinstack.bundle import Bundle, open_bundle
from thinstack.errors import DataError, StoppedError, ThinstackError
from thinstack.integrations.corpora.inputs import Corpus, digest
from thinstack.integrations.corpora.run_manifest import InputFile, RunManifest
from thinstack.integrations.corpora.shards import Shard, rows_digest


def input_files(corpus: Corpus) -> dict[str, InputFile]:
    """The files of a corpus as a manifest describes them. Raises DataError for a file that cannot
    be read."""
    return {
        name: InputFile(sha256=digest(path), bytes=path.stat().st_size)
        for name, path in corpus.files.items()
    }


def as_planned(shards: Iterable[Shard], manifest: RunManifest) -> Iterator[Shard]:
    """The shards as long as each is what the manifest says. Raises StoppedError for one whose rows
    are others, or cannot be read any more. A manifest of an earlier version of thinstack has only
    the numbers of rows."""
    sizes, digests = dict(enumerate(manifest.shards)), dict(enumerate(manifest.digests))
    try:
        for shard in shards:
            known, size = digests.get(shard.number), sizes.get(shard.number)
            if len(shard.rows) != size or (known and rows_digest(shard.rows) != known):
                before = sum(manifest.shards[: shard.number])
                raise _input_changed(f"of its rows from {before + 1:,} on, some are others")
            yield shard
    except DataError as error:  # of a file that could be read when its rows were counted
        raise _input_changed(str(error)) from None


def check_input(corpus: Callable[[], Corpus], manifest: RunManifest) -> None:
    """Raise StoppedError if a file of the corpus, which `corpus` looks for again, is another than
    the manifest says, is new or is gone."""
    try:
        files = input_files(corpus())
    except (ThinstackError, OSError) as error:
        raise _input_changed(str(error)) from None
    for name in {**manifest.input, **files}:
        before, now = manifest.input.get(name), files.get(name)
        if before != now:
            how = "has another content" if before and now else "is new" if now else "is gone"
            raise _input_changed(f"{name!r:.200} {how}")


def opened_again(name: str, digest: str) -> Bundle:
    """The bundle of a name or folder. Raises StoppedError unless its manifest has this digest."""
    try:
        bundle = open_bundle(name)
    except (ThinstackError, OSError) as error:
        raise _changed("model", str(error)) from None
    if bundle.manifest.digest != digest:
        raise _changed("model", f"{bundle.path} holds another bundle")
    return bundle


def _input_changed(how: str) -> StoppedError:
    return _changed("input", how, "; if another program writes to it, score a copy")


def _changed(what: str, how: str, more: str = "") -> StoppedError:
    return StoppedError(
        f"the {what} has changed since the run began: {how}. The rows that are written are of the "
        f"{what} as it was, and are not called finished: name another folder with --out and start "
        f"again, or put the old {what} back and run the same command again{more}"
    )
