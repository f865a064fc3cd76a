"""Jinja within bounds: chat templates come from strangers, and rendering one must neither hang nor fill the memory.

jinja2's sandbox keeps templates away from attributes and functions. It does not bound their work: `"x" * 10**10` or a
macro that calls itself is allowed there. This package adds the bounds of `Limits`, all charged to one `Budget` a
render. A limit that is passed raises `LimitError`.

How the work of a template is counted:

* `codegen` overrides the methods of `jinja2.compiler.CodeGenerator` that write loops, comparisons, joins, subscripts,
  dictionaries and output. The code they generate charges the budget.
* `environment` overrides those of `ImmutableSandboxedEnvironment` and `Context` that calls, operators, attributes and
  the tokens of the source go through.
* `filters`, `methods` and `operators` compute the size of a result before it is made.
* `compiled` generates the code of a template once, without jinja2's optimizer, which would compute constant
  expressions while it compiles, without a budget.
* `tracing` renders with the origin of every character, which `derivations` derives for each operation.
* `failures` turns what is raised into the library's errors, with the template's line.
* `plain_data` copies what callers give to a template, so that a template sees no objects of theirs.

Many of the overridden methods are private to jinja2 (`_tokenize`, `_output_child_pre`, `blockvisit`, …), as it offers
no other place to count. Therefore `pyproject.toml` pins the minor version of jinja2, and
`tests/templates/test_jinja_hooks.py` compares each overridden signature with the one this package was written for.
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
