"""One request from chat template to typed message, on the model that ships with the package."""

from __future__ import annotations

import syntagma as sg

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

model = sg.load("embedded")
turn = model.codec.prepare(
    [{"role": "user", "content": "Set a reminder with name Emma and hour 9."}], tools=TOOLS, tool_choice="required"
)
print(turn.prompt)
generation = model.generator.start(turn.prompt, grammar=turn.grammar)
parser = turn.parser()
for _, events in generation.read(parser):
    for event in events:
        print(event)
print(parser.message.tool_calls[0].parsed_arguments())
print(generation.metrics)
model.close()
