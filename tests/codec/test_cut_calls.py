"""Calls that were cut off: in a prompt, their arguments are an object that says what was written, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntagma.codec import ChatCodec
from syntagma.errors import ArgumentError
from syntagma.formats import ChatFormat
from syntagma.messages import Message, ToolCall
from syntagma.templates import ChatTemplate

SOURCE = (
    "{% for m in messages %}{% for c in m.tool_calls or [] %}<{{ c.function.arguments | tojson }}>{% endfor %}"
    "{{ m.content or '' }}{% endfor %}"
)
CODEC = ChatCodec.from_format(
    ChatFormat.from_toml('[tools]\ncall = "<c>{name}{arguments}</c>"\n'), ChatTemplate(SOURCE)
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def _history(arguments: str) -> list[dict[str, Any]]:
    call = {"id": "1", "type": "function", "function": {"name": "add", "arguments": arguments}}
    return [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "user", "content": "Go on."},
    ]


def _shown(arguments: str) -> Any:
    prompt = str(CODEC.render(_history(arguments)))
    return json.loads(prompt.removeprefix("Go.<").removesuffix(">Go on."))


@given(st.dictionaries(st.text(), VALUES, max_size=4), st.booleans(), st.data())
def test_every_beginning_of_an_object_becomes_one(value: dict[str, Any], plain: bool, data: st.DataObject) -> None:
    text = json.dumps(value, ensure_ascii=plain)
    cut = text[: data.draw(st.integers(0, len(text)))]
    shown = _shown(cut)
    assert isinstance(shown, dict)
    json.dumps(shown, ensure_ascii=False).encode()
    whole = [
        key
        for key in value
        if f"{json.dumps(key, ensure_ascii=plain)}: {json.dumps(value[key], ensure_ascii=plain)}," in cut
    ]
    assert {key: shown[key] for key in whole} == {key: value[key] for key in whole}
    # Nothing is invented: every key was written, with the beginning of a value.
    assert all(key in value and f"{json.dumps(key, ensure_ascii=plain)}: " in cut for key in shown)


@pytest.mark.parametrize(
    ("cut", "shown"),
    [
        ("", {}),
        ("{", {}),
        ('{"city": "Por', {"city": "Por"}),
        ('{"city": "Porto"', {"city": "Porto"}),
        ('{"city": "Porto",', {"city": "Porto"}),
        ('{"ci', {}),
        ('{"city":', {}),
        ('{"city": "Porto", "city', {"city": "Porto"}),
        ('{"a": [{"b": 1, "c"', {"a": [{"b": 1}]}),
        ('{"a": {"b": {"c": ', {"a": {"b": {}}}),
        ('{"a": [1, ', {"a": [1]}),
        ('{"n": -', {"n": 0}),
        ('{"n": 1e', {"n": 1.0}),
        ('{"on": tr', {"on": True}),
        ('{"all": [1, [2', {"all": [1, [2]]}),
        ('{"text": "a\\', {"text": "a\\"}),
        ('{"text": "\\u00', {"text": "\x00"}),
        ('{"text": "\\ud83d', {"text": "\U0001f400"}),
        ('{"text": "\\ud83d\\ude', {"text": "\U0001f600"}),
    ],
)
def test_what_is_said_stays(cut: str, shown: dict[str, Any]) -> None:
    assert _shown(cut) == shown


@pytest.mark.parametrize(
    "arguments", ["[1]", "null", "x", '"a"', '{"a": 1} x', '{"a" 1', '{"a": tx', "{a", '{"a": 1}}']
)
def test_what_no_object_begins_with_is_refused(arguments: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        CODEC.render(_history(arguments))
    assert (caught.value.code, caught.value.pointer) == (
        "E-MESSAGE-ARGUMENTS",
        "/messages/1/tool_calls/0/function/arguments",
    )


def test_a_message_of_ours_that_was_cut() -> None:
    cut = Message(tool_calls=(ToolCall(id="1", name="add", arguments='{"a": 1', complete=False),))
    for render in (CODEC.render, CODEC.prepare):
        made: Any = render([cut])
        assert str(getattr(made, "prompt", made)) == '<{"a": 1}>'
        with pytest.raises(ArgumentError) as caught:
            render([cut], history="strict")
        assert (caught.value.code, caught.value.pointer) == ("E-MESSAGE-INCOMPLETE", "/messages/0/tool_calls/0")
    with pytest.raises(ArgumentError, match="not one JSON object"):
        CODEC.render(_history('{"a": 1'), history="strict")
    with pytest.raises(ArgumentError, match="history is"):
        CODEC.render(_history("{}"), history="lax")  # type: ignore[arg-type]
