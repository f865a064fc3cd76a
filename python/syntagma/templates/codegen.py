"""Jinja's code generator with an account: what generated code does without asking the environment is charged here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame

__all__ = ["BoundedCodeGenerator"]

_CHEAP: Final = (nodes.Const, nodes.Compare, nodes.And, nodes.Or, nodes.Not, nodes.Test)


class BoundedCodeGenerator(CodeGenerator):
    """Writes a step into every loop, and a payment around joins, comparisons, slices and computed keys."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._loop_bodies: set[int] = set()
        self._filtered: set[int] = set()

    def write_commons(self) -> None:
        """Give the generated function short names for its account."""
        self.writeline("budget = context.budget")
        self.writeline("tick = budget.tick")
        self.writeline("visit = budget.visit")
        self.writeline("text = budget.text")
        super().write_commons()
        self.writeline("concat = budget.concat")

    def visit(self, node: nodes.Node, *args: Any, **kwargs: Any) -> Any:
        """Visit a node; the iterable of a loop with a condition is counted, since its body may never run."""
        if id(node) not in self._filtered:
            return super().visit(node, *args, **kwargs)
        self.write("budget.iterate(")
        super().visit(node, *args, **kwargs)
        self.write(")")
        return None

    def visit_For(self, node: nodes.For, frame: Frame) -> None:  # noqa: N802 - names of Jinja's visitor
        """A loop that pays one step a turn."""
        self._loop_bodies.add(id(node.body))
        if node.test is not None and not node.recursive:
            self._filtered.add(id(node.iter))
        super().visit_For(node, frame)

    def blockvisit(self, nodes: Iterable[nodes.Node], frame: Frame) -> None:
        """A block of statements; a loop's begins with its step."""
        if id(nodes) in self._loop_bodies:
            self.writeline("tick()")
        super().blockvisit(nodes, frame)

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802
        """`a ~ b`, joined by the environment."""
        self.write("environment.join_values(context, (")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")

    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:  # noqa: N802
        """A comparison whose operands are paid for, unless one is a constant: then it ends early."""
        constant = isinstance(node.expr, nodes.Const) or (
            len(node.ops) == 1 and isinstance(node.ops[0].expr, nodes.Const)
        )
        self.write("(")
        self._operand(node.expr, frame, paid=not constant)
        for operand in node.ops:
            membership = operand.op in ("in", "notin")
            self.write(f" {_OPERATORS[operand.op]} ")
            self._operand(operand.expr, frame, paid=not constant, searched=membership)
        self.write(")")

    def _operand(self, node: nodes.Expr, frame: Frame, *, paid: bool, searched: bool = False) -> None:
        wrap = ("budget.search(" if searched else "visit(") if paid or searched else ""
        if isinstance(node, _CHEAP) or (searched and isinstance(node, nodes.List | nodes.Tuple)):
            wrap = ""
        self.write(wrap)
        self.visit(node, frame)
        self.write(")" if wrap else "")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:  # noqa: N802
        """A subscript; slices are paid for by what they make, computed keys by what hashing them visits."""
        if isinstance(node.arg, nodes.Slice):
            self.write("budget.made(")
            super().visit_Getitem(node, frame)
            self.write(")")
        elif isinstance(node.arg, nodes.Const):
            super().visit_Getitem(node, frame)
        else:
            self.write("environment.getitem(")
            self.visit(node.node, frame)
            self.write(", visit(")
            self.visit(node.arg, frame)
            self.write("))")

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:  # noqa: N802
        """A dictionary; keys that are no constants are paid for, since they are hashed."""
        self.write("{")
        for pair in node.items:
            constant = isinstance(pair.key, nodes.Const)
            self.write("" if constant else "visit(")
            self.visit(pair.key, frame)
            self.write(": " if constant else "): ")
            self.visit(pair.value, frame)
            self.write(", ")
        self.write("}")

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:  # noqa: ARG002 - Jinja's
        if frame.eval_ctx.volatile:
            self.write("(escape if context.eval_ctx.autoescape else str)(text(")
        else:
            self.write("escape(text(" if frame.eval_ctx.autoescape else "(text(")

    def _output_child_post(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:  # noqa: ARG002 - Jinja's
        self.write("))")

    def _output_child_to_const(self, node: nodes.Expr, frame: Frame, finalize: Any) -> str:
        # Folding would run filters and joins at compile time, where there is no account.
        if not isinstance(node, nodes.TemplateData):
            raise nodes.Impossible
        return super()._output_child_to_const(node, frame, finalize)


_OPERATORS: Final = {
    "eq": "==",
    "ne": "!=",
    "gt": ">",
    "gteq": ">=",
    "lt": "<",
    "lteq": "<=",
    "in": "in",
    "notin": "not in",
}
