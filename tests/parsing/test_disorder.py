"""Laws of text that models write in disorder: nothing of a call is lost, and no marker stays in text untold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from syntagma.errors import ParseError
from syntagma.format_schema.facts import interrupts
from syntagma.formats import ChatFormat
from syntagma.messages import Message, ToolCall
from syntagma.parsing.compiled_format import compiled_format
from tests.constraints.walks import matcher
from tests.formats.cases import TOOLS
from tests.formats.every import CALLING, FORMATS
from tests.formats.written import meaning

CALL = ToolCall(id="call_0", name="weather", arguments='{"place": "Oslo b", "days": 3}')
INLINE = [name for name in CALLING if FORMATS[name].spec.messages is None]
INTERRUPTED = [name for name in INLINE if interrupts(FORMATS[name].spec)]
THINKING = [name for name in INLINE if FORMATS[name].spec.reasoning is not None]

# The formats for which a law does not hold, each with its reason. A test here that passes all the same is an error.
_SIGNS = "signs and bare JSON open its calls, which interrupt nothing"
NOT_INTERRUPTED = {
    "xlam": _SIGNS,
    "shape thought_until_line": _SIGNS,
    "shape thought_until_next": _SIGNS,
}
NOT_QUOTED = NOT_INTERRUPTED | {
    "inkling": "a call closes as reasoning does, so a call inside of it is one at once",
    "shape thought_until_sign": "its reasoning has no closer, so a call ends it",
}


def but(names: list[str], exceptions: Mapping[str, str]) -> list[Any]:
    """The names as parameters of a test; it must fail for the exceptions."""
    assert exceptions.keys() <= set(names)
    marks = {name: pytest.mark.xfail(strict=True, reason=reason) for name, reason in exceptions.items()}
    return [pytest.param(name, marks=marks.get(name, ())) for name in names]


WRAPPED = [
    name
    for name, fmt in FORMATS.items()
    if fmt.spec.messages is None
    and fmt.spec.reasoning is not None
    and fmt.spec.reasoning.to == "reasoning"
    and any(one.is_marker for wrapper in fmt.spec.wrappers for one in fmt.spec.cuts.pieces(wrapper.closer))
]
TOLD = [name for name, fmt in FORMATS.items() if fmt.spec.reasoning is None or fmt.spec.reasoning.to == "reasoning"]
WHITESPACE = ("\n", "\n\n", "  ", " \n", "\t", "\n" + 20 * " ")


def read(fmt: ChatFormat, text: str, *, reason: str | None = None, **options: Any) -> Message:
    """The message of a text, which is the same however the text is cut."""
    found: list[Message] = []
    for chunks in ([text], list(text), re.split(r"(?<=[<>\[\]|])", text)):
        parser = fmt.parser(TOOLS, id_seed="disorder", **options)
        for chunk in chunks:
            parser.feed(chunk)
        parser.finish(reason)
        found.append(parser.message)
    assert all(one == found[0] for one in found), text
    return found[0]


def turn_of(fmt: ChatFormat) -> tuple[str, str]:
    """A turn that is one call; and its text from the beginning of the call on."""
    text = fmt.write(Message(tool_calls=(CALL,)), TOOLS)
    (call,) = read(fmt, text).tool_calls
    assert call.span is not None
    return text, text[call.span[0] :]


def codes(message: Message) -> list[str]:
    return [one.code for one in message.diagnostics]


def thought(fmt: ChatFormat) -> tuple[str, dict[str, Any]]:
    """The beginning of reasoning, and the options to read it with."""
    block = fmt.spec.reasoning_blocks[0]
    return block.opener, {} if block.opener.strip() else {"reasoning": "open"}


@pytest.mark.every_format
@pytest.mark.parametrize("name", but(THINKING, NOT_INTERRUPTED))
def test_a_call_interrupts_reasoning_that_nothing_closes(name: str) -> None:
    fmt = FORMATS[name]
    opener, options = thought(fmt)
    _, call = turn_of(fmt)
    message = read(fmt, f"{opener}Hm. {call}", **options)
    kept = fmt.spec.reasoning is not None and fmt.spec.reasoning.to == "content"
    assert meaning(message)[2] == [(CALL.name, {"place": "Oslo b", "days": 3})]
    assert kept or meaning(message)[:2] == ("Hm.", "")


@pytest.mark.every_format
@pytest.mark.parametrize("name", but(THINKING, NOT_QUOTED))
def test_a_call_inside_closed_reasoning_is_quoted(name: str) -> None:
    fmt = FORMATS[name]
    opener, options = thought(fmt)
    block = fmt.spec.reasoning_blocks[0]
    _, call = turn_of(fmt)
    message = read(fmt, f"{opener}Hm. {call}{block.closer}Two.", **options)
    assert not message.tool_calls
    assert "Two." in (message.content or "")
    assert call.strip() in (message.reasoning_content or message.content or "")
    message = read(fmt, f"{opener}Hm. {call}", reason="length", **options)
    assert not message.tool_calls
    assert call.strip() in (message.reasoning_content or message.content or "")
    assert message.incomplete
    assert codes(message) or message.reasoning_content is None


@pytest.mark.every_format
@pytest.mark.parametrize("name", INTERRUPTED)
def test_an_opener_that_no_call_follows_holds_nothing(name: str) -> None:
    fmt = FORMATS[name]
    opener, options = thought(fmt)
    for marker in interrupts(fmt.spec):
        if not compiled_format(fmt.spec).interrupts[marker]:
            continue
        parser = fmt.parser(TOOLS, **options)
        for char in f"{opener}I could write {marker} ?! now, or not at all":
            parser.feed(char)
        so_far = parser.message
        assert not so_far.tool_calls
        text = so_far.reasoning_content or so_far.content or ""
        assert text.rstrip().endswith("or not at all"), marker
        assert codes(so_far) == ["E-PARSE-MARKER"] * len(codes(so_far))


@pytest.mark.every_format
@pytest.mark.parametrize("choice", ["required", "auto"])
@pytest.mark.parametrize("name", INLINE)
def test_a_turn_may_end_after_whitespace_that_follows_its_call(name: str, choice: Any) -> None:
    fmt = FORMATS[name]
    text = turn_of(fmt)[0]
    grammar = matcher(fmt.grammar(TOOLS, tool_choice=choice))
    if grammar.accept_bytes(text.rstrip().encode()) and grammar.is_accepting():
        text = text.rstrip()
    wanted = meaning(read(fmt, text))
    ended = 0
    for space in WHITESPACE if text[-1:].strip() else WHITESPACE[:1]:
        if meaning(read(fmt, text + space)) == wanted and not read(fmt, text + space).diagnostics:
            grammar.reset()
            assert grammar.accept_bytes((text + space).encode()), (text, space)
            assert grammar.is_accepting(), (text, space)
            ended += 1
    assert ended


def strays(fmt: ChatFormat) -> Iterator[str]:
    return (op.text for op in compiled_format(fmt.spec).strays)


@pytest.mark.every_format
@pytest.mark.parametrize("name", INLINE)
def test_a_closer_that_closes_nothing_is_removed_after_a_call(name: str) -> None:
    fmt = FORMATS[name]
    text, _ = turn_of(fmt)
    wanted = meaning(read(fmt, text))
    for stray in strays(fmt):
        for twice in (text + stray, f"{text}\n{stray}\n{stray}\n"):
            message = read(fmt, twice)
            assert meaning(message) == wanted, twice
            assert set(codes(message)) == {"E-PARSE-STRAY"}, twice
        with pytest.raises(ParseError):
            fmt.parse(text + stray, TOOLS, strict=True)


@pytest.mark.every_format
@pytest.mark.parametrize("name", INLINE)
def test_a_lone_closer_in_an_answer_stays_and_is_told(name: str) -> None:
    fmt = FORMATS[name]
    written = fmt.write(Message(content="So it is."), TOOLS)
    for stray in strays(fmt):
        message = read(fmt, written.replace("So it", f"So {stray} it"))
        if stray in (message.content or ""):
            assert "E-PARSE-MARKER" in codes(message), stray


@pytest.mark.every_format
@pytest.mark.parametrize("name", TOLD)
def test_no_marker_stands_in_text_untold(name: str) -> None:
    fmt = FORMATS[name]
    told = compiled_format(fmt.spec).told.texts
    answer = fmt.write(Message(content="So it is."), TOOLS) if fmt.spec.messages is None else "So it is."
    texts = [answer.replace("So it", f"So `{marker}` it") for marker in told]
    if fmt.spec.reasoning is not None:
        block = fmt.spec.reasoning_blocks[0]
        texts += [f"{block.opener}Well `{marker}` well.{block.closer}" for marker in told]
    for text in texts:
        message = read(fmt, text)
        parts = [message.content or "", message.reasoning_content or ""]
        found = [one.span for one in message.diagnostics if one.code == "E-PARSE-MARKER"]
        assert sum(part.count(marker) for part in parts for marker in told) == len(found), text
        assert all(text[start:end] in told for start, end in found), text
        if set(codes(message)) == {"E-PARSE-MARKER"}:
            assert fmt.parse(text, TOOLS, strict=True).content == message.content


def test_a_tag_of_another_notation_between_closers_is_removed() -> None:
    fmt = FORMATS["qwen3_coder"]
    call = "<tool_call>\n<function=clock>\n</function>\n"
    for inner in ("</function_invocation>\n", "</a>\n</b>\n"):
        message = read(fmt, f"{call}{inner}</tool_call>")
        assert (message.content, codes(message)) == (None, ["E-PARSE-STRAY"])
    message = read(fmt, f"{call}</a> and so on")
    assert (message.content or "").strip() == "</a> and so on"


@pytest.mark.every_format
@pytest.mark.parametrize("name", WRAPPED)
def test_a_closer_of_the_answer_at_the_end_of_open_reasoning_is_removed(name: str) -> None:
    fmt = FORMATS[name]
    opener, options = thought(fmt)
    for wrapper in fmt.spec.wrappers:
        closer = wrapper.closer.strip()
        if any(closer in block.closer for block in fmt.spec.reasoning_blocks):
            continue  # it closes the reasoning
        message = read(fmt, f"{opener}Paris.{closer}", **options)
        assert (message.reasoning_content, message.content) == ("Paris.", None), closer
        assert set(codes(message)) == {"E-PARSE-STRAY"}
        message = read(fmt, f"{opener}Paris. {closer} Oslo.", **options)
        assert closer in (message.reasoning_content or "")
        assert "E-PARSE-STRAY" not in codes(message)


def test_many_closers_that_close_nothing_are_read_like_few() -> None:
    fmt, closer = FORMATS["kimi_k3"], "<|close|>response<|sep|>"
    message = fmt.parse("Paris." + closer * 3_000)
    text = message.reasoning_content or ""
    assert text == "Paris." + closer * text.count(closer)
    assert text.count(closer) > 2_900
    assert codes(message).count("E-PARSE-STRAY") == 1


def test_closers_of_the_answer_in_reasoning_are_removed_where_it_ends() -> None:
    fmt = FORMATS["kimi_k3"]
    end = "<|close|>response<|sep|><|close|>message<|sep|>"
    message = read(fmt, f"Paris.{end}<|end_of_msg|>")
    assert (message.reasoning_content, message.content) == ("Paris.", None)
    assert set(codes(message)) == {"E-PARSE-STRAY"}
    message = read(fmt, f"I write {end} and go on.<|close|>think<|sep|><|open|>response<|sep|>Yes.{end}")
    assert (message.reasoning_content, message.content) == (f"I write {end} and go on.", "Yes.")


def test_a_cut_closer_of_reasoning_is_read_where_the_next_part_opens() -> None:
    fmt = FORMATS["kimi_k3"]
    answer = "<|open|>response<|sep|>Same.<|close|>response<|sep|><|close|>message<|sep|>"
    message = read(fmt, f"Both.<|close|>think{answer}")
    assert (message.reasoning_content, message.content) == ("Both.", "Same.")
    assert codes(message) == ["E-PARSE-CLOSER"]
    message = read(fmt, f"I write <|close|>think here.<|close|>think<|sep|>{answer}")
    assert (message.reasoning_content, message.content) == ("I write <|close|>think here.", "Same.")
