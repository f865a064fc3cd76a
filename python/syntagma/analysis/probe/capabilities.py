"""`Capabilities`: what a template can show and what it wants, as plain fields. Messages are normalised by it."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from syntagma.analysis.render.conversation import EmptyContent, Inputs

__all__ = ["Capabilities"]


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """The result of probing a template's inputs. All of it was seen in renders; nothing is assumed."""

    tools: bool = False
    """declared tools appear in the prompt"""
    tool_calls: bool = False
    """an assistant's calls appear in the render, name and arguments"""
    parallel_tool_calls: bool = False
    """several calls in one message appear"""
    content_with_calls: bool = False
    """content in a message with calls appears"""
    call_ids: bool = False
    """the ids of calls appear"""
    call_id_form: str = "{word}"
    """an id that the template accepts: `{word}` nine letters or digits, `{name}` the tool's name, `{index}` a number"""
    arguments: Literal["object", "string"] = "object"
    """how `arguments` of a call are given to the template: as an object, or as JSON text"""
    empty_content: EmptyContent = "text"
    """`content` of a message with calls and no content: the empty text, null, or no key at all"""
    reasoning: str | None = None
    """message field of the reasoning; `content:TYPE` means a content block of that type; None: never rendered"""
    reasoning_settings: dict[str, Any] = {}
    """template variables under which reasoning is rendered"""
    thinking_switches: dict[str, tuple[Any, ...]] = {}
    """template variables that change the generation prompt, with the values that were tried and work"""
    system: bool = False
    """a system message appears"""
    needs_system: bool = False
    """nothing renders without a system message"""
    alternation: bool = False
    """two messages of the user in a row are refused"""
    tool_results: bool = False
    """messages of role `tool` appear"""
    no_tools: Literal["none", "empty", "undefined", "declared"] = "none"
    """how `tools` is given when there are none: None, an empty list, left undefined; `declared`: some must be given"""
    variables: dict[str, Any] = {}
    """undeclared variables without which nothing renders, with the values that the probes bound"""
    lenient: bool = False
    """the template needs the lenient sandbox: it appends to lists, or writes generators as JSON"""

    @property
    def single_tool_calls(self) -> bool:
        """Whether calls appear, but only one a message: of several, some are lost or all refused."""
        return self.tool_calls and not self.parallel_tool_calls

    @property
    def inputs(self) -> Inputs:
        """The inputs with which the template shows most, for further renders."""
        return Inputs(
            tools=self.no_tools if self.no_tools != "undefined" else "none",
            lenient=self.lenient,
            omit_none=self.no_tools == "undefined",
            system=self.needs_system,
            arguments=self.arguments,
            empty_content=self.empty_content,
            reasoning=self.reasoning,
            variables=self.variables,
            settings=self.reasoning_settings,
        )
