"""`TemplateTester`: checks the expectations of a chat template's author about a turn."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack

from syntagma.analysis import analyze
from syntagma.codec import ChatCodec, Turn
from syntagma.codec.normalise import MessageLike
from syntagma.decoding import GrammarCompiler, GrammarMatcher
from syntagma.decoding.byte_vocabulary import byte_vocabulary
from syntagma.entry import strict_entry
from syntagma.errors import ArgumentError, ArgumentTypeError, TemplateTestError
from syntagma.formats import ChatFormat
from syntagma.messages import Message, ToolLike
from syntagma.request import RequestOptions
from syntagma.templates import ChatTemplate

__all__ = ["TemplateTester"]

_QUESTION = {"role": "user", "content": "Is the tea ready?"}
_RANDOM_CHUNKINGS = 5
_MAX_CHUNK = 7
_MAX_CUT = 2_000
"""outputs of up to this many code points are cut at every place, longer ones at this many places"""
_SHOWN = 60
"""number of code points of a text that an error shows"""


class TemplateTester:
    """Expectations about one turn of a chat template. Immutable: each method returns a tester with one more setting.

        TemplateTester(template).tools([tool]).expect({"role": "assistant", "content": "Yes."}).check()

    Without `output`, the model's output is the template's render of the expected message.

    Args:
        template: the template, or its source.
        fmt: the format of the model's output; None: derived by `syntagma.analyze`.

    Raises:
        TemplateError, LimitError: the template cannot be read or analysed.
    """

    __slots__ = ("_codec", "_expected", "_grammar", "_messages", "_options", "_output", "_tools")

    @strict_entry
    def __init__(self, template: ChatTemplate | str, fmt: ChatFormat | None = None) -> None:
        if isinstance(template, str):
            template = ChatTemplate(template)
        if not isinstance(template, ChatTemplate):
            kind = type(template).__name__
            raise ArgumentTypeError("E-ARGUMENT-TEMPLATE", f"template must be a template or its source, not {kind}")
        analysis = analyze(template, certify=fmt is None)
        self._codec = ChatCodec(analysis.format if fmt is None else fmt, template, analysis.capabilities)
        self._messages: tuple[MessageLike, ...] = (_QUESTION,)
        self._tools: tuple[ToolLike, ...] | None = None
        self._options: RequestOptions = {}
        self._output: str | None = None
        self._expected: Message | None = None
        self._grammar = True

    def _with(self, **changed: Any) -> TemplateTester:
        other = object.__new__(TemplateTester)
        for name in TemplateTester.__slots__:
            setattr(other, name, changed.get(name, getattr(self, name)))
        return other

    @strict_entry
    def messages(self, messages: Sequence[MessageLike]) -> TemplateTester:
        """Set the conversation before the turn. Default: one question of a user."""
        return self._with(_messages=tuple(messages))

    @strict_entry
    def tools(self, tools: Sequence[ToolLike] | None) -> TemplateTester:
        """Set the declared tools. Default: undeclared."""
        return self._with(_tools=None if tools is None else tuple(tools))

    @strict_entry
    def request(self, **options: Unpack[RequestOptions]) -> TemplateTester:
        """Add options of the request.

        Args:
            **options: see `syntagma.request.RequestOptions`.
        """
        return self._with(_options={**self._options, **options})

    def output(self, text: str) -> TemplateTester:
        """Set the model's output after the prompt."""
        if not isinstance(text, str):
            message = f"text must be a string, not {type(text).__name__}"
            raise ArgumentTypeError("E-ARGUMENT-TYPE", message, pointer="/text")
        return self._with(_output=text)

    def expect(self, message: Message | Mapping[str, Any]) -> TemplateTester:
        """Set the expected message, also as an OpenAI dictionary. Call ids are compared if they are not empty."""
        return self._with(_expected=message if isinstance(message, Message) else Message.from_openai(message))

    def without_grammar(self) -> TemplateTester:
        """Skip the check by the grammar, for outputs that the parser reads but the grammar should not allow."""
        return self._with(_grammar=False)

    def check(self) -> Message:
        """Parse the output whole, by characters, cut at every place and at random; and match it with the grammar.

        Returns:
            The parsed message.

        Raises:
            TemplateTestError: `E-TEST-TEMPLATE`, the message is not as expected or differs between chunkings, the
                grammar rejects the output, or the template does not continue its own prompt. It is an `AssertionError`.
            ArgumentError: `E-ARGUMENT-VALUE`, neither an output nor an expected message is set.
            SyntagmaError: see `ChatCodec.prepare`.
        """
        turn = self._codec.prepare(self._messages, tools=self._tools, id_seed="test", **self._options)
        output = self._rendered(turn) if self._output is None else self._output
        read = _read(turn, [output])
        if self._expected is not None:
            _compare(read, self._expected, output)
        for chunks in _chunkings(output):
            other = _read(turn, chunks)
            if other != read:
                raise _failure(
                    f"in the chunks {_shown(chunks)} the message is {_plain(other)}, in one chunk {_plain(read)}"
                )
        if self._grammar and turn.grammar is not None:
            self._ask_grammar(turn, output)
        return read

    def _rendered(self, turn: Turn) -> str:
        """The template's render of the expected message after the prompt."""
        if self._expected is None:
            raise ArgumentError("E-ARGUMENT-VALUE", "nothing to check: give `output` or `expect` first")
        options = {name: value for name, value in self._options.items() if name == "template_kwargs"}
        messages = [*self._messages, self._expected]
        whole = str(self._codec.render(messages, tools=self._tools, add_generation_prompt=False, **options))  # type: ignore[arg-type]
        prompt = str(turn.prompt)
        if not whole.startswith(prompt):
            at = next(
                (i for i, (one, other) in enumerate(zip(whole, prompt, strict=False)) if one != other), len(whole)
            )
            raise _failure(
                f"the render of the whole conversation does not begin with the prompt: at {at}, "
                f"{whole[at : at + _SHOWN]!r} instead of {prompt[at : at + _SHOWN]!r}",
                hint="give `output`: the template renders this turn differently than its prompt begins it",
            )
        return self._without_end(whole[len(prompt) :])

    def _without_end(self, text: str) -> str:
        end = self._codec.format.spec.written_end
        return text[: len(text) - len(end)] if end and text.endswith(end) else text

    def _ask_grammar(self, turn: Turn, output: str) -> None:
        assert turn.grammar is not None
        matcher = GrammarMatcher(GrammarCompiler(byte_vocabulary()).compile(turn.grammar))
        data = self._without_end(output).encode()
        for at in range(len(data)):
            if not matcher.accept_bytes(data[at : at + 1]):
                raise _failure(
                    f"the grammar rejects the output after {data[:at].decode(errors='ignore')[-_SHOWN:]!r}, "
                    f"at {data[at : at + _SHOWN].decode(errors='ignore')!r}",
                    hint="if the grammar should not allow this output, use `without_grammar()`",
                )
        if not matcher.is_accepting():
            raise _failure("the grammar does not allow the output to end here", hint="is a closer missing?")


