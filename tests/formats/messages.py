"""Random messages: text, reasoning and calls of the declared tools with any arguments."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from syntagma.messages import Message, ToolCall
from tests.formats.cases import TOOLS

# Letters of markers are frequent, whole markers are not: those are what writing refuses.
WORDS = st.text(alphabet=st.sampled_from('ab é\n<>[]{}"\\/|,:_0ツ'), max_size=20)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
CALLS = st.builds(
    lambda name, arguments, ascii_only: ToolCall(
        id="", name=name, arguments=json.dumps(arguments, ensure_ascii=ascii_only, separators=(",", ":"))
    ),
    st.sampled_from([tool["function"]["name"] for tool in TOOLS]),
    st.dictionaries(WORDS, JSON, max_size=3),
    st.booleans(),
)
MESSAGES = st.builds(
    lambda content, reasoning, calls: Message(
        content=content or None, reasoning_content=reasoning or None, tool_calls=tuple(calls)
    ),
    WORDS,
    WORDS,
    st.lists(CALLS, max_size=3),
)
