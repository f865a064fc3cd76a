"""The environment of chat templates: the configuration of Hugging Face transformers, in a sandbox, within bounds.

The strict environment behaves like transformers. The lenient one also allows `append` and `pop` on lists, and
generators in `tojson`, which some templates need and other engines allow. Each has a variant for traced renders.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from jinja2 import nodes
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension, LoopControlExtension
from jinja2.lexer import Token, TokenStream
from jinja2.parser import Parser
from jinja2.runtime import Context, LoopContext, markup_join
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Cycler, Joiner, Namespace
from markupsafe import Markup

from syntagma.errors import LimitError
from syntagma.limits import Limits
from syntagma.templates.sandbox.budget import Budget
from syntagma.templates.sandbox.codegen import BoundedCodeGenerator, TracedCodeGenerator
from syntagma.templates.sandbox.filters import bounded_filters, bounded_tests
from syntagma.templates.sandbox.methods import FormatMethod, call_builtin
from syntagma.templates.sandbox.operators import OPERATORS, bounded_operator

__all__ = ["BoundedContext", "BoundedEnvironment", "RaisedByTemplate", "environment"]

_LENIENT_METHODS: Final = frozenset({"append", "pop"})
_MAX_TOKENS: Final = 20_000
_DICT_ATTRIBUTES: Final = frozenset(dir(dict))
_PLAIN: Final = frozenset({bool, int, float, str, list, tuple, dict})
"""types of values that any template may read"""
_MISSING: Final = object()


class RaisedByTemplate(Exception):
    """The template called `raise_exception`."""


class BoundedContext(Context):
    """A context with the budget of its render."""

    budget: Budget

    def derived(self, locals: dict[str, Any] | None = None) -> BoundedContext:
        """A context for an inner scope, with the same budget."""
        context = super().derived(locals)
        assert isinstance(context, BoundedContext)
        context.budget = self.budget
        return context

    def release(self) -> None:
        """Let go of all variables; nothing is rendered after it.

        A macro refers to its context, which refers to the macro. This cycle would keep the messages until the next
        garbage collection.
        """
        self.parent.clear()
        self.vars.clear()


class _GenerationExtension(Extension):
    """`{% generation %}…{% endgeneration %}`, which marks the assistant's text. Its body is rendered unchanged."""

    tags = {"generation"}  # noqa: RUF012 - Jinja declares it as an instance attribute

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body, lineno=line)


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """Jinja's immutable sandbox, with calls and operators that check and charge the budget of the render."""

    intercepted_binops = OPERATORS
    code_generator_class = BoundedCodeGenerator
    context_class = BoundedContext

    def __init__(self, *, lenient: bool, traced: bool) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[LoopControlExtension, _GenerationExtension],
            optimized=False,
            cache_size=0,
        )
        self.lenient = lenient
        if traced:
            self.code_generator_class = TracedCodeGenerator
        self.concat = _joined  # type: ignore[method-assign]
        self.filters = bounded_filters(lenient=lenient)
        self.tests = bounded_tests()  # type: ignore[assignment]
        self.globals = {
            "range": range,
            "dict": dict,
            "cycler": Cycler,
            "joiner": Joiner,
            "namespace": Namespace,
            "raise_exception": _raise_exception,
        }

    def _tokenize(
        self, source: str, name: str | None, filename: str | None = None, state: str | None = None
    ) -> TokenStream:
        stream = super()._tokenize(source, name, filename, state)
        return TokenStream(_counted(stream), name, filename)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """The attribute of a value in a template, or its item.

        Members of messages and variables of namespaces are looked up directly: the general way costs several times as
        much, and templates that search all messages for each one look up little else.
        """
        if type(obj) is dict:
            if attribute not in _DICT_ATTRIBUTES:
                value = obj.get(attribute, _MISSING)
                return value if value is not _MISSING else self.undefined(obj=obj, name=attribute)
            if attribute == "get":
                return obj.get
        elif type(obj) is Namespace and attribute[:1] != "_":
            value = object.__getattribute__(obj, "_Namespace__attrs").get(attribute)
            if type(value) in _PLAIN:
                return value
        return super().getattr(obj, attribute)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Whether a template may read an attribute: not if it is private or changes a value.

        A `mapping` proxy is refused, because it gives access to the dictionary of a view.
        """
        if self.lenient and attr in _LENIENT_METHODS and isinstance(obj, list):
            return True
        if attr == "mapping" and isinstance(value, types.MappingProxyType):
            return False
        return super().is_safe_attribute(obj, attr, value)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """`str.format` and `str.format_map` as a value that only `call` can run."""
        if not isinstance(value, types.MethodType | types.BuiltinMethodType):
            return None
        if value.__name__ not in ("format", "format_map") or not isinstance(value.__self__, str):
            return None
        return FormatMethod(self, value.__self__, mapped=value.__name__ == "format_map")

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """A binary operator within the bounds."""
        assert isinstance(context, BoundedContext)
        return bounded_operator(context.budget, operator, left, right)

    def join_values(self, context: BoundedContext, values: tuple[Any, ...]) -> str:
        """`a ~ b ~ …` within the bounds."""
        budget = context.budget
        parts = [budget.text(value) for value in values]
        escaping = context.eval_ctx.autoescape
        budget.need_chars(sum(map(len, parts)) * (5 if escaping else 1))
        return markup_join(parts) if escaping else budget.joined("", parts)

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """A call in a template. It charges a step and counts as one level of nesting."""
        assert isinstance(context, BoundedContext)
        budget = context.budget
        budget.tick()
        if isinstance(obj, types.BuiltinMethodType):
            _drop_scopes(kwargs)
            if isinstance(obj.__self__, types.ModuleType):
                raise SecurityError(f"templates may not call {obj.__name__}")
            return call_builtin(budget, obj, args, kwargs)
        if isinstance(obj, FormatMethod):
            _drop_scopes(kwargs)
            return obj.run(budget, args, kwargs)
        if obj is range:
            _drop_scopes(kwargs)
            numbers = range(*args, **kwargs)
            budget.need_items(_length(numbers))
            return numbers
        if isinstance(obj, types.MethodType) and isinstance(obj.__self__, LoopContext | Cycler):
            for value in args:
                budget.visit(value)
        budget.enter()
        try:
            result = super().call(context, obj, *args, **kwargs)
        finally:
            budget.leave()
        if isinstance(obj, types.MethodType) and isinstance(obj.__self__, Markup):
            result = budget.derived(result, obj.__name__, obj.__self__, args, kwargs)
        return result if isinstance(result, str) else budget.made(result)


def _counted(stream: TokenStream) -> Iterator[Token]:
    for number, token in enumerate(stream):
        if number >= _MAX_TOKENS:
            raise LimitError(
                "E-LIMIT-TEMPLATE-SOURCE",
                f"the template has more than {_MAX_TOKENS:,} tokens",
                line=token.lineno,
                limit="template_bytes",
                allowed=_MAX_TOKENS,
            )
        yield token


def _joined(pieces: Iterable[str]) -> str:
    # Only `self.block()` and `super()` call this, without a context, so the default bound applies.
    return Budget(Limits()).concat(pieces)


def _drop_scopes(kwargs: dict[str, Any]) -> None:
    kwargs.pop("_loop_vars", None)
    kwargs.pop("_block_vars", None)


def _length(numbers: range) -> int:
    try:
        return len(numbers)
    except OverflowError:
        return 2**63


def _raise_exception(message: Any = "") -> None:
    raise RaisedByTemplate(message)


@functools.cache
def environment(*, lenient: bool, traced: bool = False) -> BoundedEnvironment:
    """The strict or the lenient environment, created once and shared.

    Args:
        lenient: allow `append` and `pop` on lists, and generators in `tojson`.
        traced: generated code reports the template's own texts (`tracing`).
    """
    return BoundedEnvironment(lenient=lenient, traced=traced)
