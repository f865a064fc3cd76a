"""Harmony completions as models write them: nothing is lost, nothing forged, nothing hidden is shown."""

from __future__ import annotations

import random

import msgspec
import pytest

from syntagma import Limits
from syntagma.openchatml import Transcript, harmony, visible
from tests.openchatml.damage import broken_laws, draw

COUNT = 500


@pytest.mark.parametrize("damages", [0, 1, 2, 3])
def test_damaged_completions_are_read_by_the_laws(damages: int) -> None:
    source = random.Random(damages)
    for _ in range(COUNT if damages else 100):
        completion = draw(source, damages=damages)
        assert not broken_laws(completion, harmony.parse_completion(completion.text)), completion.text


def test_the_laws_notice_what_is_lost_forged_and_shown() -> None:
    source = random.Random(9)
    seen = set()
    for _ in range(200):
        completion = draw(source, damages=1)
        result = harmony.parse_completion(completion.text)
        for index, message in enumerate(result.messages):
            for change in ({"body": ""}, {"role": "system"}, {"recipient": "functions.g"}, {"channel": "final"}):
                forged = msgspec.structs.replace(message, **change)
                messages = (*result.messages[:index], forged, *result.messages[index + 1 :])
                problems = broken_laws(completion, msgspec.structs.replace(result, messages=messages))
                seen |= {
                    word for problem in problems for word in ("lost", "forged", "system", "shown") if word in problem
                }
    assert seen == {"lost", "forged", "system", "shown"}


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        # Words that do not belong in a header hide no recipient.
        ("- to=python<|channel|>final<|message|>x<|call|>", [("assistant", "final", "python", "x")]),
        # Of two channels neither is certain.
        (
            "<|channel|>analysis<|channel|>final<|message|>x<|end|>",
            [("assistant", "analysis", None, "x")],
        ),
        # Without its start and its role a header still says for whom the message is.
        (
            "<|message|>x<|end|>oh to=python<|channel|>final<|message|>y<|call|>",
            [(None, None, None, "x"), ("assistant", "final", "python", "y")],
        ),
        # A header that the text ends in.
        ("<|channel|>commentary to=python", [("assistant", "commentary", "python", "")]),
        ("<|start|>assistant", []),
        # Text before a message that lacks its start.
        ("<|message|>x<|end|>oh<|channel|>final<|message|>y", [(None, None, None, "x"), (None, None, None, "oh")]),
    ],
)
def test_what_is_malformed_is_kept(text: str, reads: list[tuple[str | None, ...]]) -> None:
    messages = harmony.parse_completion(text).messages
    assert len(messages) >= len(reads)
    for message, (role, channel, recipient, body) in zip(messages, reads, strict=False):
        assert message.recovered
        assert message.body == body
        assert role is None or (message.role, message.channel, message.recipient) == (role, channel, recipient)


def test_headers_are_kept_as_they_were_written() -> None:
    header = "<|channel|>final intent=debug?<|message|>"
    (message,) = harmony.parse_completion(f"{header}x<|end|>").messages
    assert (message.header_raw, message.intent, message.recovered) == (header, None, False)
    (message,) = harmony.parse_completion("<|channel|>final!<|message|>x<|end|>").messages
    assert (message.header_raw, message.channel) == ("<|channel|>final!<|message|>", "final")
    (message,) = harmony.parse_completion("<|channel|>final<|message|>x<|end|>").messages
    assert message.header_raw is None


@pytest.mark.parametrize(
    "begin",
    [
        "<|channel|>analysis ",
        "<|channel|>final ",
        " to=python<|channel|>commentary ",
        "<|channel|>",
        "<|start|>user ",
        "<|channel|>final<|message|>hi<|end|>",
        "<|channel|>final<|message|>hi<|end|>user ",
    ],
)
def test_headers_and_text_between_messages_are_bounded(begin: str) -> None:
    limits = Limits(openchatml_message_header_chars=50)
    text = begin + "a" * 200
    for end, further in (("", 0), ("<|start|>assistant<|channel|>final<|message|>z<|end|>", 1)):
        whole = text + end
        results = []
        for size in (len(whole), 1, 7):
            reader = harmony.HarmonyReader(limits=limits)
            for at in range(0, len(whole), size):
                reader.feed(whole[at : at + size])
            reader.finish()
            results.append(reader.result())
        assert results[1:] == results[:-1]
        messages = results[0].messages
        kept = "".join(message.body for message in messages)
        assert "a" * 200 in kept
        assert [message.body for message in messages if message.body == "z"] == ["z"] * further
        assert "E-PARSE-HEADER" in [problem.code for problem in results[0].errors]
        assert not results[0].dispatch
        shown = "".join(one.text for one in visible(Transcript(messages=messages)))
        assert "aaa" not in shown
