"""`ChatFormat`: a format, to parse, constrain and write with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import msgspec

from syntagma.constraints import build_grammar
from syntagma.entry import options_named
from syntagma.errors import FormatError
from syntagma.format_schema import (
    ContentSpec,
    FormatSpec,
    ReasoningSpec,
    StartState,
    read_toml,
    used_markers,
    write_toml,
)
from syntagma.format_schema.facts import call_openers, preserved_tokens, stop_strings, triggers
from syntagma.formats.message_writer import unwritable, write_message
from syntagma.formats.read_back import difference
from syntagma.formats.registry import registry
from syntagma.formats.response_template import NotCarried, read_response_template, write_response_template
from syntagma.formats.styles import styled
from syntagma.formats.usable import check_usable
from syntagma.grammars import Grammar, StructuralTag
from syntagma.messages import Message, MessageLike, ToolLike
from syntagma.parsing import ParserOptions, StreamParser, start_state
from syntagma.request import RequestOptions, SharedOptions, resolve_request

__all__ = ["ChatFormat"]


class ChatFormat:
    """How a model writes reasoning, content and tool calls. Immutable; threads may share it.

    Attributes:
        spec: the spec.
        name: the name under which it is registered, or None.
    """

    __slots__ = ("name", "spec")

    def __init__(self, spec: FormatSpec, *, name: str | None = None) -> None:
        self.spec = spec
        self.name = name

    @classmethod
    def from_toml(cls, text: str, *, source: str = "<string>") -> ChatFormat:
        """Read a format file; `from` may name registered formats.

        Raises:
            FormatError: `E-FORMAT-…`, with the line; `E-FORMAT-UNSUPPORTED`, the parser or the grammar does not
                support it.
        """
        return cls(read_toml(text, source=source, base=registry.tables, check=check_usable))

    def to_toml(self) -> str:
        """The format as a file without `from`; reading it gives an equal format."""
        return write_toml(self.spec)

    @classmethod
    def from_response_template(cls, template: Mapping[str, Any]) -> tuple[ChatFormat, tuple[NotCarried, ...]]:
        """The format that a checkpoint's `response_template` describes, and what is lost in the translation.

        Args:
            template: the dictionary, version 1, as `tokenizer_config.json` has it.

        Raises:
            FormatError: `E-FORMAT-RESPONSE-TEMPLATE`, it is not one; with the pointer.
        """
        spec, lost = read_response_template(template)
        return cls(spec), lost

    def to_response_template(
        self, *, start_anchor: str | None = None, join: bool = False
    ) -> tuple[dict[str, Any], tuple[NotCarried, ...]]:
        """A `response_template` that reads what the format writes, and what is lost in the translation.

        transformers, vLLM and SGLang read it.

        Args:
            start_anchor: text after which the assistant's turn begins in a prompt; by default `anchor`.
            join: join the pieces of an answer that are separated by calls, and those of reasoning. Otherwise
                transformers keeps the last piece; vLLM and SGLang always join them, and refuse a template that asks for
                it.

        Raises:
            FormatError: `E-FORMAT-UNWRITABLE`, it is unknown where the assistant's turn begins.
        """
        return write_response_template(self.spec, start_anchor=start_anchor, join=join)

    def combine(self, *, tools: ChatFormat | None = None, reasoning: ChatFormat | None = None) -> ChatFormat:
        """A format with the calls, content and messages of `tools` and the reasoning of `reasoning`.

        Args:
            tools: a format; None is this one.
            reasoning: a format; None is this one.

        Raises:
            FormatError: `E-FORMAT-COMBINE`, their headers of messages differ.
        """
        first, second = (tools or self).spec, (reasoning or self).spec
        if first.messages != second.messages:
            raise FormatError(
                "E-FORMAT-COMBINE",
                "the two formats write messages with different headers",
                hint="a format with [messages] combines only with one that has the same",
            )
        content = first.content
        dropped = second.content.drop if second.content is not None else ()
        if content is not None or dropped:
            content = content or ContentSpec()
            content = msgspec.structs.replace(content, drop=tuple(dict.fromkeys((*content.drop, *dropped))))
        whole = FormatSpec(
            anchor=first.anchor,
            end_of_turn=first.end_of_turn or second.end_of_turn,
            reasoning=_combined_reasoning(first, second),
            content=content,
            tools=first.tools,
            messages=first.messages,
        )
        markers = used_markers(whole, (*first.markers, *second.markers))
        return ChatFormat(msgspec.structs.replace(whole, markers=markers))

    @options_named
    def parser(self, tools: Sequence[ToolLike] | None = None, **options: Unpack[ParserOptions]) -> StreamParser:
        """A parser for one turn.

        Args:
            tools: the declared tools. None: undeclared, calls are read without types; empty: no calls are read.
            **options: see `syntagma.parsing.ParserOptions`.
        """
        return StreamParser(self, tools, **options)

    @options_named
    def parse(self, text: str, tools: Sequence[ToolLike] | None = None, **options: Unpack[ParserOptions]) -> Message:
        """The message in a complete raw text.

        Args:
            text: the text.
            tools: as for `parser`.
            **options: see `syntagma.parsing.ParserOptions`.
        """
        parser = self.parser(tools, **options)
        parser.feed(text)
        parser.finish()
        return parser.message

    @options_named
    def grammar(
        self,
        tools: Sequence[ToolLike] | None = None,
        *,
        prompt: str | None = None,
        **options: Unpack[RequestOptions],
    ) -> Grammar:
        """The grammar of what a model may write after `prompt`; see `syntagma.constraints.build_grammar`.

        Args:
            tools: the declared tools. None: undeclared, calls may have any name; empty: no calls may come.
            prompt: the rendered prompt, whose tail shows what is open already; None: there is none.
            **options: see `syntagma.request.RequestOptions`.

        Raises:
            RequestError, ArgumentError, LimitError: as `syntagma.request.resolve_request`.
            FormatError, GrammarError: as `build_grammar`.
        """
        request = resolve_request(tools, **options)
        start = StreamParser.from_request(self, request, prompt=prompt).start_state
        return build_grammar(self.spec, request, start, styled)

    @options_named
    def structural_tag(
        self,
        tools: Sequence[ToolLike] | None = None,
        *,
        prompt: str | None = None,
        **options: Unpack[RequestOptions],
    ) -> StructuralTag:
        """The structural tag of what a model may write after `prompt`.

        Read back, it accepts what `grammar` accepts; if it accepts more, `StructuralTag.wider` says where.

        Args:
            tools: as for `grammar`.
            prompt: as for `grammar`.
            **options: see `syntagma.request.RequestOptions`.

        Raises:
            RequestError, ArgumentError, LimitError, FormatError, GrammarError: as `grammar`.
            LimitError: `E-LIMIT-GRAMMAR-BYTES`, the tag is larger than any that is read.
            GrammarError: `E-GRAMMAR-UNSUPPORTED`, `E-GRAMMAR-UNPRINTABLE`: a structural tag cannot express it; the
                message names the part.
        """
        grammar = self.grammar(tools, prompt=prompt, **options)
        return grammar.to_structural_tag(limits=options.get("limits"))

    @options_named
    def start_state(self, prompt: str | None = None, **asked: Unpack[SharedOptions]) -> StartState:
        """The state before the first character of output, for both parser and grammar.

        Args:
            prompt: the rendered prompt: an `sg.Prompt`, or a plain string. None: there is none.
            **asked: see `syntagma.request.SharedOptions`.

        Raises:
            ArgumentError: `E-ARGUMENT-REASONING`, `reasoning` has no such value.
        """
        return start_state(self, prompt=prompt, **asked)

    def write(self, message: MessageLike, tools: Sequence[ToolLike] | None = None) -> str:
        """The canonical raw text of a message, without the end of the turn.

        Args:
            message: a `Message`, or an OpenAI dictionary.
            tools: the declared tools; a value without a schema may need another spelling. None: undeclared.

        Raises:
            ArgumentError: `E-MESSAGE-…`, the dictionary is malformed, with the pointer of the field.
            FormatError: `E-FORMAT-UNWRITABLE`, the text would be read differently, with the pointer of the field;
                `E-FORMAT-UNSUPPORTED`, the format has a construct that cannot be written.
        """
        if not isinstance(message, Message):
            message = Message.from_openai(message)
        text = write_message(self.spec, message, tools)
        wrong = difference(
            message,
            self.parse(text, tools),
            lambda one: self.parse(write_message(self.spec, one, tools), tools),
            wire_ids=self._writes_ids,
        )
        if wrong is not None:
            unwritable(f"the {wrong.what} would not read back equal", wrong.pointer)
        return text

    @property
    def triggers(self) -> tuple[str, ...]:
        """The texts that begin the calls of a turn, as the format writes them."""
        return triggers(self.spec)

    @property
    def stop_strings(self) -> tuple[str, ...]:
        """The texts that end the turn, for engines whose vocabulary has no token for them."""
        return stop_strings(self.spec)

    @property
    def preserved_tokens(self) -> tuple[str, ...]:
        """The markers of the format; a detokenizer must not drop these tokens."""
        return preserved_tokens(self.spec)

    @property
    def _writes_ids(self) -> bool:
        """Whether the format writes all ids unchanged; if not, an id without the format's shape is replaced."""
        tools = self.spec.tools
        if tools is None or tools.id:
            return False
        envelopes = [envelope.pattern for envelope in tools.envelope[:1]]
        return any("id" in pattern.placeholders for pattern in (tools.call[0], *envelopes))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.spec, self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ChatFormat) and self.spec == other.spec

    def __hash__(self) -> int:
        return hash(self.to_toml())

    def __repr__(self) -> str:
        return f"<ChatFormat{f' {self.name!r}' if self.name else ''}>"


def _rebuild(spec: FormatSpec, name: str | None) -> ChatFormat:
    return ChatFormat(spec, name=name)


def _combined_reasoning(first: FormatSpec, second: FormatSpec) -> ReasoningSpec | None:
    """The reasoning of the second format beside the calls and the answer of the first, whose openers interrupt it."""
    reasoning = second.reasoning
    if reasoning is None or not reasoning.interrupt or first.tools is None or first is second:
        return reasoning
    answers = (text for text in reasoning.interrupt if any(text in one.opener for one in first.wrappers))
    return msgspec.structs.replace(reasoning, interrupt=tuple(dict.fromkeys((*answers, *call_openers(first)))))
