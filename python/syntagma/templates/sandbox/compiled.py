"""A template's syntax tree and generated code, created once and shared."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from types import CodeType
from typing import Any, Final

import jinja2
from jinja2 import TemplateSyntaxError, meta, nodes
from jinja2.compiler import generate

from syntagma.errors import TemplateError
from syntagma.templates.sandbox.environment import BoundedEnvironment, environment
from syntagma.templates.sandbox.failures import FILENAME, stack_error, syntax_error
from syntagma.templates.sandbox.switch_values import switch_values

__all__ = ["Compiled", "compiled"]

_BLOCKS: Final = (
    nodes.Block,
    nodes.CallBlock,
    nodes.FilterBlock,
    nodes.For,
    nodes.If,
    nodes.Macro,
    nodes.Scope,
    nodes.With,
)
_MAX_CACHED: Final = 64


class Compiled:
    """A template's code, and facts about it that need no render. Immutable; safe for several threads."""

    def __init__(self, source: str, tree: nodes.Template, code: CodeType, nesting: int) -> None:
        self.source = source
        self.nesting = nesting
        self._tree = tree
        self._code = code

    @functools.cached_property
    def strict(self) -> jinja2.Template:
        """The template for the strict environment."""
        return _loaded(self._code, environment(lenient=False))

    @functools.cached_property
    def lenient(self) -> jinja2.Template:
        """The template for the lenient environment."""
        return _loaded(self._code, environment(lenient=True))

    @functools.cached_property
    def strict_traced(self) -> jinja2.Template:
        """The template for traced renders in the strict environment."""
        return _loaded(self._traced_code, environment(lenient=False, traced=True))

    @functools.cached_property
    def lenient_traced(self) -> jinja2.Template:
        """The template for traced renders in the lenient environment."""
        return _loaded(self._traced_code, environment(lenient=True, traced=True))

    @functools.cached_property
    def _traced_code(self) -> CodeType:
        return _code(self._tree, environment(lenient=False, traced=True))

    @functools.cached_property
    def undeclared(self) -> frozenset[str]:
        """Names that the template reads and never sets, including reserved names."""
        return frozenset(meta.find_undeclared_variables(self._tree)) - set(environment(lenient=False).globals)

    @functools.cached_property
    def string_literals(self) -> tuple[str, ...]:
        """Every string constant of the expressions, once, in the order of first appearance."""
        found = (node.value for node, _ in _walk(self._tree) if isinstance(node, nodes.Const))
        return tuple(dict.fromkeys(value for value in found if isinstance(value, str)))

    @functools.cached_property
    def switch_values(self) -> dict[str, tuple[Any, ...]]:
        """The undeclared variables that a caller may set, each with the constants with which it is compared."""
        return switch_values(self._tree, sorted(self.undeclared))


def _loaded(code: CodeType, env: BoundedEnvironment) -> jinja2.Template:
    return env.template_class.from_code(env, code, env.make_globals(None))


@functools.lru_cache(maxsize=_MAX_CACHED)
def compiled(source: str) -> Compiled:
    """The code of a template. The most recent ones are cached.

    Raises:
        TemplateError: `E-TEMPLATE-SYNTAX`, the source is not a Jinja template.
        LimitError: `E-LIMIT-TEMPLATE-SOURCE` or `E-LIMIT-TEMPLATE-NESTING`, it is too long or too deeply nested.
    """
    env = environment(lenient=False)
    try:
        tree = env.parse(source)
        nesting = max((depth for _, depth in _walk(tree)), default=0)
        code = _code(tree, env)
    except TemplateSyntaxError as error:
        raise syntax_error(error, source) from None
    except (RecursionError, MemoryError):
        raise stack_error(None) from None
    except SyntaxError as error:
        if error.msg.startswith("too many") or isinstance(error, IndentationError):
            raise stack_error(None) from None
        raise TemplateError("E-TEMPLATE-SYNTAX", f"the template cannot be compiled: {error.msg}") from None
    except ValueError as error:
        raise TemplateError("E-TEMPLATE-SYNTAX", str(error)) from None
    return Compiled(source, tree, code, nesting)


def _code(tree: nodes.Template, env: BoundedEnvironment) -> CodeType:
    return compile(str(generate(tree, env, None, None, optimized=False)), FILENAME, "exec")


def _walk(tree: nodes.Node) -> Iterator[tuple[nodes.Node, int]]:
    stack = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        yield node, depth
        inner = depth + isinstance(node, _BLOCKS)
        stack.extend((child, inner) for child in reversed(list(node.iter_child_nodes())))
