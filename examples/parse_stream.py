"""Read a streamed answer, cut anywhere, into events and a message."""

from __future__ import annotations

import syntagma as sg

CHUNKS = [
    "<thi",
    'nk>Two cities.</think>Looking.<tool_call>\n{"name": "weather",',
    ' "arguments": {"city": "O',
    'slo"}}\n</tool_call>',
]

fmt = sg.formats.get("qwen25", reasoning="qwen3")
parser = fmt.parser()
for chunk in CHUNKS:
    for event in parser.feed(chunk):
        print(event)
for event in parser.finish():
    print(event)
print(parser.message.to_openai())
