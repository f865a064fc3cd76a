"""`Inspector`: what happens to a request and its answer, step by step."""

from __future__ import annotations

import codecs
import functools
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
import numpy as np

from syntagma import formats, upstreams
from syntagma.analysis import Analysis, analyze
from syntagma.codec import ChatCodec, Turn
from syntagma.decoding import GrammarCompiler, GrammarMatcher, TokenizerInfo, allocate_token_bitmask
from syntagma.decoding.backend import Backend
from syntagma.decoding.bitmask.numpy_rows import denied_tokens
from syntagma.decoding.sampling import Sampling
from syntagma.decoding.upstream import Upstream
from syntagma.errors import ArgumentError, RequestError, SyntagmaError
from syntagma.formats import ChatFormat
from syntagma.generation import GenerationOptions, Generator, RemoteGeneration
from syntagma.grammars import forbidding_keyword
from syntagma.inspector.describing import fault_of, format_seen, prompt_seen
from syntagma.inspector.distributions import Distribution, Distributions
from syntagma.inspector.values import Asked, Candidate, Continued, EventSeen, Seen, Step, TokenSeen
from syntagma.parsing import StreamParser
from syntagma.templates import ChatTemplate

__all__ = ["Inspector"]

ANSWER_CHARACTERS: Final = 20_000
"""an answer is shown up to here"""
_CANDIDATES: Final = 15
"""tokens that a step shows of those that are allowed, and of the others"""
_PIECE: Final = 8
"""tokens that the model adds at a time"""
_ENGINE_TOKENS: Final = 1024
"""tokens of an answer by a running engine"""
_KEPT: Final = 8
"""requests whose prompt and grammar are kept"""

T = TypeVar("T")


class _Prepared(NamedTuple):
    """What does not depend on the answer."""

    codec: ChatCodec | SyntagmaError
    analysis: Analysis | None
    turn: Turn | SyntagmaError


