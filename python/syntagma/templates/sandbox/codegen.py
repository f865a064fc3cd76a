"""A code generator for Jinja, whose code charges the budget for operations that do not call the environment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame

__all__ = ["BoundedCodeGenerator", "TracedCodeGenerator"]

_CHEAP: Final = (nodes.Const, nodes.Compare, nodes.And, nodes.Or, nodes.Not, nodes.Test)


class BoundedCodeGenerator(CodeGenerator):
    """Generates charges in every loop, and around joins, comparisons, slices and computed keys."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._loop_bodies: set[int] = set()
        self._counted_iterables: set[int] = set()

    def write_commons(self) -> None:
        """Define local names for the budget, at the head of a generated function."""
        self.writeline("budget = context.budget")
        self.writeline("tick = budget.tick")
        self.writeline("visit = budget.visit")
        self.writeline("text = budget.text")
        super().write_commons()
        self.writeline("concat = budget.concat")

    def visit(self, node: nodes.Node, *args: Any, **kwargs: Any) -> Any:
        """Visit a node. The iterable of a loop with a condition is counted, because the loop's body may never run."""
        if id(node) not in self._counted_iterables:
            return super().visit(node, *args, **kwargs)
        self.write("budget.iterate(")
        super().visit(node, *args, **kwargs)
        self.write(")")
        return None

    def visit_For(self, node: nodes.For, frame: Frame) -> None:  # noqa: N802 - names of Jinja's visitor
        """A loop. Each iteration charges one step."""
        self._loop_bodies.add(id(node.body))
        if node.test is not None and not node.recursive:
            self._counted_iterables.add(id(node.iter))
        super().visit_For(node, frame)

    def blockvisit(self, nodes: Iterable[nodes.Node], frame: Frame) -> None:
        """A block of statements. The body of a loop begins with a charge."""
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
        """A comparison. It charges for its operands unless one is a constant, because then it ends early."""
        constant = isinstance(node.expr, nodes.Const) or (
            len(node.ops) == 1 and isinstance(node.ops[0].expr, nodes.Const)
        )
        self.write("(")
        self._operand(node.expr, frame, charged=not constant)
        for operand in node.ops:
            membership = operand.op in ("in", "notin")
            self.write(f" {_OPERATORS[operand.op]} ")
            self._operand(operand.expr, frame, charged=not constant, searched=membership)
        self.write(")")

    def _operand(self, node: nodes.Expr, frame: Frame, *, charged: bool, searched: bool = False) -> None:
        call = ("budget.search(" if searched else "visit(") if charged or searched else ""
        if isinstance(node, _CHEAP) or (searched and isinstance(node, nodes.List | nodes.Tuple)):
            call = ""
        self.write(call)
        self.visit(node, frame)
        self.write(")" if call else "")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:  # noqa: N802
        """A subscript. A slice charges for its result, a computed key for its hash."""
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
        """A dictionary. A key that is not a constant charges for its hash."""
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
        # Constant folding would run filters and joins at compile time, without a budget.
        if not isinstance(node, nodes.TemplateData):
            raise nodes.Impossible
        return super()._output_child_to_const(node, frame, finalize)


class TracedCodeGenerator(BoundedCodeGenerator):
    """Also reports the template's own texts to the budget."""

    def write_commons(self) -> None:
        """Also define a local name for the report."""
        super().write_commons()
        self.writeline("literal = budget.literal")

    def visit_Const(self, node: nodes.Const, frame: Frame) -> None:  # noqa: N802
        """A constant in an expression."""
        value = node.as_const(frame.eval_ctx)
        if isinstance(value, str):
            self.write(f"literal({value!r})")
        else:
            super().visit_Const(node, frame)

    def visit_TemplateData(self, node: nodes.TemplateData, frame: Frame) -> None:  # noqa: N802
        """Text between expressions."""
        self.write("literal(")
        super().visit_TemplateData(node, frame)
        self.write(")")

    def _output_const_repr(self, group: Iterable[Any]) -> str:
        return f"literal({super()._output_const_repr(group)})"


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
