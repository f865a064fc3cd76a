"""Converts exceptions raised inside a template to the library's errors, with the template's line."""

from __future__ import annotations

from types import TracebackType
from typing import Final

from jinja2 import TemplateSyntaxError, UndefinedError
from jinja2.exceptions import SecurityError

from syntagma.errors import LimitError, SyntagmaError, TemplateError
from syntagma.templates.sandbox.environment import RaisedByTemplate

__all__ = ["FILENAME", "render_error", "stack_error", "syntax_error"]

FILENAME: Final = "<template>"
"""the file name of generated code, which identifies its frames in a traceback"""

_MAX_EXCERPT_CHARS: Final = 160


def syntax_error(error: TemplateSyntaxError, source: str) -> TemplateError:
    """The error for a template that cannot be read, with the line and a caret."""
    message = error.message or "the template cannot be read"
    line = error.lineno
    column, excerpt = _excerpt(source, line, message)
    return TemplateError("E-TEMPLATE-SYNTAX", message, line=line, column=column, excerpt=excerpt)


def render_error(error: Exception, source: str, lines: list[tuple[int, int]]) -> SyntagmaError:
    """The error for a render that failed.

    Args:
        error: the exception.
        source: the template's text.
        lines: pairs of a line of the template and the line of generated code at which it begins, ascending.
    """
    line = _template_line(error.__traceback__, lines)
    if isinstance(error, LimitError):
        error.line = error.line or line
        return error
    if isinstance(error, RecursionError | MemoryError):
        return stack_error(line)
    column, excerpt = _excerpt(source, line, "")
    hint = None
    if isinstance(error, RaisedByTemplate):
        code, message = "E-TEMPLATE-RAISED", str(error)
        hint = "the template refuses these messages with raise_exception"
        column = excerpt = None
    elif isinstance(error, SecurityError):
        code, message = "E-TEMPLATE-SECURITY", str(error)
    elif isinstance(error, UndefinedError):
        code, message = "E-TEMPLATE-UNDEFINED", str(error)
        if message.endswith("is undefined"):
            hint = "set the variable in template_kwargs"
    elif isinstance(error, TypeError):
        code, message = "E-TEMPLATE-TYPE", str(error)
    else:
        code, message = "E-TEMPLATE-RUNTIME", f"{type(error).__name__}: {error}"
    return TemplateError(code, message, hint=hint, line=line, column=column, excerpt=excerpt)


def stack_error(line: int | None) -> LimitError:
    """The error for a template that exhausted Python's stack or memory before a limit applied."""
    return LimitError(
        "E-LIMIT-TEMPLATE-NESTING",
        "the template, or a value in it, is nested too deeply",
        line=line,
        limit="template_nesting",
    )


def _template_line(trace: TracebackType | None, lines: list[tuple[int, int]]) -> int | None:
    generated = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILENAME:
            generated = trace.tb_lineno
        trace = trace.tb_next
    if generated is None:
        return None
    found = 1
    for template_line, generated_line in lines:
        if generated_line > generated:
            break
        found = template_line
    return found


def _excerpt(source: str, line: int | None, message: str) -> tuple[int | None, str | None]:
    if line is None:
        return None, None
    rows = source.splitlines()
    if not 0 < line <= len(rows):
        return None, None
    row = rows[line - 1].expandtabs(1)
    quoted = message.split("'")
    place = row.find(quoted[1]) if len(quoted) > 2 and row.count(quoted[1]) == 1 else -1
    if place < 0:
        return None, row[:_MAX_EXCERPT_CHARS].rstrip()
    begin = max(0, place - _MAX_EXCERPT_CHARS // 2)
    return place + 1, f"{row[begin : begin + _MAX_EXCERPT_CHARS].rstrip()}\n{' ' * (place - begin)}^"
