# SPDX-License-Identifier: Apache-2.0
"""What every test runs in."""
import os
import shutil

VARIABLES = {
    "TOY_FILL_FRESH": "1",  # elements that nobody wrote, or behind the last one, are seen in results: runtime/Memory.cpp
    "TOY_READY_KERNELS": "",  # what is tested is compiled, by the compiler as it is: jit/ReadyKernels.h
    "OPENBLAS_THREAD_TIMEOUT": "4",  # its threads sleep at once when they have no work: spinning is a tenth of a run
}


def memory():
    """A folder in memory with room, if there is one: for files by the thousand that nobody keeps."""
    folder = "/dev/shm"
    if not os.path.isdir(folder) or os.statvfs(folder).f_flag & os.ST_NOEXEC:
        return None
    return folder if shutil.disk_usage(folder).free > 4 << 30 else None
