"""Objects that are read in one step are objects of JSON, on every version of Python."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from syntagma import formats

_PIECES = st.sampled_from(['"a"', ":", "1", ",", " ", "{", "}", '"x', "[", "]", "-2.5", "true", "\n"])


@given(pieces=st.lists(_PIECES, min_size=1, max_size=14))
def test_a_call_is_whole_without_repairs_only_where_its_arguments_are_json(pieces: list[str]) -> None:
    text = "{" + "".join(pieces)
    message = formats.get("mistral").parse(f'[TOOL_CALLS][{{"name": "f", "arguments": {text}}}]')
    for call in message.tool_calls:
        if call.complete and not message.diagnostics:
            json.loads(call.arguments)


def test_a_comma_before_the_end_is_a_slip() -> None:
    message = formats.get("qwen25").parse('<tool_call>\n{"name": "f", "arguments": {"a": "a", }}\n</tool_call>')
    assert [found.code for found in message.diagnostics] == ["E-PARSE-REPAIRED"]
    assert json.loads(message.tool_calls[0].arguments) == {"a": "a"}
