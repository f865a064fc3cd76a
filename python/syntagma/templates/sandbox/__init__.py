"""Jinja within bounds: chat templates are untrusted, so rendering one must neither hang nor exhaust memory.

jinja2's sandbox restricts attributes and functions, but not the work of a template: it allows `"x" * 10**10` or a
macro that calls itself. This package adds the bounds of `Limits`, all charged to one `Budget` per render. Exceeding a
limit raises `LimitError`.

The parts:

* `codegen` overrides the methods of `jinja2.compiler.CodeGenerator` that write loops, comparisons, joins, subscripts,
  dictionaries and output. The code they generate charges the budget.
* `environment` overrides the methods of `ImmutableSandboxedEnvironment` and `Context` for calls, operators, attributes
  and the tokens of the source.
* `filters`, `methods` and `operators` bound the size of a result before it is computed.
* `compiled` generates the code of a template once, without jinja2's optimizer, which would compute constant
  expressions at compile time, without a budget.
* `tracing` renders with the origin of every character, which `derivations` derives for each operation.
* `failures` converts exceptions to the library's errors, with the template's line.
* `plain_data` copies the arguments of callers, so that a template gets no objects of theirs.

Many of the overridden methods are private to jinja2 (`_tokenize`, `_output_child_pre`, `blockvisit`, …), because it has
no public hooks for this. Therefore `pyproject.toml` pins the minor version of jinja2, and
`tests/templates/test_jinja_hooks.py` checks the signature of each overridden method.
"""

from __future__ import annotations

from syntagma.templates.sandbox.budget import Budget, limit_error, nesting_error, output_error
from syntagma.templates.sandbox.compiled import Compiled, compiled
from syntagma.templates.sandbox.environment import BoundedContext, environment
from syntagma.templates.sandbox.failures import render_error
from syntagma.templates.sandbox.plain_data import plain_data
from syntagma.templates.sandbox.traced import TEMPLATE, Traced, encodable
from syntagma.templates.sandbox.tracing import TracingBudget, traced_variables

__all__ = [
    "TEMPLATE",
    "BoundedContext",
    "Budget",
    "Compiled",
    "Traced",
    "TracingBudget",
    "compiled",
    "encodable",
    "environment",
    "limit_error",
    "nesting_error",
    "output_error",
    "plain_data",
    "render_error",
    "traced_variables",
]
