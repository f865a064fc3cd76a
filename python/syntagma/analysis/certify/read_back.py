"""Reads a rendered turn back with the parser, which must give the message again, and checks it with the grammar."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

from syntagma.analysis.render.conversation import SampleTurn
from syntagma.decoding import CompiledGrammar, GrammarCompiler, GrammarMatcher
from syntagma.decoding.byte_vocabulary import byte_vocabulary
from syntagma.errors import SyntagmaError
from syntagma.formats import ChatFormat
from syntagma.messages import Message

__all__ = [
    "WANTS_MORE",
    "Difference",
    "GrammarCheck",
    "PromptedOutput",
    "chunkings",
    "difference",
    "first_words",
    "grammar_reserves_text",
    "markers_of",
    "plain_message",
    "read_back",
    "reasoning_at_header",
]

_MAX_CHARACTERWISE = 2_000
"""the most characters of a text that is read one character at a time"""
_MAX_QUOTED = 120
WANTS_MORE = "the grammar wants more"
"""the refusal of a text that is the beginning of one that the grammar accepts"""


class PromptedOutput(msgspec.Struct, frozen=True):
    """An output as a model would write it.

    Attributes:
        name: the name of what the output follows.
        prompt: the prompt.
        output: the text that follows the prompt.
        reasoning: the state of reasoning between them, if the prompt does not show it.
        history: whether only a turn of the history begins here, since no generation prompt ends here. Such a turn must
            be read, but the grammar need not accept it.
        settings: template variables under which both were rendered.
    """

    name: str
    prompt: str
    output: str
    reasoning: Literal["auto", "open", "closed"] = "auto"
    history: bool = False
    settings: Mapping[str, Any] = {}


# -- reading


def chunkings(text: str, *, fine: bool) -> Iterator[list[str]]:
    """The text in one piece, and by characters if `fine` and it is not long.

    That the parser does not depend on chunks is a law of its own, whatever the format. The states that it goes through
    depend on the format, and the plainest messages of each shape visit them.
    """
    yield [text]
    if fine and len(text) <= _MAX_CHARACTERWISE:
        yield list(text)


def read_back(
    fmt: ChatFormat, run: PromptedOutput, chunks: list[str], tools: list[dict[str, Any]] | None, **options: Any
) -> Message | str:
    """The message that the parser makes from the chunks, or the error in words."""
    try:
        parser = fmt.parser(
            tools, prompt=run.prompt, reasoning=run.reasoning, template_kwargs=run.settings, id_seed="1", **options
        )
        for chunk in chunks:
            parser.feed(chunk)
        parser.finish()
    except SyntagmaError as error:
        return str(error)
    return parser.message


def plain_message(message: Message) -> dict[str, Any]:
    """A message as plain data: without whitespace at the ends of texts, with decoded arguments."""
    content = message.content if isinstance(message.content, str) else ""
    return {
        "reasoning": (message.reasoning_content or "").strip(),
        "content": content.strip(),
        "calls": [[call.name, _decoded(call.arguments), call.id] for call in message.tool_calls],
    }


def _decoded(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


class Difference(msgspec.Struct, frozen=True):
    """A difference between messages: `what` in general words, and its `detail`."""

    what: str
    detail: str = ""


def difference(message: Message | str, expected: SampleTurn, *, ids: bool) -> Difference | None:
    """The difference between a message and the expected turn; None if there is none.

    Args:
        message: the message that was read, or the error in words.
        expected: the turn; a field that is None must be absent.
        ids: whether the render shows the ids of calls.
    """
    if isinstance(message, str):
        return Difference("it is refused", message)
    found = plain_message(message)
    wanted: dict[str, Any] = {
        "reasoning": (expected.reasoning or "").strip(),
        "content": (expected.content or "").strip(),
        "calls": [[call.name, call.arguments, call.id] for call in expected.calls],
    }
    if not ids:
        for calls in (found["calls"], wanted["calls"]):
            for call in calls:
                call[2] = ""
    for field, value in wanted.items():
        if not _same(found[field], value):
            return Difference(_what(field, found, wanted), f"{_short(found[field])} instead of {_short(value)}")
    if message.incomplete:
        return Difference("the message is marked incomplete")
    return None


def _what(field: str, found: dict[str, Any], wanted: dict[str, Any]) -> str:
    """The difference in a field, in the same words for all messages that share it."""
    if field == "calls":
        if len(found[field]) != len(wanted[field]):
            return "calls do not come back" if not found[field] else "another number of calls comes back"
        parts = zip(
            ("names", "arguments", "ids"),
            zip(*found[field], strict=True),
            zip(*wanted[field], strict=True),
            strict=True,
        )
        return next(f"{name} of calls come back changed" for name, one, other in parts if not _same(one, other))
    if wanted[field] and not found[field]:
        return f"{field} comes back as something else"
    return f"{field} comes back where none is" if found[field] and not wanted[field] else f"{field} comes back changed"


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) and json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_QUOTED else text[: _MAX_QUOTED - 3] + "..."


# -- what is expected


def reasoning_at_header(fmt: ChatFormat, shown: SampleTurn) -> Literal["auto", "open", "closed"]:
    """The state of reasoning directly after the header of a rendered turn, if no prompt has opened anything."""
    reasoning = fmt.spec.reasoning
    if reasoning is None:
        return "auto"
    return "open" if shown.reasoning is not None and not reasoning.block[0].opener.strip() else "closed"


def grammar_reserves_text(fmt: ChatFormat, shown: SampleTurn) -> bool:
    """Whether the grammar reserves this content for calls: they are bare JSON, and the content begins like one."""
    tools, content = fmt.spec.tools, shown.content or ""
    if tools is None or shown.calls:
        return False
    opener = tools.section[0].opener.strip() or tools.call[0].opener.strip()
    return opener in ("", "[", "{") and (content.lstrip()[:1] in ("{", "[") or bool(opener and opener in content))


def markers_of(fmt: ChatFormat) -> tuple[str, ...]:
    """Openers and closers of the format's calls and reasoning, to be quoted inside values."""
    spec = fmt.spec
    texts: list[str] = []
    if spec.reasoning is not None:
        texts += [spec.reasoning.block[0].opener, spec.reasoning.block[0].closer]
    if spec.tools is not None:
        texts += [spec.tools.section[0].opener, spec.tools.section[0].closer]
        if not spec.tools.argument:
            texts += [spec.tools.call[0].opener, spec.tools.call[0].closer]
    return tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))


