"""`ChatTemplate`: messages in, prompt out."""

from __future__ import annotations

import copy
import datetime
import os
from collections.abc import Mapping, Sequence
from typing import Any, Final, Unpack

import jinja2
import msgspec

from syntagma.entry import entry, options_named
from syntagma.errors import ArgumentError, ArgumentTypeError, SyntagmaError, TemplateError
from syntagma.limits import Limits
from syntagma.messages import Message, refuse_incomplete_calls
from syntagma.templates.loading import Loaded, read_folder, read_gguf, read_text, read_tokenizer
from syntagma.templates.prompt import Prompt
from syntagma.templates.render_options import RenderOptions
from syntagma.templates.rendering import Rendering
from syntagma.templates.sandbox import (
    BoundedContext,
    Budget,
    TracingBudget,
    compiled,
    encodable,
    environment,
    limit_error,
    nesting_error,
    output_error,
    plain_data,
    render_error,
    traced_variables,
)

__all__ = ["ChatTemplate"]

_ARGUMENTS: Final = frozenset({"messages", "tools", "documents", "add_generation_prompt", "continue_final_message"})
_LISTS: Final = ("messages", "tools", "documents")
_HELPERS: Final = frozenset({"raise_exception", "strftime_now", "tojson", "bos_token", "eos_token"})
_MAX_CLOCK_FORMAT_CHARS: Final = 1024
_TRACED: Final = 10


