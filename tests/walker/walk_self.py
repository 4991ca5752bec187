# SPDX-License-Identifier: Apache-2.0
"""Has a copy of this very process walked and returns the Heap."""
import ctypes
import os
import socket

import dump_stream

HEAP, SHOW = 1, 2
CONTENTS = 1


def walk(library, kind=HEAP, flags=0, memory_limit=0, text=b""):
    lib = ctypes.PyDLL(library)  # keeps the lock while it copies
    lib.lowtide_walk_debug.argtypes = [ctypes.c_int, ctypes.c_uint32, ctypes.c_uint32,
                                       ctypes.c_uint64, ctypes.c_char_p, ctypes.c_uint32]
    ours, theirs = socket.socketpair()
    pid = lib.lowtide_walk_debug(theirs.fileno(), kind, flags, memory_limit, text, len(text))
    theirs.close()
    assert pid > 0, pid
    parts = []
    while True:
        part = ours.recv(1 << 20)
        if not part:
            break
        parts.append(part)
    ours.close()
    _, status = os.waitpid(pid, 0)
    data = b"".join(parts)
    if os.environ.get("LOWTIDE_KEEP_STREAM"):
        with open(os.environ["LOWTIDE_KEEP_STREAM"], "wb") as file:
            file.write(data)
    assert status == 0, (status, len(data))
    return dump_stream.Heap(data)
