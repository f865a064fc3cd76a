"""The hooks of jinja2 that the sandbox overrides or reads, as they are in the pinned minor version.

Many of these hooks are private, so any release of jinja2 may change them. A failure here means: read what changed,
adapt `syntagma.templates.sandbox`, then change the signature here and the pin in pyproject.toml.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from types import FunctionType
from typing import Any

import jinja2
import pytest
from jinja2.compiler import CodeGenerator
from jinja2.environment import Environment, Template
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment, SandboxedFormatter
from jinja2.utils import Namespace, pass_context
from tests.hooks import signature_of

from syntagma.templates.sandbox.codegen import BoundedCodeGenerator
from syntagma.templates.sandbox.environment import BoundedContext, BoundedEnvironment, environment

PYPROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
PINNED = "3.1"
READ = "read what changed and adapt syntagma.templates.sandbox"

OVERRIDDEN: dict[tuple[type, str], str] = {
    (CodeGenerator, "write_commons"): "(self)",
    (CodeGenerator, "visit"): "(self, node, *args, **kwargs)",
    (CodeGenerator, "blockvisit"): "(self, nodes, frame)",
    (CodeGenerator, "visit_For"): "(self, node, frame)",
    (CodeGenerator, "visit_Concat"): "(self, node, frame)",
    (CodeGenerator, "visit_Compare"): "(self, node, frame)",
    (CodeGenerator, "visit_Getitem"): "(self, node, frame)",
    (CodeGenerator, "visit_Dict"): "(self, node, frame)",
    (CodeGenerator, "_output_child_pre"): "(self, node, frame, finalize)",
    (CodeGenerator, "_output_child_post"): "(self, node, frame, finalize)",
    (CodeGenerator, "_output_child_to_const"): "(self, node, frame, finalize)",
    (Context, "derived"): "(self, locals=None)",
    (Environment, "_tokenize"): "(self, source, name, filename=None, state=None)",
    (SandboxedEnvironment, "getattr"): "(self, obj, attribute)",
    (SandboxedEnvironment, "is_safe_attribute"): "(self, obj, attr, value)",
    (SandboxedEnvironment, "wrap_str_format"): "(self, value)",
    (SandboxedEnvironment, "call_binop"): "(self, context, operator, left, right)",
    (SandboxedEnvironment, "call"): "(_SandboxedEnvironment__self, _SandboxedEnvironment__context, "
    "_SandboxedEnvironment__obj, *args, **kwargs)",
    (SandboxedFormatter, "format_field"): "(self, value, format_spec)",
    (SandboxedFormatter, "convert_field"): "(self, value, conversion)",
}
CALLED: dict[tuple[type, str], str] = {
    (Template, "from_code"): "(environment, code, globals, uptodate=None)",
    (Template, "new_context"): "(self, vars=None, shared=False, locals=None)",
    (Environment, "make_globals"): "(self, d)",
    (Environment, "parse"): "(self, source, name=None, filename=None)",
}


def _name(value: Any) -> str:
    """The id of a test's parameter."""
    if isinstance(value, tuple):
        return f"{value[0].__name__}.{value[1]}"
    if isinstance(value, str):
        return value if value.isidentifier() else "signature"
    return value.__name__ if isinstance(value, type) else type(value).__name__


@pytest.mark.parametrize(("hook", "expected"), [*OVERRIDDEN.items(), *CALLED.items()], ids=_name)
def test_hooks_have_the_signature_that_is_overridden(hook: tuple[type, str], expected: str) -> None:
    owner, name = hook
    found = signature_of(owner, name)
    assert found == expected, f"jinja2 {jinja2.__version__}: {owner.__name__}.{name} is {found}, not {expected}; {READ}"


@pytest.mark.parametrize(
    ("ours", "base"),
    [
        (BoundedCodeGenerator, CodeGenerator),
        (BoundedContext, Context),
        (BoundedEnvironment, SandboxedEnvironment),
    ],
    ids=_name,
)
def test_every_overridden_method_is_listed(ours: type, base: type) -> None:
    listed = {name for _, name in OVERRIDDEN}
    overridden = {
        name
        for name, value in vars(ours).items()
        if isinstance(value, FunctionType) and not name.startswith("__") and hasattr(base, name)
    }
    assert overridden <= listed, f"add to OVERRIDDEN, or rename: {sorted(overridden - listed)}"


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (Environment, "code_generator_class"),
        (Environment, "context_class"),
        (Environment, "template_class"),
        (Environment, "concat"),
        (SandboxedEnvironment, "intercepted_binops"),
        (environment(lenient=False).from_string(""), "root_render_func"),
        (environment(lenient=False).from_string(""), "debug_info"),
        (Namespace(a=1), "_Namespace__attrs"),
        (pass_context(lambda context: context), "jinja_pass_arg"),
    ],
    ids=_name,
)
def test_attributes_exist(owner: Any, name: str) -> None:
    assert hasattr(owner, name), f"jinja2 {jinja2.__version__} has no {name} on {owner!r}; {READ}"


def test_generated_functions_read_the_names_that_are_set_for_them() -> None:
    """`write_commons` begins each generated function, and `concat` is looked up after it."""
    tree = environment(lenient=False).parse("{% for a in b %}{{ a ~ a }}{% endfor %}")
    code = str(jinja2.compiler.generate(tree, environment(lenient=False), None, None, optimized=False))
    for line in ("budget = context.budget", "tick()", "environment.join_values(context, ("):
        assert line in code, f"jinja2 {jinja2.__version__} generates no `{line}`; {READ}"


def test_minor_version_is_pinned() -> None:
    requirements = tomllib.loads(PYPROJECT.read_text())["project"]["dependencies"]
    (pin,) = (requirement for requirement in requirements if requirement.startswith("jinja2"))
    major, minor = PINNED.split(".")
    assert pin.endswith(f",<{major}.{int(minor) + 1}"), "the sandbox overrides private hooks: pin the minor version"
    assert jinja2.__version__.startswith(f"{PINNED}."), f"the hooks were read from jinja2 {PINNED}; {READ}"
