from __future__ import annotations

import inspect
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma.compat import harmony
from syntagma.compat.harmony import (
    NOT_OFFERED,
    Author,
    ChannelConfig,
    Conversation,
    DeveloperContent,
    HarmonyError,
    Message,
    ReasoningEffort,
    RenderConversationConfig,
    RenderOptions,
    Role,
    StreamableParser,
    StreamState,
    SystemContent,
    TextContent,
    ToolDescription,
    ToolNamespaceConfig,
    load_harmony_encoding,
)
from syntagma.errors import ArgumentError

NAMES: dict[str, dict[str, Any]] = tomllib.loads((Path(__file__).parent / "harmony_names.toml").read_text())
MEMBERS = [(kind, name, given) for kind, members in NAMES.items() for name, given in members.items()]
SPECIAL = {
    f"<|{name}|>": 300 + number
    for number, name in enumerate(("return", "constrain", "channel", "start", "end", "message", "call", "endoftext"))
}
ENCODING = load_harmony_encoding(
    encode_text=lambda text: list(text.encode()), decode_bytes=lambda number: bytes([number]), special=SPECIAL
)
WITH_PROPERTIES = {"HarmonyEncoding": ENCODING, "StreamableParser": StreamableParser(ENCODING, Role.ASSISTANT)}
TIDE = ToolDescription.new("tide", "How high the water is.", {"type": "object", "properties": {}})
CONVERSATION = Conversation.from_messages(
    [
        Message.from_role_and_content(Role.USER, "Tide? <|end|>"),
        Message.from_role_and_content(Role.ASSISTANT, "Ask.").with_channel("analysis"),
        Message.from_role_and_content(Role.ASSISTANT, "{}")
        .with_channel("commentary")
        .with_recipient("functions.tide")
        .with_content_type("<|constrain|>json"),
    ]
)


def ids_of(text: str) -> list[int]:
    return ENCODING.encode(text, allowed_special="all")


def text_of(ids: list[int]) -> str:
    return ENCODING.decode(ids)


@pytest.mark.parametrize(("kind", "name", "given"), MEMBERS, ids=[f"{kind}.{name}" for kind, name, _ in MEMBERS])
def test_every_name_is_there_and_takes_the_same(kind: str, name: str, given: Any) -> None:
    owner = getattr(harmony, kind)
    if given == "property":
        assert not callable(getattr(WITH_PROPERTIES[kind], name))
        return
    function = owner.__init__ if name == "init" else getattr(owner, name)
    parameters = [one for one in inspect.signature(function).parameters if one != "self"]
    assert parameters[: len(given)] == given


@pytest.mark.parametrize("name", NOT_OFFERED)
def test_what_is_not_offered_says_so(name: str) -> None:
    owner, _, method = name.partition(".")
    function = getattr(getattr(harmony, owner), method) if method else getattr(harmony, owner)
    needs = [one for one in inspect.signature(function).parameters.values() if one.default is one.empty]
    with pytest.raises(NotImplementedError, match=owner):
        function(*[SystemContent.new() for _ in needs])


def test_conversations_are_built_and_rendered() -> None:
    system = (
        SystemContent.new()
        .with_model_identity("You are a harbour pilot.")
        .with_reasoning_effort(ReasoningEffort.LOW)
        .with_conversation_start_date("2025-01-02")
        .with_knowledge_cutoff("2024-01")
        .with_required_channels(["analysis", "final"])
    )
    developer = DeveloperContent.new().with_instructions("Be brief.").with_function_tools([TIDE])
    conversation = Conversation(
        messages=[
            Message.from_role_and_content(Role.SYSTEM, system),
            Message.from_role_and_content(Role.DEVELOPER, developer),
            Message.from_author_and_content(Author.new(Role.TOOL, "functions.tide"), "1.4 m").with_channel(
                "commentary"
            ),
        ]
    )
    assert text_of(ENCODING.render_conversation(conversation)) == (
        "<|start|>system<|message|>You are a harbour pilot.\nKnowledge cutoff: 2024-01\nCurrent date: 2025-01-02\n\n"
        "Reasoning: low\n\n# Valid channels: analysis, final. Channel must be included for every message.\n"
        "Calls to these tools must go to the commentary channel: 'functions'.<|end|>"
        "<|start|>developer<|message|># Instructions\n\nBe brief.\n\n# Tools\n\n## functions\n\n"
        "namespace functions {\n\n// How high the water is.\ntype tide = (_: {\n}) => any;\n\n"
        "} // namespace functions<|end|>"
        "<|start|>functions.tide<|channel|>commentary<|message|>1.4 m<|end|>"
    )
    again = Conversation.from_json(conversation.to_json())
    assert again == conversation
    assert list(again) == again.messages
    alone = ENCODING.render(conversation.messages[0], RenderOptions(conversation_has_function_tools=True))
    assert text_of(alone).endswith("'functions'.<|end|>")
    assert "functions" not in text_of(ENCODING.render(conversation.messages[0]))