class ChatTemplate:
    """A chat template of a model, rendered within bounds, with the results of Hugging Face transformers.

    Immutable; safe for several threads.

    Attributes:
        source: the Jinja text.
        name: the template's name in its model (`default`, `tool_use`), or its file's path; None if it has neither.
        bos_token: text of the token that begins a sequence; the template's variable of this name.
        eos_token: text of the token that ends a turn.
        special_tokens: further special tokens that the template may name, such as `unk_token`.
        limits: the bounds on every render.
    """

    def __init__(
        self,
        source: str,
        bos_token: str = "",
        eos_token: str = "",
        special_tokens: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        *,
        name: str | None = None,
    ) -> None:
        """Read a template.

        Raises:
            ArgumentTypeError: `E-TEMPLATE-SOURCE`, the source is not a string.
            TemplateError: `E-TEMPLATE-SYNTAX`, the source is not a Jinja template; with line and excerpt.
            LimitError: `E-LIMIT-TEMPLATE-SOURCE` or `E-LIMIT-TEMPLATE-NESTING`, the source is too long or too deep.
        """
        if not isinstance(source, str):
            raise ArgumentTypeError("E-TEMPLATE-SOURCE", f"a template must be a string, not {type(source).__name__}")
        self._limits = limits if limits is not None else Limits()
        size = len(source) if source.isascii() else len(source.encode("utf-8", "replace"))
        if size > self._limits.template_bytes:
            message = f"the template has {size:,} bytes; at most {self._limits.template_bytes:,} are allowed"
            raise limit_error(self._limits, "template_bytes", message, given=size)
        try:
            self._compiled = compiled(source)
        except SyntagmaError as error:
            error.source = name
            raise
        if self._compiled.nesting > self._limits.template_nesting:
            raise nesting_error(self._limits, "blocks of the template")
        self._name = name
        self._tokens = {str(key): str(text) for key, text in (special_tokens or {}).items()}
        self._bos_token = bos_token
        self._eos_token = eos_token
        self._reserved = _ARGUMENTS | _HELPERS | self._tokens.keys() | environment(lenient=False).globals.keys()
        self._lenient = False
        self._omit_none = False

    # -- where templates come from

    @classmethod
    @entry
    def from_file(cls, path: str | os.PathLike[str], **tokens: Any) -> ChatTemplate:
        """The template in a `.jinja` file. `tokens` are further arguments of the constructor.

        Raises:
            TemplateError: `E-TEMPLATE-LOAD`, the file cannot be read; or an error of the constructor.
        """
        limits = tokens.get("limits") or Limits()
        return cls(read_text(path, limits), **{"name": os.fspath(path), **tokens})

    @classmethod
    @entry
    def from_pretrained(
        cls, directory: str | os.PathLike[str], name: str = "default", limits: Limits | None = None
    ) -> ChatTemplate:
        """The template `name` of a model folder, with the folder's special tokens.

        Raises:
            TemplateError: `E-TEMPLATE-LOAD`, there is no such template, with the names that exist; or an error of the
                constructor.
        """
        return cls._from_loaded(read_folder(directory, name, limits or Limits()), name, limits)

    @classmethod
    @entry
    def from_gguf(
        cls, path: str | os.PathLike[str], name: str = "default", limits: Limits | None = None
    ) -> ChatTemplate:
        """The template `name` in the metadata of a GGUF file, with its special tokens.

        Raises:
            TemplateError: `E-TEMPLATE-LOAD`, there is no such template; or an error of the constructor.
            ModelError: `E-MODEL-GGUF`, the file is damaged.
        """
        return cls._from_loaded(read_gguf(path, name), name, limits)

    @classmethod
    def from_tokenizer(cls, tokenizer: Any, name: str = "default", limits: Limits | None = None) -> ChatTemplate:
        """The template `name` of a tokenizer object of Hugging Face transformers, with its special tokens.

        Args:
            tokenizer: the object. Its attributes are read; transformers is not imported.
            name: the template's name. transformers uses `tool_use`, if it exists, when tools are declared.
            limits: the bounds on every render.

        Raises:
            ArgumentTypeError: `E-ARGUMENT-TYPE`, the object is not a tokenizer of transformers.
            TemplateError: `E-TEMPLATE-LOAD`, there is no such template, with the names that exist; or an error of the
                constructor.
        """
        return cls._from_loaded(read_tokenizer(tokenizer, name), name, limits)

    @classmethod
    def _from_loaded(cls, loaded: Loaded, name: str, limits: Limits | None) -> ChatTemplate:
        return cls(loaded.source, loaded.bos_token, loaded.eos_token, loaded.special_tokens, limits, name=name)

    def with_limits(self, limits: Limits) -> ChatTemplate:
        """The same template under other bounds on every render."""
        made = copy.copy(self)
        made._limits = limits
        return made

    # -- what is known without rendering

    @property
    def source(self) -> str:
        """The Jinja text."""
        return self._compiled.source

    @property
    def name(self) -> str | None:
        """The template's name in its model, the path of its file, or None."""
        return self._name

    @property
    def bos_token(self) -> str:
        """Text of the token that begins a sequence."""
        return self._bos_token

    @property
    def eos_token(self) -> str:
        """Text of the token that ends a turn."""
        return self._eos_token

    @property
    def special_tokens(self) -> dict[str, str]:
        """A copy of the further special tokens, by the name of the template's variable."""
        return dict(self._tokens)

    @property
    def limits(self) -> Limits:
        """The bounds on every render."""
        return self._limits

    def undeclared_variables(self) -> frozenset[str]:
        """Names that the template reads and does not set: candidates for `template_kwargs`.

        Reserved names, which include the special tokens, are left out.
        """
        return self._compiled.undeclared - self._reserved

    def switch_values(self) -> dict[str, tuple[Any, ...]]:
        """The undeclared variables that a caller may set to change the prompt.

        Each has the strings, numbers and booleans with which the template compares it, in the template's order.
        """
        known = self._compiled.switch_values
        return {name: values for name, values in known.items() if name not in self._reserved}

    def string_literals(self) -> tuple[str, ...]:
        """Every string constant of the template's expressions, once, in the order of first appearance."""
        return self._compiled.string_literals

    def reserved_names(self) -> frozenset[str]:
        """Names that `template_kwargs` may not contain."""
        return self._reserved

    def __repr__(self) -> str:
        name = f" {self._name!r}" if self._name else ""
        return f"<ChatTemplate{name}, {len(self.source):,} characters>"

    # -- variants

    def variant(
        self,
        *,
        lenient: bool | None = None,
        omit_none: bool | None = None,
        bos_token: str | None = None,
        eos_token: str | None = None,
        limits: Limits | None = None,
    ) -> ChatTemplate:
        """The same template with other settings. None keeps a setting. The compiled template is shared.

        Args:
            lenient: allow `append` and `pop` on lists, and generators in `tojson`; transformers refuses both.
            omit_none: leave `tools` and `documents` undefined if they are None; transformers defines them as None.
            bos_token: text of the token that begins a sequence.
            eos_token: text of the token that ends a turn.
            limits: the bounds on every render.
        """
        other = ChatTemplate(
            self.source,
            self._bos_token if bos_token is None else bos_token,
            self._eos_token if eos_token is None else eos_token,
            self._tokens,
            limits or self._limits,
            name=self._name,
        )
        other._lenient = self._lenient if lenient is None else lenient
        other._omit_none = self._omit_none if omit_none is None else omit_none
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        # Code objects cannot be pickled; the source is compiled again.
        own = (self.source, self._bos_token, self._eos_token, self._tokens, self._limits)
        return _rebuild, (own, self._name, self._lenient, self._omit_none)

    # -- rendering

    @options_named
    def render(self, messages: Sequence[Message | Mapping[str, Any]], **options: Unpack[RenderOptions]) -> Prompt:
        """The prompt for these messages.

        It is a string that also knows where the assistant's turn begins, and the origin of each part. Both are computed
        when they are first read, by one to three further renders.

        Args:
            messages: the messages. Dictionaries are passed to the template unchanged, a `Message` as its OpenAI
                dictionary.
            **options: see `RenderOptions`.

        Raises:
            TemplateError: `E-TEMPLATE-RESERVED`, a reserved name in `template_kwargs`; `E-TEMPLATE-RAISED`, the
                template refuses the messages; `E-TEMPLATE-UNDEFINED`, `-TYPE`, `-SECURITY` or `-RUNTIME`, the template
                fails, with the line; `E-TEMPLATE-CONTINUE`, the final message cannot be continued.
            LimitError: `E-LIMIT-TEMPLATE-…`, the render exceeds a limit.
            ArgumentError: `E-MESSAGE-INCOMPLETE`, a message has a call that was cut off.
            ArgumentTypeError: `E-TEMPLATE-VALUE`, an argument is not plain data.
        """
        options["now"] = options.get("now") or datetime.datetime.now()
        variables = self._variables(messages, options)
        continued = bool(options.get("continue_final_message", False))
        add_generation_prompt = not continued and bool(options.get("add_generation_prompt", True))
        rendering = Rendering(
            render=self._run,
            render_traced=self._run_traced,
            variables={**variables, "add_generation_prompt": add_generation_prompt},
            continued=continued,
        )
        return Prompt.rendered(rendering)

    def _variables(self, messages: Any, options: RenderOptions) -> dict[str, Any]:
        """The template's variables, as plain data, without `add_generation_prompt`."""
        unknown = options.keys() - RenderOptions.__optional_keys__
        if unknown:
            raise TypeError(f"render() got an unexpected keyword argument {min(unknown)!r}")
        tools, documents = options.get("tools"), options.get("documents")
        template_kwargs = options.get("template_kwargs") or {}
        for name, value in (("messages", messages), ("tools", tools), ("documents", documents)):
            if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence | None):
                raise ArgumentTypeError(
                    "E-TEMPLATE-VALUE", f"{name} must be a list, not {type(value).__name__}", pointer=f"/{name}"
                )
        refuse_incomplete_calls(messages)
        for name in template_kwargs:
            if name in self._reserved:
                raise TemplateError(
                    "E-TEMPLATE-RESERVED",
                    f"{name!r} is reserved",
                    hint="set it by the argument of the same name, or by the template's tokens",
                    pointer=f"/template_kwargs/{name}",
                )
        given = {"messages": messages, "tools": tools, "documents": documents, "template_kwargs": template_kwargs}
        data = plain_data(given, self._limits)
        variables: dict[str, Any] = {**self._tokens, "bos_token": self._bos_token, "eos_token": self._eos_token}
        variables |= data.pop("template_kwargs")
        variables |= {key: value for key, value in data.items() if value is not None or not self._omit_none}
        variables["strftime_now"] = _Clock(options.get("now"))
        return variables

    def _run(self, variables: Mapping[str, Any]) -> str:
        template = self._compiled.lenient if self._lenient else self._compiled.strict
        own = dict(variables)
        if self._lenient:
            # A lenient template may change its lists, and later renders need them unchanged.
            own |= {name: plain_data(own[name], self._limits) for name in _LISTS if name in own}
        return self._written(template, Budget(self._limits, own["messages"]), own)

    def _run_traced(self, variables: Mapping[str, Any]) -> str:
        tokens = {*self._tokens, "bos_token", "eos_token"}
        # Tracing takes a small multiple of the time, and must not fail for a prompt that was rendered before.
        limits = msgspec.structs.replace(self._limits, template_seconds=_TRACED * self._limits.template_seconds)
        template = self._compiled.lenient_traced if self._lenient else self._compiled.strict_traced
        budget = TracingBudget(limits, variables["messages"])
        return self._written(template, budget, traced_variables(variables, tokens))

    def _written(self, template: jinja2.Template, budget: Budget, variables: dict[str, Any]) -> str:
        """The text that the template renders with these variables."""
        max_chars = self._limits.template_output_bytes
        context = template.new_context(variables)
        assert isinstance(context, BoundedContext)
        context.budget = budget
        pieces: list[str] = []
        chars = 0
        try:
            for piece in template.root_render_func(context):
                pieces.append(piece)
                chars += len(piece)
                if chars > max_chars:
                    raise output_error(self._limits, chars)
        except Exception as error:
            failure = render_error(error, self.source, template.debug_info)
            failure.source = self._name
            if failure is error:
                raise
            raise failure from (None if isinstance(error, SyntagmaError) else error)
        finally:
            context.release()
        return encodable(budget.output(pieces))


def _rebuild(own: tuple[Any, ...], name: str | None, lenient: bool, omit_none: bool) -> ChatTemplate:
    return ChatTemplate(*own, name=name).variant(lenient=lenient, omit_none=omit_none)


class _Clock:
    """`strftime_now` of one render."""

    def __init__(self, now: datetime.date | None) -> None:
        if now is not None and not isinstance(now, datetime.date):
            raise ArgumentError("E-TEMPLATE-VALUE", "now must be a date or a datetime", pointer="/now")
        self._now = now

    def __call__(self, form: str) -> str:
        if len(form) > _MAX_CLOCK_FORMAT_CHARS:
            raise ValueError(f"a clock format has at most {_MAX_CLOCK_FORMAT_CHARS:,} characters")
        now = self._now if self._now is not None else datetime.datetime.now()
        return now.strftime(form)
