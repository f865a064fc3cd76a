"""The compiled extension as a file."""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from syntagma import _engine

DYNAMIC = 2
"""type of the program header that tells where the dynamic section is"""
FLAGS = 30
"""tag of the flags in the dynamic section"""
STATIC_TLS = 0x10
"""flag: thread-local storage has to be there when the process begins"""


def dynamic_entries(file: bytes) -> Iterator[tuple[int, int]]:
    """Tag and value of each entry in the dynamic section of a 64-bit ELF file of this machine."""
    (headers,) = struct.unpack_from("=Q", file, 32)
    size, count = struct.unpack_from("=HH", file, 54)
    for number in range(count):
        kind, _, offset, _, _, length = struct.unpack_from("=IIQQQQ", file, headers + number * size)
        if kind == DYNAMIC:
            yield from struct.iter_unpack("=qQ", file[offset : offset + length])


@pytest.mark.skipif(sys.platform != "linux", reason="reads ELF files")
def test_thread_local_storage_is_found_when_it_is_needed() -> None:
    # With static storage, a process that has used up its share (any, on musl) cannot load the extension any more.
    file = Path(str(_engine.__file__)).read_bytes()
    assert file[:5] == b"\x7fELF\x02", "a 64-bit ELF file"
    entries = list(dynamic_entries(file))
    assert entries
    assert not any(tag == FLAGS and value & STATIC_TLS for tag, value in entries)
