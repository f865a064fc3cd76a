from __future__ import annotations

import pytest

from syntagma.compat.harmony import HarmonyError, Role, StreamableParser, StreamState, load_harmony_encoding
from syntagma.errors import ArgumentError

SPECIAL = {
    f"<|{name}|>": 300 + number
    for number, name in enumerate(("return", "constrain", "channel", "start", "end", "message", "call"))
}
ENCODING = load_harmony_encoding(
    encode_text=lambda text: list(text.encode()), decode_bytes=lambda number: bytes([number]), special=SPECIAL
)
CONVERSATION = {
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Tide? <|end|>"}]},
        {"role": "assistant", "channel": "analysis", "content": "Ask."},
        {
            "role": "assistant",
            "channel": "commentary",
            "recipient": "functions.tide",
            "content_type": "<|constrain|>json",
            "content": "{}",
        },
    ]
}


def test_what_is_rendered_parses_back() -> None:
    ids = ENCODING.render_conversation(CONVERSATION)
    messages = ENCODING.parse_messages_from_completion_tokens(ids)
    assert [message["content"][0]["text"] for message in messages] == ["Tide? <|end|>", "Ask.", "{}"]
    assert messages[2]["recipient"] == "functions.tide"
    assert messages[2]["content_type"] == "<|constrain|>json"
    completion = ENCODING.render_conversation_for_completion(CONVERSATION, Role.ASSISTANT)
    assert ENCODING.decode(completion[len(ids) :]) == "<|start|>assistant"
    assert set(ENCODING.stop_tokens_for_assistant_actions()) < set(ENCODING.stop_tokens())


def test_streaming_token_by_token() -> None:
    parser = StreamableParser(ENCODING, Role.ASSISTANT)
    text = ["<|channel|>", *"final", "<|message|>", *"A", b"\xc3", b"\xa9", "<|return|>"]
    deltas = []
    states = []
    for piece in text:
        token = piece[0] if isinstance(piece, bytes) else SPECIAL.get(piece, ord(piece[0]))
        parser.process(token)
        deltas.append(parser.last_content_delta)
        states.append(parser.state)
        if deltas[-1]:
            assert (parser.current_role, parser.current_channel) == ("assistant", "final")
    assert deltas[-4:] == ["A", None, "é", None]
    assert states[0] == StreamState.HEADER
    assert states[-2] == StreamState.CONTENT
    assert states[-1] == StreamState.EXPECT_START
    assert parser.messages[0]["content"][0]["text"] == "Aé"
    assert parser.current_content == ""


def test_malformed_completions() -> None:
    ids = [SPECIAL["<|channel|>"], *b"finalx", SPECIAL["<|message|>"], *b"a", SPECIAL["<|return|>"]]
    assert ENCODING.parse_messages_from_completion_tokens(ids, "assistant")[0]["channel"] == "analysis"
    with pytest.raises(HarmonyError):
        ENCODING.parse_messages_from_completion_tokens(ids, "assistant", strict=True)
    with pytest.raises(ArgumentError, match="E-HARMONY-TOKENS"):
        load_harmony_encoding(encode_text=lambda _: [], decode_bytes=lambda _: b"", special={})