class Inspector:
    """Answers the requests of the page. Threads may share it.

    Args:
        backend: computes probabilities and continues answers; its vocabulary tokenizes answers.
        codec: the codec of its model, or of the upstream; used if a request names neither template nor format.
        upstream: writes answers in place of the backend, whose vocabulary and probabilities then only illustrate.
    """

    def __init__(self, backend: Backend, codec: ChatCodec, upstream: Upstream | None = None) -> None:
        self._backend = backend
        self._upstream = upstream
        self._codec = codec
        self._info: TokenizerInfo = backend.tokenizer_info
        self._generator = Generator(backend)
        self._distributions = Distributions(backend)
        self._kept: OrderedDict[bytes, _Prepared] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def model_name(self) -> str:
        """The name of the model that writes."""
        return (self._backend if self._upstream is None else self._upstream).model_name

    def close(self) -> None:
        """End the threads of the generator, and the connections to the upstream."""
        self._generator.close()
        if self._upstream is not None:
            upstreams.disconnect(self._upstream)

    def look(self, asked: Asked) -> Seen:
        """Everything about a request and its answer. `Seen.faults` says what is wrong with a part.

        Raises:
            RequestError: `E-REQUEST-LIMIT`, the answer is too long.
        """
        self._check(asked)
        prepared = self._prepared(asked)
        faults: dict[str, Any] = {}

        def part(name: str, make: Callable[[], T], otherwise: T) -> T:
            try:
                return make()
            except SyntagmaError as error:
                faults[name] = fault_of(error)
                return otherwise

        def turn() -> Turn:
            return _or_raise(prepared.turn)

        grammar = part("grammar", lambda: turn().grammar, None)
        none: tuple[list[Any], Any] = [], None
        tokens, may_end = part("tokens", lambda: self._tokens(turn(), asked.answer), none)
        events, message = part("events", lambda: self._read(turn(), asked), none)
        return Seen(
            format=part("format", lambda: format_seen(_or_raise(prepared.codec), prepared.analysis), None),
            prompt=part("prompt", lambda: prompt_seen(turn(), self._info), None),
            grammar=None if grammar is None else grammar.to_ebnf(),
            tokens=tokens,
            events=events,
            message=message,
            may_end=may_end,
            faults=faults,
        )

    def step(self, asked: Asked, at: int, token: str = "") -> Step:
        """What could come after the first tokens of the answer.

        Args:
            asked: the request.
            at: the number of tokens before the place.
            token: a text whose first token is in question; empty: the token that the answer has there.

        Raises:
            ArgumentError: `E-ARGUMENT-VALUE`, there are not so many tokens.
            SyntagmaError: the request cannot be prepared.
        """
        self._check(asked)
        turn = _or_raise(self._prepared(asked).turn)
        ids = self._ids(asked.answer)
        if not 0 <= at <= len(ids):
            raise ArgumentError("E-ARGUMENT-VALUE", f"the answer has {len(ids)} tokens", pointer="/at")
        wanted = self._ids(token)[0] if token else ids[at] if at < len(ids) else None
        matcher = self._matcher(turn)
        taken = at if matcher is None else next((n for n in range(at) if not matcher.accept_token(ids[n])), at)
        if taken < at:
            return Step(
                at=at, why=f"no text of the grammar begins like this: token {taken + 1} of the answer is not allowed"
            )
        allowed = None if matcher is None else _allowed(matcher, self._info.vocab_size)
        probabilities = self._distributions.after((*turn.prompt_ids(self._info), *ids[:at]))
        told = None if matcher is None else matcher.explain(wanted)
        verdict = None if told is None else told.token
        parser = turn.parser()
        parser.feed_tokens(ids[:at], self._info)
        return Step(
            at=at,
            place=str(parser.explain()),
            expected=[] if told is None else [str(one) for one in told.expected],
            allowed=None if allowed is None else int(allowed.sum()),
            may_end=matcher is not None and matcher.is_accepting(),
            masked=None if allowed is None or probabilities is None else float(probabilities[~allowed].sum()),
            candidates=self._candidates(allowed, probabilities, wanted),
            why="" if verdict is None or verdict.allowed else verdict.message,
            keyword="" if verdict is None or verdict.allowed or wanted is None else self._keyword(turn, parser, wanted),
        )

    def go_on(self, asked: Asked, seed: int = 0) -> Continued:
        """Let the model add some tokens to the answer.

        Args:
            asked: the request, with the answer so far.
            seed: of the draw.

        Raises:
            SyntagmaError: the request cannot be prepared, or the model cannot go on.
        """
        self._check(asked)
        turn = _or_raise(self._prepared(asked).turn)
        if self._upstream is not None:
            return self._whole(self._upstream, turn, asked, seed)
        before = self._ids(asked.answer)

        def begin(matcher: GrammarMatcher) -> None:
            if matcher.accept_output(before) < len(before):
                message = "the grammar does not allow the answer as it is"
                raise ArgumentError("E-ARGUMENT-VALUE", message, pointer="/answer")

        options = GenerationOptions(
            sampling=Sampling(temperature=0.8, seed=seed + len(before)), max_tokens=_PIECE, complete=False
        )
        generation = self._generator.start(
            [*turn.prompt_ids(self._info), *before], grammar=turn.grammar, begin=begin, options=options
        )
        text = b"".join(step.data for step in generation if not step.end).decode("utf-8", "replace")
        return Continued(text=text, finished=generation.finish_reason == "stop")

    def _whole(self, upstream: Upstream, turn: Turn, asked: Asked, seed: int) -> Continued:
        """The answer of a running engine, which writes it from its beginning."""
        if asked.answer:
            message = "a running engine does not go on with an answer"
            raise ArgumentError("E-ARGUMENT-VALUE", message, hint="clear it", pointer="/answer")
        options = GenerationOptions(sampling=Sampling(temperature=0.8, seed=seed), max_tokens=_ENGINE_TOKENS)
        generation, parser = RemoteGeneration(upstream, turn, options), turn.parser()
        for _ in generation.read(parser):
            pass
        return Continued(text=parser.raw, finished=generation.finish_reason == "stop")

    def _check(self, asked: Asked) -> None:
        if len(asked.answer) > ANSWER_CHARACTERS:
            message = f"an answer may have at most {ANSWER_CHARACTERS:,} characters"
            raise RequestError("E-REQUEST-LIMIT", message, pointer="/answer", status=413)

    def _prepared(self, asked: Asked) -> _Prepared:
        key = msgspec.json.encode(msgspec.structs.replace(asked, answer="", finished=False))
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        prepared = self._prepare(asked)
        with self._lock:
            self._kept[key] = prepared
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return prepared

    def _prepare(self, asked: Asked) -> _Prepared:
        analysis: Analysis | None = None
        try:
            template = ChatTemplate(asked.template) if asked.template else self._codec.template
            if asked.format_file.strip():
                codec = ChatCodec.from_format(_format_file(asked), template)
            elif asked.format:
                codec = ChatCodec.from_format(formats.get(asked.format), template)
            elif template is None:
                codec = self._codec
            else:
                analysis = analyze(template, vocabulary=None if asked.template else self._info)
                codec = ChatCodec.from_template(template, analysis)
        except SyntagmaError as error:
            return _Prepared(error, None, error)
        try:
            turn = codec.prepare(
                asked.messages,
                tools=asked.tools,
                tool_choice=asked.tool_choice,
                response_format=_response_format(asked),
                template_kwargs=asked.variables,
                reasoning=asked.reasoning,
                id_seed="inspector",
            )
            return _Prepared(codec, analysis, turn)
        except SyntagmaError as error:
            return _Prepared(codec, analysis, error)

    def _ids(self, text: str) -> list[int]:
        """The tokens of what a model wrote: special tokens are such."""
        return self._info.encode(text, trusted=[(0, len(text))])

    def _text(self, token: int) -> str:
        return self._info.token_bytes(token).decode("utf-8", "replace")

    def _matcher(self, turn: Turn) -> GrammarMatcher | None:
        if turn.grammar is None:
            return None
        return GrammarMatcher(self._compiler.compile(turn.grammar))

    @functools.cached_property
    def _compiler(self) -> GrammarCompiler:
        return self._generator.compiler

    def _tokens(self, turn: Turn, answer: str) -> tuple[list[TokenSeen], bool | None]:
        """The tokens of the answer, and whether it may end there."""
        matcher = self._matcher(turn)
        special = frozenset(self._info.control_tokens.values())
        seen: list[TokenSeen] = []
        behind = False
        decoder, end = codecs.getincrementaldecoder("utf-8")("replace"), 0
        for token in self._ids(answer):
            end += len(decoder.decode(self._info.token_bytes(token)))
            one = TokenSeen(id=token, text=self._text(token), special=token in special, end=end, state="free")
            if matcher is not None and behind:
                one = msgspec.structs.replace(one, state="behind")
            elif matcher is not None:
                allowed = int(_allowed(matcher, self._info.vocab_size).sum())
                behind = not matcher.accept_token(token)
                one = msgspec.structs.replace(one, state="out" if behind else "held", allowed=allowed)
            seen.append(one)
        return seen, None if matcher is None or behind else matcher.is_accepting()

    def _read(self, turn: Turn, asked: Asked) -> tuple[list[EventSeen], dict[str, Any] | None]:
        """The events of the answer as its tokens come, and the message that they make."""
        parser, ids = turn.parser(), self._ids(asked.answer)
        came = [(at, parser.feed_tokens((token,), self._info)) for at, token in enumerate(ids, 1)]
        if asked.finished:
            came.append((len(ids), parser.finish()))
        events = [EventSeen(token=at, event=msgspec.to_builtins(event)) for at, some in came for event in some]
        return events, msgspec.to_builtins(parser.message)

    def _keyword(self, turn: Turn, parser: StreamParser, token: int) -> str:
        """JSON pointer of the keyword that does not allow a token; empty if none is known to."""
        message, wanted = parser.message, turn.request.response_format
        calls = [call for call in message.tool_calls if not call.complete]
        if calls:
            tools = [tool for tool in turn.tools or () if tool.name == calls[-1].name]
            schema: Any = tools[0].parameters if tools else None
            text: Any = calls[-1].arguments
        else:
            schema, text = wanted.schema, message.content
        # Where a format spells values otherwise, what was read is not what was written: there, no keyword is known.
        if not isinstance(schema, Mapping) or not isinstance(text, str) or not parser.raw.endswith(text):
            return ""
        found = forbidding_keyword(schema, text + self._text(token))
        return "" if found is None else f"#{found}"

    def _candidates(
        self,
        allowed: np.ndarray[Any, np.dtype[np.bool_]] | None,
        probabilities: Distribution | None,
        wanted: int | None,
    ) -> list[Candidate]:
        """The likeliest tokens that are allowed, the likeliest that are not, and the one that was asked about."""
        order = np.arange(self._info.vocab_size) if probabilities is None else np.argsort(-probabilities, kind="stable")
        kinds = [order] if allowed is None else [order[allowed[order]], order[~allowed[order]]]
        ids = [int(token) for kind in kinds for token in kind[:_CANDIDATES]]
        if wanted is not None and wanted not in ids:
            ids.append(wanted)
        return [
            Candidate(
                id=token,
                text=self._text(token),
                allowed=allowed is None or bool(allowed[token]),
                probability=None if probabilities is None else float(probabilities[token]),
            )
            for token in ids
        ]