def _read(turn: Turn, chunks: Sequence[str]) -> Message:
    parser = turn.parser()
    for chunk in chunks:
        parser.feed(chunk)
    parser.finish()
    return parser.message


def _chunkings(text: str) -> Iterator[list[str]]:
    """One character at a time, two pieces cut at every place, and random pieces."""
    yield list(text)
    step = max(1, len(text) // _MAX_CUT)
    for at in range(1, len(text), step):
        yield [text[:at], text[at:]]
    for seed in range(_RANDOM_CHUNKINGS):
        source, chunks, at = random.Random(seed), [], 0
        while at < len(text):
            size = source.randint(1, _MAX_CHUNK)
            chunks.append(text[at : at + size])
            at += size
        yield chunks


def _compare(read: Message, expected: Message, output: str) -> None:
    """Raise for the first field that is not as expected. Whitespace at the ends of texts is ignored."""
    pairs: list[tuple[str, Any, Any]] = [
        ("reasoning_content", (read.reasoning_content or "").strip(), (expected.reasoning_content or "").strip()),
        ("content", _text(read.content).strip(), _text(expected.content).strip()),
        ("the number of calls", len(read.tool_calls), len(expected.tool_calls)),
    ]
    for at, (one, other) in enumerate(zip(read.tool_calls, expected.tool_calls, strict=False)):
        pairs += [
            (f"the name of call {at}", one.name, other.name),
            (f"the arguments of call {at}", _decoded(one.arguments), _decoded(other.arguments)),
            (f"the id of call {at}", one.id if other.id else "", other.id),
        ]
    for what, found, wanted in pairs:
        if found != wanted or type(found) is not type(wanted):
            raise _failure(f"{what}: {found!r} instead of {wanted!r}, parsed from {output!r}")
    if read.incomplete != expected.incomplete:
        raise _failure(f"the message is {'' if read.incomplete else 'not '}incomplete, parsed from {output!r}")


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "" if content is None else json.dumps(content)


def _decoded(arguments: str) -> Any:
    """Arguments as sorted JSON text, in which numbers and booleans differ; unchanged if they are not JSON."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except ValueError:
        return arguments


def _shown(chunks: Sequence[str]) -> str:
    return repr(chunks if len(chunks) <= 2 else [*chunks[:2], "..."])


def _plain(message: Message) -> str:
    return repr(message.to_openai())


def _failure(message: str, *, hint: str | None = None) -> TemplateTestError:
    return TemplateTestError("E-TEST-TEMPLATE", message, hint=hint)
