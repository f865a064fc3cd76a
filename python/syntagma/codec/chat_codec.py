"""`ChatCodec`: everything between messages and the tokens of one model."""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import msgspec

from syntagma.analysis import Analysis, Capabilities, Resolution, Vocabulary, resolve_format
from syntagma.codec.normalise import MessageLike, calls_in, message_for_template, with_call_ids
from syntagma.codec.turn import Turn
from syntagma.entry import entry
from syntagma.errors import ArgumentError, ArgumentTypeError, TemplateError
from syntagma.formats import ChatFormat
from syntagma.messages import Tool, ToolLike, refuse_incomplete_calls, tools_from
from syntagma.parsing import Policies, ReadingOptions
from syntagma.request import RequestOptions, ResolvedRequest, resolve_request
from syntagma.templates import ChatTemplate, Prompt, RenderOptions

__all__ = ["ChatCodec"]


class ChatCodec:
    """A chat template with its format: prompts, grammars and parsers of one model. Immutable; safe for several threads.

    Attributes:
        format: how the model writes.
        template: how prompts are rendered, or None.
        capabilities: what the template supports and requires.
        resolution: how sure it is that the model writes the format; None: the format was named.
    """

    def __init__(
        self, fmt: ChatFormat, template: ChatTemplate | None = None, capabilities: Capabilities | None = None
    ) -> None:
        self.format = fmt
        self.template = template
        self.capabilities = capabilities if capabilities is not None else Capabilities()
        self.resolution: Resolution | None = None

    @classmethod
    @entry
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
    @entry
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

    @entry
    def render(self, messages: Sequence[MessageLike], **options: Unpack[RenderOptions]) -> Prompt:
        """The prompt, with messages and tools in the form that the template requires.

        Args:
            messages: the conversation: `Message` objects or OpenAI dictionaries.
            **options: see `ChatTemplate.render`.

        Raises:
            ArgumentError: `E-CODEC-TEMPLATE`, the codec has no template; `E-TOOL-…` or `E-MESSAGE-…`, a tool or message
                is malformed.
            TemplateError, LimitError: see `ChatTemplate.render`.
        """
        return self._rendered(messages, tools_from(options.pop("tools", None)), options)

    def _rendered(
        self, messages: Sequence[MessageLike], tools: tuple[Tool, ...] | None, options: RenderOptions
    ) -> Prompt:
        """The prompt. The tools are already read and not part of `options`."""
        if self.template is None:
            raise ArgumentError("E-CODEC-TEMPLATE", "the codec has no template")
        if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
            raise ArgumentTypeError("E-MESSAGE-LIST", f"messages must be a list, not {type(messages).__name__}")
        refuse_incomplete_calls(messages)
        wants = self.capabilities
        declared: list[dict[str, Any]] | None = [tool.to_openai() for tool in tools or ()]
        if not declared and wants.no_tools in ("none", "undefined"):
            declared = None
        template = self.template.variant(lenient=wants.lenient, omit_none=wants.no_tools == "undefined")
        prepared = [_prepared(message, wants, at) for at, message in enumerate(messages)]
        if wants.needs_system and not any(message.get("role") == "system" for message in prepared):
            prepared.insert(0, {"role": "system", "content": ""})
        named = {} if wants.tools_variable is None or declared is None else {wants.tools_variable: declared}
        variables = {**wants.variables, **named, **(options.get("template_kwargs") or {})}
        whole: RenderOptions = {**options, "tools": declared, "template_kwargs": variables}
        try:
            return template.render(prepared, **whole)
        except TemplateError as refusal:
            # Some templates reject call ids of another form, such as those of another model.
            if refusal.code != "E-TEMPLATE-RAISED" or not any(message.get("tool_calls") for message in prepared):
                raise
            try:
                return template.render(with_call_ids(prepared, wants.call_id_form), **whole)
            except TemplateError:
                raise refusal from None

    @entry
    def prepare(
        self,
        messages: Sequence[MessageLike],
        *,
        tools: Sequence[ToolLike] | None = None,
        documents: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = True,
        continue_final_message: bool = False,
        now: datetime.date | None = None,
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
            documents=documents,
            add_generation_prompt=add_generation_prompt,
            continue_final_message=continue_final_message,
            now=now,
        )

    @entry
    def prepare_request(
        self,
        messages: Sequence[MessageLike],
        request: ResolvedRequest,
        *,
        reading: ReadingOptions = ReadingOptions(),  # noqa: B008  # frozen
        **options: Unpack[RenderOptions],
    ) -> Turn:
        """Prepare one turn for a resolved request.

        Args:
            messages: the conversation; `Message`s or OpenAI dictionaries.
            request: the resolved request; its tools and template variables are rendered. Several calls are allowed
                only if the template can render them.
            reading: how the turn's parsers read.
            **options: as for `ChatTemplate.render`.

        Raises:
            ArgumentError: `E-CODEC-TEMPLATE`, the codec has no template; `E-MESSAGE-…`, a message is malformed.
            TemplateError, LimitError: see `ChatTemplate.render`.
        """
        if self.capabilities.single_tool_calls:
            request = msgspec.structs.replace(request, parallel_tool_calls=False)
        options["template_kwargs"] = request.template_kwargs
        prompt = self._rendered(messages, request.tools, options)
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


def _prepared(message: MessageLike, wants: Capabilities, at: int) -> dict[str, Any]:
    """The message at index `at`, in the form that the template needs."""
    try:
        return message_for_template(message, wants)
    except ArgumentError as error:
        error.pointer = f"/messages/{at}{error.pointer or ''}"
        raise