def _format_file(asked: Asked) -> ChatFormat:
    """The format of a request that brings its file.

    Raises:
        RequestError: `E-REQUEST-FIELD`, there is a name, too.
        FormatError: the file is wrong.
    """
    if asked.format:
        message = "the format is either a name or a file"
        raise RequestError("E-REQUEST-FIELD", message, hint="leave one of the two empty", pointer="/format_file")
    return ChatFormat.from_toml(asked.format_file)


def _response_format(asked: Asked) -> dict[str, Any] | None:
    """The response format of a request, which may be a grammar given as text.

    Raises:
        RequestError: `E-REQUEST-FIELD`, there are both.
    """
    if not asked.grammar.strip():
        return asked.response_format
    if asked.response_format is not None:
        message = "the content has either a response format or a grammar"
        raise RequestError("E-REQUEST-FIELD", message, hint="leave one of the two empty", pointer="/grammar")
    return {"type": "grammar", "grammar": asked.grammar}


def _or_raise(value: T | SyntagmaError) -> T:
    if isinstance(value, SyntagmaError):
        raise value
    return value


def _allowed(matcher: GrammarMatcher, vocab_size: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which tokens may come next, bool [vocab_size]."""
    row = allocate_token_bitmask(1, vocab_size)
    matcher.fill_next_token_bitmask(row)
    return np.asarray(~denied_tokens(row, vocab_size)[0])
