"""`ChatCodec`: everything between messages and the tokens of one model."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, Unpack

import msgspec

from syntagma.analysis import Analysis, Capabilities, Resolution, Vocabulary, resolve_format
from syntagma.codec.fitting import Fitter
from syntagma.codec.normalise import MessageLike, as_data, calls_in
from syntagma.codec.turn import Turn
from syntagma.entry import entry, options_named, strict_entry
from syntagma.errors import ArgumentError, ArgumentTypeError
from syntagma.formats import ChatFormat
from syntagma.limits import Limits
from syntagma.messages import Tool, ToolLike, refuse_incomplete_calls, tools_from
from syntagma.parsing import Policies, ReadingOptions
from syntagma.request import RequestOptions, ResolvedRequest, resolve_request
from syntagma.templates import ChatTemplate, Prompt, RenderOptions

__all__ = ["ChatCodec"]

History: TypeAlias = Literal["repair", "strict"]


class ChatCodec:
    """A chat template with its format: prompts, grammars and parsers of one model. Immutable; safe for several threads.

    Attributes:
        format: how the model writes.
        template: how prompts are rendered, or None.
        resolution: how sure it is that the model writes the format; None: the format was named.
    """

    @strict_entry
    def __init__(
        self, fmt: ChatFormat, template: ChatTemplate | None = None, capabilities: Capabilities | None = None
    ) -> None:
        self.format = fmt
        self.template = template
        self._given = capabilities
        self._fitter = None if template is None else Fitter(template, fmt, capabilities)
        self.resolution: Resolution | None = None

    def with_limits(self, limits: Limits) -> ChatCodec:
        """The same codec; the bounds hold for every render of its template."""
        template = None if self.template is None else self.template.with_limits(limits)
        made = ChatCodec(self.format, template, self.capabilities)
        made.resolution = self.resolution
        return made

    @property
    def capabilities(self) -> Capabilities:
        """What the template supports and requires, by which steps conversations are fitted to it, and what it loses.

        It is found by renders when it is first read, unless the codec was made from an analysis, which has most of it.
        """
        if self._fitter is not None:
            return self._fitter.capabilities
        return self._given if self._given is not None else Capabilities()

    @classmethod
    def from_template(
        cls,
        template: ChatTemplate,
        analysis: Analysis | None = None,
        *,
        vocabulary: Vocabulary | None = None,
        config: Mapping[str, Any] | None = None,
    ) -> ChatCodec:
        """The codec of a template, with the format that `resolve_format` finds unless the analysis is given.

        Args:
            template: the template.
            analysis: the result of `analyze`, if it is there already.
            vocabulary: the model's, as `resolve_format` takes it.
            config: likewise.

        Raises:
            TemplateError: `E-TEMPLATE-ANALYSIS`, the template cannot be analysed.
        """
        if analysis is None:
            found = resolve_format(template, vocabulary=vocabulary, config=config)
        else:
            found = Resolution.of(analysis)
        codec = cls(found.format, template, found.analysis.capabilities)
        codec.resolution = found
        return codec

    @classmethod
    @entry
    def from_pretrained(cls, directory: str | os.PathLike[str], *, vocabulary: Vocabulary | None = None) -> ChatCodec:
        """The codec of the default template in a model folder.

        Args:
            directory: the folder.
            vocabulary: the model's vocabulary, see `analyze`.

        Raises:
            TemplateError: `E-TEMPLATE-LOAD`, there is no template; `E-TEMPLATE-ANALYSIS`, it cannot be analysed.
        """
        template = ChatTemplate.from_pretrained(directory)
        return cls.from_template(template, vocabulary=vocabulary, config=_config(directory))

    @classmethod
    def from_tokenizer(cls, tokenizer: Any, name: str = "default") -> ChatCodec:
        """The codec of a tokenizer object of Hugging Face transformers: its template with its special tokens.

        Args:
            tokenizer: the object; it is read, and transformers is not imported.
            name: which of several templates; if tools are declared, transformers takes `tool_use`, if there is one.

        Raises:
            ArgumentTypeError: `E-ARGUMENT-TYPE`, the object is not a tokenizer of transformers.
            TemplateError: `E-TEMPLATE-LOAD`, there is no such template; `E-TEMPLATE-ANALYSIS`, it cannot be analysed.
        """
        template = ChatTemplate.from_tokenizer(tokenizer, name)
        added = tokenizer.get_added_vocab() if hasattr(tokenizer, "get_added_vocab") else None
        return cls.from_template(template, vocabulary=added if added is None else list(added))

    @classmethod
    def from_format(cls, fmt: ChatFormat, template: ChatTemplate | None = None) -> ChatCodec:
        """A codec with a known format; the template, if any, is rendered without being analyzed."""
        return cls(fmt, template)

    @options_named
    def render(
        self, messages: Sequence[MessageLike], *, history: History = "repair", **options: Unpack[RenderOptions]
    ) -> Prompt:
        """The prompt, with messages and tools in the form that the template requires.

        Args:
            messages: the conversation: `Message` objects or OpenAI dictionaries.
            history: `repair`: of a call that was cut off, the arguments that were written become an object; `strict`:
                it is refused.
            **options: see `ChatTemplate.render`.

        Raises:
            ArgumentError: `E-CODEC-TEMPLATE`, the codec has no template; `E-TOOL-…` or `E-MESSAGE-…`, a tool or message
                is malformed.
            TemplateError, LimitError: see `ChatTemplate.render`.
        """
        return self._rendered(messages, tools_from(options.pop("tools", None)), history, options)

    def _rendered(
        self,
        messages: Sequence[MessageLike],
        tools: tuple[Tool, ...] | None,
        history: History,
        options: RenderOptions,
    ) -> Prompt:
        """The prompt. The tools are already read and not part of `options`."""
        if self._fitter is None:
            raise ArgumentError("E-CODEC-TEMPLATE", "the codec has no template")
        if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
            raise ArgumentTypeError("E-MESSAGE-LIST", f"messages must be a list, not {type(messages).__name__}")
        if history not in ("repair", "strict"):
            message = f'history is "repair" or "strict", not {history!r}'
            raise ArgumentError("E-ARGUMENT-VALUE", message, pointer="/history")
        if history == "strict":
            refuse_incomplete_calls(messages)
        tell = self._fitter.tell_completed if history == "repair" else None
        data = [_as_data(message, at, tell) for at, message in enumerate(messages)]
        return self._fitter.render(data, [tool.to_openai() for tool in tools or ()], options)

    @options_named
    def prepare(
        self,
        messages: Sequence[MessageLike],
        *,
        tools: Sequence[ToolLike] | None = None,
        documents: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = True,
        continue_final_message: bool = False,
        now: datetime.date | None = None,
        history: History = "repair",
        stream_reasoning: bool = True,
        policies: Policies | None = None,
        id_seed: str | None = None,
        strict: bool = False,
        **asked: Unpack[RequestOptions],
    ) -> Turn:
        """Prepare one turn. The request is checked here; the grammar is built when `Turn.grammar` is first read.

        Args:
            messages: the conversation; `Message`s or OpenAI dictionaries.
            tools: the declared tools; they are in the prompt for every `tool_choice`. None: undeclared; an empty
                list: none, so no call is allowed or read. See the table in `syntagma.request`.
            documents: for templates that quote documents.
            add_generation_prompt: open the assistant's turn at the end of the prompt.
            continue_final_message: let the model continue the final message.
            now: the clock of the template's `strftime_now`.
            history: as for `render`.
            stream_reasoning: False: the parser reports reasoning in one piece, when it is complete.
            policies: choices of the parser where several are right; None: the defaults.
            id_seed: seed for the ids of calls that have none; None: random.
            strict: the parser raises at the first malformed text instead of recovering.
            **asked: `tool_choice`, `parallel_tool_calls`, `response_format`, `reasoning`, `reasoning_format`,
                `enforce`, `budgets`, `template_kwargs`, `history_calls` (by default the calls of `messages`) and
                `limits`; see `syntagma.request.RequestOptions`. A turn with budgets always has a grammar. If the
                template renders at most one call per message, as `capabilities` says, the turn has no more, even with
                `parallel_tool_calls=True`: the next prompt could not be rendered.

        Raises:
            RequestError: `E-REQUEST-TOOL-CHOICE` or `E-REQUEST-RESPONSE-FORMAT`, the option is invalid.
            ArgumentError: `E-CODEC-TEMPLATE`, the codec has no template; `E-TOOL-…` or `E-MESSAGE-…`, a tool or message
                is malformed; `E-ARGUMENT-REASONING` or `E-ARGUMENT-REASONING-FORMAT`, the option is invalid.
            LimitError: `E-LIMIT-TOOLS`, there are too many tools; or see `ChatTemplate.render`.
            TemplateError: see `ChatTemplate.render`.
        """
        reading = ReadingOptions(
            id_seed=id_seed, stream_reasoning=stream_reasoning, policies=policies or Policies(), strict=strict
        )
        return self.prepare_request(
            messages,
            resolve_request(tools, **asked),
            reading=reading,
            history=history,
            documents=documents,
            add_generation_prompt=add_generation_prompt,
            continue_final_message=continue_final_message,
            now=now,
        )

    @options_named
    def prepare_request(
        self,
        messages: Sequence[MessageLike],
        request: ResolvedRequest,
        *,
        reading: ReadingOptions = ReadingOptions(),  # noqa: B008  # frozen
        history: History = "repair",
        **options: Unpack[RenderOptions],
    ) -> Turn:
        """Prepare one turn for a resolved request.

        Args:
            messages: the conversation; `Message`s or OpenAI dictionaries.
            request: the resolved request; its tools and template variables are rendered. Several calls are allowed
                only if the template can render them.
            reading: how the turn's parsers read.
            history: as for `render`.
            **options: as for `ChatTemplate.render`.

        Raises:
            ArgumentError: `E-CODEC-TEMPLATE`, the codec has no template; `E-MESSAGE-…`, a message is malformed.
            TemplateError, LimitError: see `ChatTemplate.render`.
        """
        if self._given is not None and self._given.single_tool_calls:
            request = msgspec.structs.replace(request, parallel_tool_calls=False)
        options["template_kwargs"] = request.template_kwargs
        prompt = self._rendered(messages, request.tools, history, options)
        if request.history_calls is None:
            request = msgspec.structs.replace(request, history_calls=calls_in(messages))
        return Turn(prompt, self.format, request, reading)


def _config(directory: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The model's configuration in a folder; None if there is none, or it cannot be read."""
    try:
        found = msgspec.json.decode((Path(directory) / "config.json").read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _as_data(message: MessageLike, at: int, tell: Callable[[str], None] | None) -> dict[str, Any]:
    """The message at index `at` as a dictionary; `tell` gets the pointer of each call that was cut off."""
    completed = None if tell is None else lambda call: tell(f"/messages/{at}/tool_calls/{call}")
    try:
        return as_data(message, completed=completed)
    except ArgumentError as error:
        error.pointer = f"/messages/{at}{error.pointer or ''}"
        raise