def first_words(fmt: ChatFormat) -> tuple[str, ...]:
    """Plain words with which markers of several words begin, and signs that open or close texts.

    Answers contain them, too, so the parser must distinguish them.
    """
    spec = fmt.spec
    words = [text.split(maxsplit=1) for text in markers_of(fmt)]
    found = [found[0] for found in words if len(found) > 1 and found[0].isalpha()]
    blocks = (*spec.reasoning_blocks, *spec.wrappers)
    found += [text.strip() for block in blocks for text in (block.opener, block.closer) if len(text.strip()) == 1]
    return tuple(dict.fromkeys(found))


# -- the grammar


class GrammarCheck:
    """Checks whether the grammar of one format accepts an output.

    It compiles one grammar for each prompt and each set of tools.

    Attributes:
        unsupported: the reason for which the format has no grammar, once known.
    """

    def __init__(self, fmt: ChatFormat) -> None:
        self._fmt = fmt
        self._compiled: dict[tuple[str, str, str], CompiledGrammar] = {}
        self.unsupported: str | None = None
        self._compiler = GrammarCompiler(byte_vocabulary())

    def refusal(self, run: PromptedOutput, output: str, tools: list[dict[str, Any]] | None) -> str | None:
        """The reason for which the grammar refuses `output`; None if it accepts it, or there is no grammar.

        Args:
            run: the prompt, and the state of reasoning after it.
            output: the text, without the end of the turn.
            tools: the declared tools; the same name always means the same tools.
        """
        if self.unsupported is not None:
            return None
        key = (run.prompt, run.reasoning, "" if tools is None else tools[0]["function"]["name"])
        try:
            if key not in self._compiled:
                grammar = self._fmt.grammar(
                    tools, prompt=run.prompt, reasoning=run.reasoning, template_kwargs=run.settings
                )
                self._compiled[key] = self._compiler.compile(grammar)
            matcher = GrammarMatcher(self._compiled[key])
            if not matcher.accept_bytes(output.encode()):
                return "the grammar refuses it"
            return None if matcher.is_accepting() else WANTS_MORE
        except SyntagmaError as error:
            if error.code == "E-FORMAT-UNSUPPORTED":
                self.unsupported = error.message
                return None
            return f"no grammar: {error.message}"
