"""One request from chat template to typed message, on the model that ships with the package."""

from __future__ import annotations

import syntagma as sg
from syntagma import embedded
from syntagma.generation import Generator

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "set_reminder",
            "parameters": {
                "type": "object",
                "properties": {"name": {"type": "string", "maxLength": 16}, "hour": {"type": "integer"}},
                "required": ["name", "hour"],
                "additionalProperties": False,
            },
        },
    }
]

model = embedded.load()
codec = sg.ChatCodec.from_pretrained(model.path)
turn = codec.prepare(
    [{"role": "user", "content": "Set a reminder with name Emma and hour 9."}], tools=TOOLS, tool_choice="required"
)
generator = Generator(model)
generation = generator.start(turn.prompt, grammar=turn.grammar)
parser = turn.parser()
for _, events in generation.read(parser):
    for event in events:
        print(event)
print(parser.message.tool_calls[0].parsed_arguments())
print(generation.metrics)
generator.close()
