"""The memory of a parser while a message streams in, in small pieces and without the raw text."""

from __future__ import annotations

import gc
import json
import tracemalloc

import pytest

from syntagma import formats
from syntagma.messages import Message, ToolCall
from tests.formats.cases import TOOLS

CALLING = [name for name in formats.names() if formats.get(name).spec.tools is not None]
PIECE = 4
WARM = 2000


@pytest.mark.every_format
@pytest.mark.parametrize("name", CALLING)
def test_the_parser_takes_little_more_memory_than_the_message(name: str) -> None:
    fmt = formats.get(name)
    arguments = json.dumps({"text": "Some text of it, and 1 < 2. " * 1000})
    raw = fmt.write(Message(tool_calls=(ToolCall(id="", name="save_note", arguments=arguments),)), TOOLS)
    parser = fmt.parser(TOOLS, id_seed="", reasoning="off", keep_raw=False)
    for at in range(0, WARM, PIECE):
        parser.feed(raw[at : at + PIECE])
    tracemalloc.start()
    try:
        for at in range(WARM, len(raw), PIECE):
            parser.feed(raw[at : at + PIECE])
        gc.collect()
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used < 2 * len(raw)
    assert json.loads(parser.message.tool_calls[0].arguments) == json.loads(arguments)
