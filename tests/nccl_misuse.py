# SPDX-License-Identifier: Apache-2.0
"""Two processes that call the NCCL of tests/cuda themselves, and wrongly: `nccl_misuse.py FOLDER RANK`, with the
libraries in FOLDER. MISUSES has what they do and what the fake has to find."""
import ctypes
import os
import pathlib
import sys
import time

F32, SUM, MAX = 7, 0, 2
BYTES = 4096


class Id(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 128)]


class Rank:
    """One of the two, with a stream and two blocks, and a communicator for each misuse."""

    def __init__(self, programs, rank):
        self.driver = ctypes.CDLL(f"{programs}/libtoyfakecuda.so")
        self.nccl = ctypes.CDLL(f"{programs}/libtoyfakenccl.so")
        self.rank, self.comm, self.stream, self.other_stream = rank, *(ctypes.c_void_p() for _ in range(3))
        self.driver.cuInit(0)
        self.driver.cuStreamCreate(ctypes.byref(self.stream), 1)
        self.driver.cuStreamCreate(ctypes.byref(self.other_stream), 1)
        self.a, self.b = self.block(), self.block()

    def block(self):
        made = ctypes.c_uint64()
        self.driver.cuMemAllocAsync(ctypes.byref(made), ctypes.c_size_t(BYTES), self.stream)
        return made.value

    def connect(self, number):
        """Rank 0 leaves the identifier in a file."""
        path, own = pathlib.Path(os.environ["TMPDIR"], f"id{number}"), Id()
        if self.rank == 0:
            self.nccl.ncclGetUniqueId(ctypes.byref(own))
            path.with_suffix(".new").write_bytes(bytes(own))
            path.with_suffix(".new").rename(path)
        while not path.exists():
            time.sleep(0.001)
        id = Id.from_buffer_copy(path.read_bytes())
        self.nccl.ncclCommInitRank(ctypes.byref(self.comm), 2, id, self.rank)

    def wait(self):
        self.driver.cuStreamSynchronize(self.stream)

    def gather(self, count=4, start=None, to=None):
        pointers = (ctypes.c_uint64(start or self.a), ctypes.c_uint64(to or self.b))
        self.nccl.ncclAllGather(*pointers, ctypes.c_size_t(count), F32, self.comm, self.stream)

    def reduce(self, reduction=SUM, count=4):
        pointers = (ctypes.c_uint64(self.a), ctypes.c_uint64(self.b))
        self.nccl.ncclAllReduce(*pointers, ctypes.c_size_t(count), F32, reduction, self.comm, self.stream)

    def broadcast(self, root):
        pointers = (ctypes.c_uint64(self.a), ctypes.c_uint64(self.b))
        self.nccl.ncclBroadcast(*pointers, ctypes.c_size_t(4), F32, root, self.comm, self.stream)

    def pass_on(self, count):
        """From 0 to 1."""
        call = self.nccl.ncclRecv if self.rank else self.nccl.ncclSend
        call(ctypes.c_uint64(self.a), ctypes.c_size_t(count), F32, 1 - self.rank, self.comm, self.stream)

    def in_group(self, count):
        self.nccl.ncclGroupStart()
        self.pass_on(count)
        self.nccl.ncclGroupEnd()

    def read_elsewhere(self):
        target = ctypes.create_string_buffer(16)
        self.driver.cuMemcpyDtoHAsync_v2(target, ctypes.c_uint64(self.b), ctypes.c_size_t(16), self.other_stream)
        self.driver.cuStreamSynchronize(self.other_stream)

    def capture(self, isOn):
        graph = ctypes.c_void_p()
        if isOn:
            self.driver.cuStreamBeginCapture_v2(self.stream, 2)
        else:
            self.driver.cuStreamEndCapture(self.stream, ctypes.byref(graph))


MISUSES = {  # what a rank does, and what is found on rank 0, then on rank 1
    "counts": (
        lambda r: (r.gather(4 + r.rank), r.wait()),
        "all_gather of 4 of type 7, but rank 1 has all_gather of 5 of type 7",
        "all_gather of 5 of type 7, but rank 0 has all_gather of 4 of type 7",
    ),
    "kinds": (
        lambda r: (r.reduce() if r.rank else r.gather(), r.wait()),
        "but rank 1 has all_reduce",
        "has all_gather",
    ),
    "reductions": (
        lambda r: (r.reduce(MAX if r.rank else SUM), r.wait()),
        "type 7, 0, but rank 1",
        "type 7, 2, but rank 0",
    ),
    "roots": (lambda r: (r.broadcast(r.rank), r.wait()), "broadcast of 4 of type 7, 0, but", "of type 7, 1, but"),
    "pairs": (
        lambda r: (r.in_group(6 + r.rank), r.wait()),
        "",
        "rank 0 has send of 6 of type 7, 1, which is not received",
    ),
    "not sent": (
        lambda r: (r.in_group(5) if r.rank else r.reduce(), r.wait()),
        "but rank 1 has recv of 5 of type 7",
        "recv of 5 of type 7, 0, which is not sent",
    ),
    "not received": (
        lambda r: (r.reduce() if r.rank else r.in_group(4), r.wait()),
        "",
        "rank 0 has send of 4 of type 7, 1, which is not received",
    ),
    "no group": (lambda r: (r.pass_on(4), r.wait()), "ncclSend outside of a group", "ncclRecv outside of a group"),
    "no start": (lambda r: r.nccl.ncclGroupEnd(), "a group ends that has not begun", "a group ends that has not begun"),
    "overlap": (lambda r: (r.gather(to=r.a + 8), r.wait()), "overlaps its result", "overlaps its result"),
    "capture": (
        lambda r: (r.capture(True), r.gather(), r.capture(False), r.wait()),
        "ncclAllGather while a stream is captured",
        "ncclAllGather while a stream is captured",
    ),
    "race": (
        lambda r: (r.gather(), r.wait(), r.read_elsewhere()),
        "race: a copy to the host and an earlier writer",
        "race: a copy to the host and an earlier writer",
    ),
    "too soon": (
        lambda r: r.gather(),
        "a communicator is destroyed before its work is done",
        "a communicator is destroyed before its work is done",
    ),
    "beyond": (
        lambda r: (r.reduce(count=BYTES), r.wait()),
        "a group of NCCL outside of an allocation",
        "a group of NCCL outside of an allocation",
    ),
}


def run(programs, number):
    rank = Rank(programs, number)
    rank.connect(len(MISUSES))  # and is left
    for i, (calls, *_) in enumerate(MISUSES.values()):
        rank.connect(i)
        calls(rank)
        rank.nccl.ncclCommDestroy(rank.comm)


if __name__ == "__main__":
    run(sys.argv[1], int(sys.argv[2]))
