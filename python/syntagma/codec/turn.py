"""`Turn`: the prompt, grammar and parser of one prepared turn."""

from __future__ import annotations

import functools
from collections.abc import Collection
from typing import Any, Literal

from syntagma.constraints import build_call_grammar, build_grammar
from syntagma.decoding import GrammarMatcher, TokenizerInfo
from syntagma.errors import FormatError, RequestError
from syntagma.format_schema import StartState
from syntagma.formats import ChatFormat, FormatTexts
from syntagma.formats.styles import styled
from syntagma.grammars import Grammar, StructuralTag
from syntagma.grammars.checking import accept_text
from syntagma.messages import Tool
from syntagma.parsing import ReadingOptions, StreamParser
from syntagma.request import ResolvedRequest
from syntagma.templates import Prompt

__all__ = ["Turn"]

_SHOWN = 20
"""number of characters that an error shows on each side of the place where a prefix does not match"""


class Turn(FormatTexts):
    """One turn of a model: its prompt, its grammar and its parser. Threads may share it.

    Attributes:
        prompt: the rendered prompt; `prompt.start` is where the assistant's turn begins in it.
        format: the format that the model writes.
        request: the resolved request; grammar and parser both follow it.
        reading: how the parser reads.
    """

    def __init__(self, prompt: Prompt, fmt: ChatFormat, request: ResolvedRequest, reading: ReadingOptions) -> None:
        self.prompt = prompt
        self.format = fmt
        self.request = request
        self.reading = reading
        self._unused: list[StreamParser] = []
        """the parser that was made to find the start state; `parser` returns it first"""

    @property
    def tools(self) -> tuple[Tool, ...] | None:
        """The declared tools; None if none were declared."""
        return self.request.tools

    @functools.cached_property
    def start(self) -> StartState:
        """The start state: what the prompt has already begun, as the turn's parser reads it."""
        parser = self._new_parser()
        self._unused.append(parser)
        return parser.start_state

    @property
    def begun(self) -> str:
        """The part of the answer in the prompt: the text of the final message if it is continued, else empty."""
        return self.prompt[self.prompt.begun :]

    @functools.cached_property
    def grammar(self) -> Grammar | None:
        """The grammar of the model's output, built when it is first read; None if the request constrains nothing.

        A request for text constrains nothing if it declares no tools. With tools, it constrains nothing with
        `enforce="off"` and `tool_choice="auto"` if no tool is strict. The parser reads the output in any case.

        Raises:
            FormatError: `E-FORMAT-BEGUN`, the prompt ends inside of an answer with a response format other than text.
                Use a matcher of `whole_grammar` and `begin`.
            FormatError, GrammarError, LimitError: see `syntagma.constraints.build_grammar`.
        """
        request = self.request
        if not request.constrains:
            return None
        is_free = request.response_format.is_text and not request.choice.forced
        if self.begun and not is_free and self.start.reasoning != "open":
            raise FormatError(
                "E-FORMAT-BEGUN",
                "the prompt ends inside of an answer with a response format, so there is no grammar of the rest",
                hint="use a matcher of `Turn.whole_grammar`, moved to this place by `Turn.begin`",
            )
        return build_grammar(self.format.spec, request, self.start, styled)

    @functools.cached_property
    def whole_grammar(self) -> Grammar | None:
        """The grammar of the whole answer, including the part in the prompt. `begin` moves a matcher past that part.

        Raises:
            FormatError, GrammarError, LimitError: see `syntagma.constraints.build_grammar`.
        """
        if not self.begun or not self.request.constrains:
            return self.grammar
        before = Prompt(self.prompt[: self.prompt.begun], self.prompt.start)
        start = StreamParser.from_request(self.format, self.request, prompt=before).start_state
        return build_grammar(self.format.spec, self.request, start, styled)

    def begin(self, matcher: GrammarMatcher, info: TokenizerInfo) -> None:
        """Move a matcher of `whole_grammar` to where the model continues: after `begun`.

        Args:
            matcher: a matcher at the start of its text.
            info: the vocabulary for which the grammar was compiled.

        Raises:
            RequestError: `E-REQUEST-PREFIX`, no text of the grammar begins with the part of the answer in the prompt.
        """
        self._raise_prefix_error(self._taken(matcher, info))

    def _taken(self, matcher: GrammarMatcher, info: TokenizerInfo) -> int:
        """How many characters of `begun` a matcher at the start of its text takes."""
        begun = self.begun
        texts = ((info.token_bytes(token).decode("utf-8", "replace"), token) for token in info.added_token_ids)
        return accept_text(matcher, begun, [(text, token) for text, token in texts if text and text in begun])

    def resumed(self, matcher: GrammarMatcher, info: TokenizerInfo) -> Turn:
        """Move a matcher as `begin` does; the turn to go on with.

        That is this one, unless its prompt ends inside of a control token, and nothing but this token may come there. A
        token cannot be written from its middle on; so the turn has the prompt from before it, and the model writes it
        whole.

        Args:
            matcher: as for `begin`.
            info: likewise.

        Raises:
            RequestError: as `begin`.
        """
        begun, taken = self.begun, self._taken(matcher, info)
        longest = max(map(len, info.control_tokens), default=0) if taken < len(begun) else 0
        # What was refused is a part of what is cut off.
        for size in range(min(longest, len(begun)), len(begun) - taken - 1, -1):
            cut = begun[len(begun) - size :]
            tokens = [token for text, token in info.control_tokens.items() if text.startswith(cut) and text != cut]
            if not cut or not tokens:
                continue
            matcher.reset()
            before = Turn(self.prompt.without_end(size), self.format, self.request, self.reading)
            if before._taken(matcher, info) == len(before.begun) and any(map(matcher.accepts, tokens)):
                return before
        self._raise_prefix_error(taken)
        return self

    def check_begun(self) -> None:
        """Check the part of the answer that is in the prompt; for callers without a vocabulary.

        Raises:
            RequestError: see `begin`.
        """
        if self.whole_grammar is not None:
            check = self.whole_grammar.check(self.begun)
            if check.reason == "refused" and check.offset is not None:
                self._raise_prefix_error(check.offset)

    def _raise_prefix_error(self, taken: int) -> None:
        """Raise `E-REQUEST-PREFIX` unless `taken`, the number of accepted characters of `begun`, is all of it."""
        begun = self.begun
        if taken == len(begun):
            return
        before, after = begun[max(0, taken - _SHOWN) : taken], begun[taken : taken + _SHOWN]
        raise RequestError(
            "E-REQUEST-PREFIX",
            f"no allowed answer begins with the final message: at character {taken} of its text, after "
            f"{before!r}, {after!r} is not allowed",
            pointer="/messages",
        )

    @functools.cached_property
    def call_grammar(self) -> Grammar | None:
        """The grammar of the output from a trigger on, built when it is first read; None if there is none.

        It is for engines that constrain lazily: the model writes freely, including reasoning, until one of `triggers`
        appears, and is constrained to this grammar from the trigger's first character on. It is None if no call is
        allowed, if calls have no trigger, or if `grammar` is None.

        Raises:
            FormatError, GrammarError, LimitError: see `syntagma.constraints.build_grammar`.
        """
        return build_call_grammar(self.format.spec, self.request, styled) if self.request.constrains else None

    @property
    def structural_tag(self) -> StructuralTag | None:
        """`grammar` as a structural tag, made at each call; None if the request constrains nothing.

        Raises:
            FormatError, GrammarError, LimitError: see `ChatFormat.structural_tag`.
        """
        return self.grammar.to_structural_tag(limits=self.request.limits) if self.grammar is not None else None

    def parser(self) -> StreamParser:
        """A new parser for one answer to the prompt."""
        try:
            return self._unused.pop()
        except IndexError:
            return self._new_parser()

    def _new_parser(self) -> StreamParser:
        return StreamParser.from_request(self.format, self.request, prompt=self.prompt, reading=self.reading)

    def prompt_ids(self, info: TokenizerInfo) -> list[int]:
        """The token ids of the prompt. No text of users, tools or documents becomes a control token.

        They are the ids that Hugging Face's tokenizer gives for the whole prompt, except that look-alikes of control
        tokens in texts of others are encoded as plain text. Nothing is added at either end, as in
        `apply_chat_template`: the template writes the token that begins a sequence.

        Args:
            info: the model's vocabulary.

        Raises:
            VocabularyError: see `TokenizerInfo.encode`.
        """
        return self.prompt.ids(info)

    @property
    def markers(self) -> frozenset[str]:
        """Texts that an engine may read as control tokens: the markers of the format and of the template's own text."""
        return frozenset({*self.prompt.markers(), *self.preserved_tokens, *self.stop_strings})

    def prompt_text(
        self, *, markers: Collection[str] | None = None, mode: Literal["break", "refuse"] = "break"
    ) -> Prompt:
        """The prompt for an engine that takes text and reads special tokens in it, without look-alikes of them.

        Args:
            markers: the texts that the engine reads as tokens (`TokenizerInfo.control_tokens`, if the vocabulary is
                known); None: the attribute `markers`.
            mode: see `Prompt.without_lookalikes`.

        Raises:
            TemplateError, ArgumentError: see `Prompt.without_lookalikes`.
        """
        known = self.markers if markers is None else markers
        return self.prompt.without_lookalikes([one for one in known if len(one) > 1], mode=mode)

    def __reduce__(self) -> tuple[Any, ...]:
        return Turn, (self.prompt, self.format, self.request, self.reading)
