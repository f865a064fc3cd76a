"""Beside openai-harmony itself, where it is installed with its vocabulary."""

from __future__ import annotations

import inspect
import tomllib
from pathlib import Path
from typing import Any

import pytest

from syntagma.compat import harmony as ours

NAMES: dict[str, dict[str, Any]] = tomllib.loads((Path(__file__).parent / "harmony_names.toml").read_text())
# Pydantic's and Python's members are not that library's names.
FOREIGN = ("model_", "_", "parse_", "validate", "construct", "copy", "dict", "json", "schema", "update_forward_refs")
COMPLETIONS = [
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>It is é 😀.<|return|>",
    '<|channel|>commentary to=functions.tide <|constrain|>json<|message|>{"port": "Bergen"}<|call|>',
    "<|start|>assistant to=functions.tide<|channel|>commentary<|message|>{}<|call|>",
    "<|channel|>analysis to=browser.search code<|message|>{}<|call|>",
    "<|channel|>final<|message|>cut in the mid",
]


@pytest.fixture(scope="module")
def peer() -> Any:
    return pytest.importorskip("openai_harmony", reason="openai-harmony is not installed")


@pytest.fixture(scope="module")
def theirs(peer: Any) -> Any:
    try:
        return peer.load_harmony_encoding("HarmonyGptOss")
    except Exception as error:
        pytest.skip(f"openai-harmony has no vocabulary: {error}")


@pytest.fixture(scope="module")
def mine(theirs: Any) -> ours.HarmonyEncoding:
    special = {text: theirs.encode(text, allowed_special="all")[0] for text in theirs.special_tokens_set}
    return ours.load_harmony_encoding(
        encode_text=lambda text: theirs.encode(text, disallowed_special=()),
        decode_bytes=lambda token: theirs.decode([token], "surrogateescape").encode("utf-8", "surrogateescape"),
        special=special,
    )


def test_the_list_of_names_is_whole(peer: Any) -> None:
    assert set(peer.__all__) <= set(ours.__all__)
    for kind, members in NAMES.items():
        owner = getattr(peer, kind)
        shown = {name for name in vars(owner) if not name.startswith(FOREIGN) or name in members}
        assert shown - set(members) <= {"role", "name", "tools"}, kind
        for name, given in members.items():
            if given == "property" or name == "init":
                continue
            parameters = [one for one in inspect.signature(getattr(owner, name)).parameters if one != "self"]
            assert parameters == given, f"{kind}.{name}"


def build(module: Any) -> Any:
    """The same conversation with the names of either library."""
    role, message = module.Role, module.Message
    schema = {
        "type": "object",
        "properties": {
            "port": {"type": "string", "description": "Where."},
            "unit": {"type": "string", "enum": ["m", "ft"], "default": "m"},
            "days": {"type": "array", "items": {"type": "integer"}},
        },
        "required": ["port"],
    }
    tools = [
        module.ToolDescription.new("tide", "How high the water is.", schema),
        module.ToolDescription.new("bell", "Rings."),
    ]
    system = (
        module.SystemContent.new()
        .with_reasoning_effort(module.ReasoningEffort.HIGH)
        .with_conversation_start_date("2025-06-28")
        .with_tools(module.ToolNamespaceConfig(name="harbour", description="Of the harbour.", tools=tools[1:]))
    )
    developer = module.DeveloperContent.new().with_instructions("Be brief.").with_function_tools(tools)
    return module.Conversation.from_messages(
        [
            message.from_role_and_content(role.SYSTEM, system),
            message.from_role_and_content(role.DEVELOPER, developer),
            message.from_role_and_content(role.USER, "Tide in Bergen? <|end|>"),
            message.from_role_and_content(role.ASSISTANT, "Ask the tool.").with_channel("analysis"),
            message.from_role_and_content(role.ASSISTANT, '{"port": "Bergen"}')
            .with_channel("commentary")
            .with_recipient("functions.tide")
            .with_content_type("<|constrain|>json"),
            message.from_author_and_content(module.Author.new(role.TOOL, "functions.tide"), "1.4 m")
            .with_channel("commentary")
            .with_recipient("assistant"),
            message.from_role_and_content(role.ASSISTANT, "1.4 m.").with_channel("final"),
        ]
    )


def test_conversations_render_alike(peer: Any, theirs: Any, mine: ours.HarmonyEncoding) -> None:
    first, second = build(peer), build(ours)
    assert first.to_dict() == second.to_dict()
    assert first.to_json() == second.to_json()
    assert theirs.render_conversation(first) == mine.render_conversation(second)
    assert theirs.render_conversation_for_training(first) == mine.render_conversation_for_training(second)
    assert theirs.render_conversation_for_completion(
        first, peer.Role.ASSISTANT
    ) == mine.render_conversation_for_completion(second, ours.Role.ASSISTANT)
    keep = theirs.render_conversation(first, peer.RenderConversationConfig(auto_drop_analysis=False))
    assert keep == mine.render_conversation(second, ours.RenderConversationConfig(auto_drop_analysis=False))
    for one, two in zip(first.messages, second.messages, strict=True):
        assert theirs.render(one) == mine.render(two)
        options = {"conversation_has_function_tools": True}
        assert theirs.render(one, peer.RenderOptions(**options)) == mine.render(two, ours.RenderOptions(**options))
    assert sorted(theirs.stop_tokens()) == mine.stop_tokens()
    assert sorted(theirs.stop_tokens_for_assistant_actions()) == mine.stop_tokens_for_assistant_actions()


@pytest.mark.parametrize("text", COMPLETIONS)
def test_completions_stream_alike(peer: Any, theirs: Any, mine: ours.HarmonyEncoding, text: str) -> None:
    role = None if text.startswith("<|start|>") else "assistant"
    first = peer.StreamableParser(theirs, role and peer.Role(role))
    second = ours.StreamableParser(mine, role)
    for token in theirs.encode(text, allowed_special="all"):
        first.process(token)
        second.process(token)
        assert _state(first) == _state(second)
        assert first.state_data == second.state_data
    first.process_eos()
    second.process_eos()
    assert [message.to_dict() for message in first.messages] == [message.to_dict() for message in second.messages]
    assert first.tokens == second.tokens


def _state(parser: Any) -> tuple[Any, ...]:
    return (
        parser.state.value,
        parser.current_role,
        parser.current_channel,
        parser.current_recipient,
        parser.current_content_type,
        parser.current_content,
        parser.last_content_delta,
    )


def test_text_encodes_alike(peer: Any, theirs: Any, mine: ours.HarmonyEncoding) -> None:
    for text in ("plain", "é <|end|>", "<|start|>a<|endoftext|>"):
        assert theirs.encode(text, allowed_special="all") == mine.encode(text, allowed_special="all")
        assert theirs.encode(text, disallowed_special=()) == mine.encode(text, disallowed_special=())
        ids = theirs.encode(text, allowed_special="all")
        assert theirs.decode(ids) == mine.decode(ids) == theirs.decode_utf8(ids) == mine.decode_utf8(ids)
    for encoding, error in ((theirs, peer.HarmonyError), (mine, ours.HarmonyError)):
        with pytest.raises(error):
            encoding.encode("<|end|>")
