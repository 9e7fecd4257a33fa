"""The most memory that a process has held."""

import sys
from pathlib import Path


def peak_memory():
    """Bytes of this very process, 0 where the system does not tell.

    On Linux `getrusage` starts from what the process that forked it held.
    """
    if sys.platform == "linux":
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return int(status.split("VmHWM:")[1].split()[0]) * 1024
    if sys.platform == "win32":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
