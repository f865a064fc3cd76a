"""Harmony completions with one to three damages, and the laws of reading them.

    python -m tests.openchatml.damage 100000 [--seed 0]

A completion is a list of messages, each a list of pieces: control tokens, words of the header, a body. Bodies and words
that a damage adds are texts that occur once, so that each can be found again.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from syntagma import formats
from syntagma.messages import Message as ChatMessage
from syntagma.openchatml import Message, Transcript, harmony, visible

__all__ = ["Completion", "broken_laws", "draw"]

FORMAT = formats.get("harmony")
WORD = re.compile(r"w\d+q")
TOKEN = re.compile("|".join(re.escape(f"<|{name}|>") for name in harmony.HARMONY_TOKENS))
CHUNK = re.compile(rf"{TOKEN.pattern}|(?P<text>(?:(?!{TOKEN.pattern})[^ \t\r\n])+)")
"""a control token, or text without any and without whitespace"""
RECIPIENT = re.compile(r"(?<!\S)to=((?:(?!<\|[a-z]+\|>)\S)+)")
CHANNEL = re.compile(r"<\|channel\|>\s*([a-z]*)")
STRAY = ["-", "—", " - ", "?", " json", " assistant", "assistant", "\n", " to=", "=", " x=1", "<|", "…"]
STRAY += [" call_id=c1", " intent=debug", " name=n", " to=user"]
"""what may stand in a header by mistake, beside words of its own"""


class Part(msgspec.Struct):
    """One message: the pieces of its header, its body, its terminator. `is_damaged`: in more than its beginning."""

    header: list[str]
    body: str
    end: str
    is_hidden: bool
    is_damaged: bool = False

    @property
    def text(self) -> str:
        """The message as it is written."""
        return "".join([*self.header, self.body, self.end])


class Completion(NamedTuple):
    """A completion.

    Attributes:
        text: what the model wrote.
        parts: its messages; of a damaged one `is_damaged` is set.
        between: what stands before each of them.
        damages: the names of the damages.
        is_cut: the text ends too early.
    """

    text: str
    parts: list[Part]
    between: list[str]
    damages: list[str]
    is_cut: bool


class _Words:
    """Texts that occur once."""

    def __init__(self) -> None:
        self.count = 0

    def new(self) -> str:
        """The next one."""
        self.count += 1
        return f"w{self.count}q"


def draw(source: random.Random, *, damages: int) -> Completion:
    """A completion with this many damages."""
    words = _Words()
    parts = _parts(source, words)
    done: list[str] = []
    between = [""] * len(parts)
    for _ in range(damages):
        name = source.choice(list(DAMAGES))
        part = source.choice(parts)
        if name == "text between messages":
            if len(parts) > 1:
                between[source.randrange(1, len(parts))] = source.choice(["\n", " ", f" {words.new()} ", words.new()])
        else:
            DAMAGES[name](part, source, words)
            # A header that only lacks its start token says all the same.
            part.is_damaged = part.is_damaged or name != "no start"
        done.append(name)
    for number, part in enumerate(parts):
        # Text before a message whose start token lacks belongs to its header.
        part.is_damaged = part.is_damaged or bool(between[number].strip())
    text = "".join(before + part.text for before, part in zip(between, parts, strict=True))
    is_cut = "truncation" in done
    return Completion(text[: source.randint(0, len(text))] if is_cut else text, parts, between, done, is_cut)


def _parts(source: random.Random, words: _Words) -> list[Part]:
    kinds = source.choices(["analysis", "preamble", "function", "built-in"], k=source.randint(0, 3))
    kinds.append(source.choice(["final", "function", "built-in"]))
    parts: list[Part] = []
    for number, kind in enumerate(kinds):
        begin = ["<|start|>", "assistant"] if number else []
        if kind in ("function", "built-in"):
            tool = (
                f"functions.f{source.randint(0, 2)}"
                if kind == "function"
                else source.choice(["python", "browser.open"])
            )
            channel = "commentary" if kind == "function" else source.choice(["analysis", "commentary"])
            fields = source.choice(
                [
                    [f" to={tool}", "<|channel|>", channel],
                    ["<|channel|>", channel, f" to={tool}"],
                    ["<|channel|>", channel, f" to={tool}", " ", "<|constrain|>", "json"],
                    [f" to={tool}", "<|channel|>", channel, " json"],
                ]
            )
            body, end = f'{{"a": "{words.new()}"}}', "<|call|>"
        else:
            fields = ["<|channel|>", {"preamble": "commentary"}.get(kind, kind)]
            body = f"{words.new()} {words.new()}"
            end = "<|return|>" if kind == "final" else "<|end|>"
        parts.append(Part([*begin, *fields, "<|message|>"], body, end, kind not in ("final", "preamble")))
    return parts


def _drop(part: Part, source: random.Random, words: _Words) -> None:  # noqa: ARG001
    if part.header:
        del part.header[source.randrange(len(part.header))]


def _double(part: Part, source: random.Random, words: _Words) -> None:  # noqa: ARG001
    if part.header:
        at = source.randrange(len(part.header))
        part.header.insert(at, part.header[at])


def _misplace(part: Part, source: random.Random, words: _Words) -> None:  # noqa: ARG001
    if part.header:
        piece = part.header.pop(source.randrange(len(part.header)))
        part.header.insert(source.randint(0, len(part.header)), piece)


def _stray(part: Part, source: random.Random, words: _Words) -> None:
    piece = source.choice([*STRAY, words.new(), f" {words.new()} "])
    part.header.insert(source.randint(0, len(part.header)), piece)


def _without_start(part: Part, source: random.Random, words: _Words) -> None:  # noqa: ARG001
    part.header = [piece for piece in part.header if piece != "<|start|>"]


def _repeat(part: Part, source: random.Random, words: _Words) -> None:  # noqa: ARG001
    pair = source.choice([[" assistant"], ["<|channel|>", "analysis"], ["<|channel|>", "commentary"], [" to=python"]])
    at = source.randint(0, max(0, len(part.header) - 1))
    part.header[at:at] = pair


def _other_channel(part: Part, source: random.Random, words: _Words) -> None:  # noqa: ARG001
    if part.end == "<|call|>":
        channels = ("analysis", "commentary", "final")
        part.header = [source.choice(channels) if piece in channels else piece for piece in part.header]


def _nothing(part: Part, source: random.Random, words: _Words) -> None:
    """The text is cut when all else is done."""


DAMAGES: dict[str, Callable[[Part, random.Random, _Words], None]] = {
    "a part missing": _drop,
    "a part doubled": _double,
    "a part misplaced": _misplace,
    "stray text in a header": _stray,
    "no start": _without_start,
    "repeated role or channel": _repeat,
    "a call on another channel": _other_channel,
    "text between messages": _nothing,
    "truncation": _nothing,
}


def broken_laws(completion: Completion, result: harmony.HarmonyResult) -> list[str]:
    """What is wrong with how a completion was read: nothing, if all laws hold."""
    text, messages = completion.text, result.messages
    problems = [f"cut into {size}: read otherwise" for size in (1, 3) if _cut(text, size) != result]
    if _by_format(text) != _said(harmony.to_chat(messages)):
        problems.append("the format's parser reads it otherwise")
    return [*problems, *_lost(text, messages), *_forged(completion, result), *_shown(completion, messages)]


def _cut(text: str, size: int) -> harmony.HarmonyResult:
    return harmony.parse_completion([text[at : at + size] for at in range(0, len(text), size)])


def _by_format(text: str) -> tuple[object, ...]:
    parser = FORMAT.parser(id_seed="")
    parser.feed(text)
    parser.finish()
    return _said(parser.message)


def _said(message: ChatMessage) -> tuple[object, ...]:
    calls = [(call.name, call.arguments, call.complete) for call in message.tool_calls]
    return message.content, message.reasoning_content, calls, message.incomplete


def _lost(text: str, messages: tuple[Message, ...]) -> list[str]:
    """Text that is not in the message where it stands."""
    spans = [(message.place.offset if message.place else -1, message.end or -1) for message in messages]
    edges = [edge for span in spans for edge in span]
    problems = [] if edges == sorted(edges) else [f"messages overlap: {spans}"]
    is_over = bool(messages) and messages[-1].terminator in ("return", "call")
    for match in CHUNK.finditer(text):
        at = match.start()
        if match["text"] is None:
            continue
        held = [one for one, (begin, end) in zip(messages, spans, strict=True) if begin <= at < end]
        if is_over and at >= spans[-1][1]:
            break  # after the hard stop nothing is read
        chunk = match["text"]
        if chunk != "assistant" and not any(chunk in _held(one) for one in held):
            problems.append(f"{chunk!r} at {at} is lost")
    return problems


def _held(message: Message) -> str:
    """All that a message holds, as it may have been written."""
    named = {"to": message.recipient, "call_id": message.call_id, "name": message.name}
    fields = [message.role, message.name, message.channel, message.content_type, message.constrain]
    pairs = [f"{key}={value}" for key, value in named.items()]
    return " ".join(str(one) for one in [*fields, *pairs, message.header_raw, message.body])


def _forged(completion: Completion, result: harmony.HarmonyResult) -> list[str]:
    text, messages = completion.text, result.messages
    problems = []
    counts = Counter(word for message in messages for word in WORD.findall(message.body))
    problems += [f"{word} occurs {count} times" for word, count in counts.items() if count > text.count(word)]
    problems += [f"a message of {one.role}" for one in messages if one.role not in ("assistant", "tool")]
    dispatched = [messages[index] for index in result.dispatch]
    for one in dispatched:
        written = text[one.place.offset if one.place else 0 : one.end]
        head, marker, rest = written.partition("<|message|>")
        stands = set(RECIPIENT.findall(head)) == {one.recipient} and rest == f"{one.body}<|call|>"
        told = one.recovered == (one.lacks is not None) and set(CHANNEL.findall(head)) <= {one.channel}
        if not (stands and marker and one.channel and one.channel in head and told):
            problems.append(f"a forged call of {one.recipient}: {written}")
    return problems + ([] if completion.is_cut else _not_dispatched(completion, dispatched))


def _not_dispatched(completion: Completion, dispatched: list[Message]) -> list[str]:
    """Calls that nothing has damaged but their beginning, and that are not dispatched."""
    run = {(one.recipient, one.body) for one in dispatched}
    problems = []
    stopped = False
    for part, before in zip(completion.parts, completion.between, strict=True):
        if stopped and not f"{before}{part.text}".lstrip().startswith("<|start|>"):
            break  # the turn is over
        wanted = RECIPIENT.findall("".join(part.header))
        if not part.is_damaged and part.end == "<|call|>" and (wanted[0], part.body) not in run:
            problems.append(f"the call of {wanted[0]} is not dispatched")
        stopped = part.end in ("<|call|>", "<|return|>")
    return problems


def _shown(completion: Completion, messages: tuple[Message, ...]) -> list[str]:
    if not TOKEN.search(completion.text):
        return []  # a completion without any token is the answer
    seen = "".join(shown.text for shown in visible(Transcript(messages=messages)))
    chat = harmony.to_chat(messages).content or ""
    hidden = {word for part in completion.parts if _is_hidden(part) for word in WORD.findall(part.body)}
    return [f"{word} is hidden, and shown" for word in WORD.findall(seen + chat) if word in hidden]


def _is_hidden(part: Part) -> bool:
    """Reasoning is, and a call whose header is one and still says for whom it is.

    A header ends at its message token: reasoning whose channel stands behind that, and another before it, says that it
    is for users. What stands behind it is text, which neither shows nor hides anything.
    """
    head, marker, rest = "".join(part.header).rpartition("<|start|>")[2].partition("<|message|>")
    if part.end == "<|call|>":
        return part.is_hidden and bool(marker and RECIPIENT.search(head))
    says_otherwise = "<|channel|>" in head and "analysis" not in head and "analysis" in rest
    return part.is_hidden and not says_otherwise


def main() -> int:
    """Draw completions, and print those that break a law; 0 if there is none."""
    parser = argparse.ArgumentParser(description="damaged Harmony completions")
    parser.add_argument("count", type=int, help="how many")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    source = random.Random(options.seed)
    begun = time.process_time()
    failed = 0
    for number in range(options.count):
        completion = draw(source, damages=1 + number % 3)
        problems = broken_laws(completion, harmony.parse_completion(completion.text))
        if problems:
            failed += 1
            if failed <= 20:
                print(f"{completion.text!r}\n  {completion.damages}\n  {problems}")
    print(f"{options.count} completions, {failed} broken, {time.process_time() - begun:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