def test_reasoning_is_left_out_once_it_is_over() -> None:
    conversation = Conversation.from_messages(
        [
            Message.from_role_and_content(Role.USER, "Tide?"),
            Message.from_role_and_content(Role.ASSISTANT, "Hm.").with_channel("analysis"),
            Message.from_role_and_content(Role.ASSISTANT, "Low.").with_channel("final"),
        ]
    )
    user, final = "<|start|>user<|message|>Tide?<|end|>", "<|start|>assistant<|channel|>final<|message|>Low."
    assert text_of(ENCODING.render_conversation(conversation)) == f"{user}{final}<|end|>"
    assert text_of(ENCODING.render_conversation_for_training(conversation)) == f"{user}{final}<|return|>"
    kept = ENCODING.render_conversation(conversation, RenderConversationConfig(auto_drop_analysis=False))
    assert "Hm." in text_of(kept)
    assert kept == ENCODING.render_conversation(conversation, {"auto_drop_analysis": False})
    completion = ENCODING.render_conversation_for_completion(conversation, Role.ASSISTANT)
    assert text_of(completion).endswith("<|end|><|start|>assistant")


def test_what_is_rendered_parses_back() -> None:
    ids = ENCODING.render_conversation(CONVERSATION)
    messages = ENCODING.parse_messages_from_completion_tokens(ids)
    assert messages == CONVERSATION.messages
    assert ids == ENCODING.render_conversation(CONVERSATION.to_dict())
    completion = ENCODING.render_conversation_for_completion(CONVERSATION, Role.ASSISTANT)
    assert ENCODING.decode(completion[len(ids) :]) == "<|start|>assistant"
    assert set(ENCODING.stop_tokens_for_assistant_actions()) < set(ENCODING.stop_tokens())


def test_messages_as_data() -> None:
    message = Message.from_role_and_contents(Role.USER, [TextContent(text="a")]).adding_content("b")
    assert [part.to_dict()["text"] for part in message.content] == ["a", "b"]
    message.with_author(Author(role=Role.TOOL, name="functions.f"))
    assert Message.from_dict(message.to_dict()) == message
    assert message.to_dict()["name"] == "functions.f"
    assert Message.from_dict({"role": "user", "content": "a"}).content == [TextContent(text="a")]
    space = ToolNamespaceConfig(name="harbour", tools=[TIDE])
    content = SystemContent(channel_config=ChannelConfig(["final"], False), tools={"harbour": space})
    assert SystemContent.from_dict(content.to_dict()) == content
    assert content.model_dump()["tools"]["harbour"]["tools"][0]["name"] == "tide"
    with pytest.raises(ValueError, match="nobody"):
        Author(role="nobody")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="picture"):
        Message.from_dict({"role": "user", "content": [{"type": "picture"}]})


def test_text_that_spells_a_token_is_refused_or_text() -> None:
    with pytest.raises(HarmonyError, match="end"):
        ENCODING.encode("a <|end|>")
    assert ENCODING.encode("<|end|>", disallowed_special=()) == list(b"<|end|>")
    assert ENCODING.encode("a<|end|>b", allowed_special={"<|end|>"}) == [97, SPECIAL["<|end|>"], 98]
    assert ENCODING.is_special_token(SPECIAL["<|endoftext|>"])
    assert not ENCODING.is_special_token(97)
    assert ENCODING.special_tokens_set == set(SPECIAL)
    assert ENCODING.decode([0xC3], "replace") == "�"
    assert ENCODING.decode_utf8([0xC3, 0xA9]) == "é"
    with pytest.raises(HarmonyError):
        ENCODING.decode_utf8([0xC3])


