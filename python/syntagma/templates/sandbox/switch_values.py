"""Finds the variables by which a caller can change a template's output, and the values they are compared with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from jinja2 import nodes

__all__ = ["switch_values"]

_MAX_ROUNDS = 8
"""largest number of consecutive assignments through which a value is followed"""


def switch_values(tree: nodes.Template, variables: Iterable[str]) -> dict[str, tuple[Any, ...]]:
    """The variables that a caller may set, each with the constants with which it is compared, in order.

    A variable that the template sets itself is included only if the template tests whether it is defined, or gives it a
    default. Variables are followed through assignments and arguments of macros. Comparisons are `==`, `!=`, `in`, and
    the use as a key of an object.

    Args:
        tree: the template.
        variables: names that the template reads without having set them.
    """
    found_nodes = _Nodes(tree)
    flows = [*_assignments(found_nodes), *_macro_arguments(found_nodes)]
    comparisons = list(_comparisons(found_nodes, flows))
    asked = {_name(test.node) for test in found_nodes.tests if test.name in ("defined", "undefined")}
    asked |= {_name(one.node) for one in found_nodes.filters if one.name in ("default", "d") and one.node is not None}
    local = {target for target, _, _ in flows} - asked
    found: dict[str, tuple[Any, ...]] = {}
    for variable in variables:
        if variable not in local:
            names = _reached(variable, flows)
            found[variable] = tuple(
                dict.fromkeys(one for read, constants in comparisons if read & names for one in constants)
            )
    return found


class _Nodes:
    """The relevant nodes of a tree, by kind."""

    def __init__(self, tree: nodes.Template) -> None:
        self.assignments: list[nodes.Assign] = []
        self.macros: list[nodes.Macro] = []
        self.calls: list[nodes.Call] = []
        self.compares: list[nodes.Compare] = []
        self.items: list[nodes.Getitem] = []
        self.tests: list[nodes.Test] = []
        self.filters: list[nodes.Filter] = []
        kinds: dict[type, list[Any]] = {
            nodes.Assign: self.assignments,
            nodes.Macro: self.macros,
            nodes.Call: self.calls,
            nodes.Compare: self.compares,
            nodes.Getitem: self.items,
            nodes.Test: self.tests,
            nodes.Filter: self.filters,
        }
        stack: list[nodes.Node] = [tree]
        while stack:
            node = stack.pop()
            if type(node) in kinds:
                kinds[type(node)].append(node)
            stack.extend(reversed(list(node.iter_child_nodes())))


_Flow = tuple[str, nodes.Node, set[str]]
"""the name that is set, the expression it is set to, and the names that this expression reads"""


def _reached(variable: str, flows: list[_Flow]) -> set[str]:
    """The variable, and every name to which its value may be assigned."""
    names = {variable}
    for _ in range(_MAX_ROUNDS):
        more = {target for target, _, read in flows if target not in names and names & read}
        if not more:
            break
        names |= more
    return names


def _name(node: nodes.Node) -> str:
    """The name of a variable, or of an attribute of a variable; empty for other expressions."""
    if isinstance(node, nodes.Name):
        return node.name
    if isinstance(node, nodes.NSRef):
        return f"{node.name}.{node.attr}"
    if isinstance(node, nodes.Getattr) and isinstance(node.node, nodes.Name):
        return f"{node.node.name}.{node.attr}"
    return ""


def _names(node: nodes.Node) -> set[str]:
    """Every variable, and every attribute of a variable, that an expression reads."""
    found = set().union(*map(_names, node.iter_child_nodes()))
    return found | ({_name(node)} if _name(node) else set())


def _assignments(found: _Nodes) -> Iterator[_Flow]:
    for node in found.assignments:
        if _name(node.target):
            yield _name(node.target), node.node, _names(node.node)


def _macro_arguments(found: _Nodes) -> Iterator[_Flow]:
    """The parameters of macros, with the arguments of calls."""
    macros = {macro.name: [one.name for one in macro.args] for macro in found.macros}
    for call in found.calls if macros else ():
        parameters = macros.get(_name(call.node), [])
        given = [*zip(parameters, call.args, strict=False), *((one.key, one.value) for one in call.kwargs)]
        yield from ((name, value, _names(value)) for name, value in given if name in parameters)


def _comparisons(found: _Nodes, flows: list[_Flow]) -> Iterator[tuple[set[str], list[Any]]]:
    """The names in each comparison, and the constants in it."""
    for compare in found.compares:
        sides = [compare.expr, *(operand.expr for operand in compare.ops)]
        constants = [one for side in sides for one in _constants(side)]
        if constants:
            yield set().union(*map(_names, sides)), constants
    objects = {target: value for target, value, _ in flows}
    for item in found.items:
        keys = list(_keys(objects.get(_name(item.node), item.node)))
        if keys:
            yield _names(item.arg), keys


def _constants(node: nodes.Node) -> Iterator[Any]:
    """The constants of an expression: a constant, or a list of them, which Jinja may fold into one constant."""
    if isinstance(node, nodes.Const):
        values = node.value if isinstance(node.value, list | tuple) else [node.value]
        yield from (value for value in values if isinstance(value, str | int | bool))
    elif isinstance(node, nodes.List | nodes.Tuple):
        for item in node.items:
            yield from _constants(item)


def _keys(node: nodes.Node) -> Iterator[Any]:
    """The constant keys of an object."""
    if isinstance(node, nodes.Dict):
        for pair in node.items:
            yield from _constants(pair.key)
    elif isinstance(node, nodes.Const) and isinstance(node.value, dict):
        yield from node.value
