"""A format is compiled once, for as long as it lives."""

from __future__ import annotations

import gc
import weakref

import pytest

import syntagma as sg
from syntagma.format_schema import read_toml
from syntagma.parsing.compiled_format import compiled_format

TEXT = '[tools]\ncall = "<leaf>{envelope}</leaf>"\nenvelope = \'{"name": "{name}", "arguments": {arguments}}\'\n'


def test_a_format_is_compiled_once() -> None:
    spec = read_toml(TEXT)
    assert compiled_format(spec) is compiled_format(spec)
    assert compiled_format(spec) is not compiled_format(spec, calls=False)
    assert compiled_format(spec) is not compiled_format(read_toml(TEXT))


def test_what_is_compiled_goes_with_its_format() -> None:
    spec = read_toml(TEXT)
    parser = sg.StreamParser(spec)
    gone = weakref.ref(spec)
    del spec
    gc.collect()
    assert gone() is None
    # A parser that was made of it still reads.
    parser.feed('<leaf>{"name": "f", "arguments": {}}</leaf>')
    parser.finish()
    assert [call.name for call in parser.message.tool_calls] == ["f"]


def test_a_format_that_cannot_be_read_is_refused_every_time() -> None:
    spec = read_toml('[tools]\ncall = "<leaf>{arguments}</leaf>"\n')
    for calls in (True, False, True):
        with pytest.raises(sg.FormatError) as caught:
            compiled_format(spec, calls=calls)
        assert caught.value.code == "E-FORMAT-UNSUPPORTED"