def test_streaming_token_by_token() -> None:
    parser = StreamableParser(ENCODING, Role.ASSISTANT)
    assert (parser.state, parser.current_role) == (StreamState.HEADER, Role.ASSISTANT)
    text = ["<|channel|>", *"final", "<|message|>", *"A", b"\xc3", b"\xa9", "<|return|>"]
    deltas = []
    states = []
    for piece in text:
        token = piece[0] if isinstance(piece, bytes) else SPECIAL.get(piece, ord(piece[0]))
        assert parser.process(token) is parser
        deltas.append(parser.last_content_delta)
        states.append(parser.state)
        if deltas[-1]:
            assert (parser.current_role, parser.current_channel) == ("assistant", "final")
    assert deltas[-4:] == ["A", None, "é", None]
    assert states[0] == StreamState.HEADER
    assert states[-2] == StreamState.CONTENT
    assert states[-1] == StreamState.EXPECT_START
    assert parser.messages[0].content == [TextContent(text="Aé")]
    assert parser.current_content == ""
    assert len(parser.tokens) == len(text)


def test_where_a_parser_is() -> None:
    parser = StreamableParser(ENCODING, None)
    assert parser.state_data == {"state": "ExpectStart"}
    for token in ids_of("<|start|>assistant to=functions.f<|channel|>commentary<|constrain|>json<|message|>{"):
        parser.process(token)
    assert parser.state_data == {
        "state": "Content",
        "header": {
            "author": {"role": "assistant"},
            "recipient": "functions.f",
            "channel": "commentary",
            "content_type": "<|constrain|>json",
        },
        "content_tokens": [ord("{")],
    }
    assert (parser.current_recipient, parser.current_content_type) == ("functions.f", "<|constrain|>json")
    assert parser.current_content == "{"
    assert parser.process_eos().messages[0].recipient == "functions.f"


PIECES = st.sampled_from(
    [*SPECIAL, "<|start|>assistant", "<|channel|>final<|message|>", "<|channel|>analysis<|message|>", "é", "😀", "a b"]
)


@settings(deadline=None, max_examples=150)
@given(st.lists(st.one_of(PIECES, st.integers(0, 255).map(lambda byte: bytes([byte]))), max_size=14))
def test_deltas_add_up_to_the_content(pieces: list[str | bytes]) -> None:
    ids = [token for piece in pieces for token in (list(piece) if isinstance(piece, bytes) else ids_of(piece))]
    parser = StreamableParser(ENCODING, Role.ASSISTANT)
    content, finished = "", 0
    for token in ids:
        parser.process(token)
        if len(parser.messages) > finished:
            finished, content = len(parser.messages), ""
        if parser.state == StreamState.CONTENT:
            content += parser.last_content_delta or ""
            assert parser.current_content == content
    whole = StreamableParser(ENCODING, Role.ASSISTANT)
    for token in ids:
        whole.process(token)
    assert whole.process_eos().messages == parser.process_eos().messages
    assert whole.messages == ENCODING.parse_messages_from_completion_tokens(ids, Role.ASSISTANT)


def test_malformed_completions() -> None:
    ids = ids_of("<|channel|>finalx<|message|>a<|return|>")
    assert ENCODING.parse_messages_from_completion_tokens(ids, "assistant")[0].channel == "analysis"
    with pytest.raises(HarmonyError):
        ENCODING.parse_messages_from_completion_tokens(ids, "assistant", strict=True)
    unopened = ids_of("<|channel|>analysis<|message|>a<|end|>assistant<|channel|>final<|message|>b<|return|>")
    assert len(ENCODING.parse_messages_from_completion_tokens(unopened, "assistant")) == 2
    with pytest.raises(HarmonyError, match="the header of a message is malformed"):
        ENCODING.parse_messages_from_completion_tokens(unopened, "assistant", strict=True)
    sound = ids_of("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>")
    assert len(ENCODING.parse_messages_from_completion_tokens(sound, "assistant", strict=True)) == 2
    with pytest.raises(HarmonyError, match="name"):
        ENCODING.render(Message.from_role_and_content(Role.TOOL, "x"))
    with pytest.raises(ArgumentError, match="E-HARMONY-TOKENS"):
        load_harmony_encoding(encode_text=lambda _: [], decode_bytes=lambda _: b"", special={})
    with pytest.raises(ValueError, match="nothing"):
        load_harmony_encoding("nothing")
