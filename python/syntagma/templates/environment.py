"""The environment in which chat templates run: Hugging Face transformers' configuration, in a sandbox, within bounds.

Two of them exist in a process: the strict one behaves as transformers does; the lenient one also lets templates append
to lists, take from them, and write generators as JSON, which some templates need and other engines allow.
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
from jinja2.runtime import Context, LoopContext, markup_join, str_join
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Cycler, Joiner, Namespace

from syntagma.errors import LimitError
from syntagma.limits import Limits
from syntagma.templates import operators
from syntagma.templates.budget import Budget
from syntagma.templates.codegen import BoundedCodeGenerator
from syntagma.templates.filters import bounded_filters, bounded_tests
from syntagma.templates.methods import FormatMethod, call_builtin

__all__ = ["BoundedContext", "BoundedEnvironment", "RaisedByTemplate", "environment"]

_LENIENT_METHODS: Final = frozenset({"append", "pop"})
_MOST_TOKENS: Final = 20_000


class RaisedByTemplate(Exception):
    """The template called `raise_exception`."""


class BoundedContext(Context):
    """A context that carries the account of its render."""

    budget: Budget

    def derived(self, locals: dict[str, Any] | None = None) -> BoundedContext:
        """A context for an inner scope, on the same account."""
        context = super().derived(locals)
        assert isinstance(context, BoundedContext)
        context.budget = self.budget
        return context


class _GenerationExtension(Extension):
    """`{% generation %}…{% endgeneration %}` marks what the assistant wrote; its body is rendered as it is."""

    tags = {"generation"}  # noqa: RUF012 - Jinja declares it as an instance attribute

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body, lineno=line)


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """Jinja's immutable sandbox; everything that can grow asks the account of the render first."""

    intercepted_binops = operators.OPERATORS
    code_generator_class = BoundedCodeGenerator
    context_class = BoundedContext

    def __init__(self, *, lenient: bool) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[LoopControlExtension, _GenerationExtension],
            optimized=False,
            cache_size=0,
        )
        self.lenient = lenient
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

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """What a template may reach: nothing private, nothing that changes a value, no back doors of views."""
        if self.lenient and attr in _LENIENT_METHODS and isinstance(obj, list):
            return True
        if attr == "mapping" and isinstance(value, types.MappingProxyType):
            return False
        return super().is_safe_attribute(obj, attr, value)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """`format` and `format_map` of strings, held until the call."""
        if not isinstance(value, types.MethodType | types.BuiltinMethodType):
            return None
        if value.__name__ not in ("format", "format_map") or not isinstance(value.__self__, str):
            return None
        return FormatMethod(self, value.__self__, mapped=value.__name__ == "format_map")

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """A binary operator within the bounds."""
        assert isinstance(context, BoundedContext)
        return operators.apply(context.budget, operator, left, right)

    def join_values(self, context: BoundedContext, values: tuple[Any, ...]) -> str:
        """`a ~ b ~ …` within the bounds."""
        budget = context.budget
        parts = [budget.text(value) for value in values]
        escaping = context.eval_ctx.autoescape
        budget.need_chars(sum(map(len, parts)) * (5 if escaping else 1))
        return markup_join(parts) if escaping else str_join(parts)

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """A call from a template; it pays a step and goes one level deeper."""
        assert isinstance(context, BoundedContext)
        budget = context.budget
        budget.tick()
        if isinstance(obj, types.BuiltinMethodType):
            _drop_scopes(kwargs)
            if isinstance(obj.__self__, types.ModuleType):
                raise SecurityError(f"{obj.__name__} is not open to templates")
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
        return result if isinstance(result, str) else budget.made(result)


def _counted(stream: TokenStream) -> Iterator[Token]:
    for number, token in enumerate(stream):
        if number >= _MOST_TOKENS:
            raise LimitError(
                "E-LIMIT-TEMPLATE-SOURCE",
                f"the template has more than {_MOST_TOKENS:,} tokens",
                line=token.lineno,
                limit="template_bytes",
                allowed=_MOST_TOKENS,
            )
        yield token


def _joined(pieces: Iterable[str]) -> str:
    # Only `self.block()` and `super()` come here, without an account; the default bound holds for them.
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
def environment(*, lenient: bool) -> BoundedEnvironment:
    """The strict or the lenient environment; shared by everybody and never changed."""
    return BoundedEnvironment(lenient=lenient)
