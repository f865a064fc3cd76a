"""`Capabilities`: what a template shows and needs, as plain fields. Messages are normalised by it."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from syntagma.analysis.render.conversation import EmptyContent, Inputs

__all__ = ["Capabilities"]


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """The result of probing a template's inputs, all of it from renders."""

    tools: bool = False
    """whether declared tools appear in the prompt"""
    tool_calls: bool = False
    """whether an assistant's calls appear in the render, with name and arguments"""
    parallel_tool_calls: bool = False
    """whether several calls in one message appear"""
    content_with_calls: bool = False
    """whether content in a message with calls appears"""
    call_ids: bool = False
    """whether the ids of calls appear"""
    call_id_form: str = "{word}"
    """the form of accepted ids: `{word}` nine letters or digits, `{name}` the tool's name, `{index}` a number"""
    arguments: Literal["object", "string"] = "object"
    """the type of a call's `arguments` that the template needs: an object, or JSON text"""
    empty_content: EmptyContent = "text"
    """`content` of a message with calls and no content: the empty string, null, or no key"""
    reasoning: str | None = None
    """the message field of reasoning; `content:TYPE`: a content block of that type; None: it is never rendered"""
    reasoning_settings: dict[str, Any] = {}
    """template variables under which reasoning is rendered"""
    thinking_switches: dict[str, tuple[Any, ...]] = {}
    """template variables that change the generation prompt, with the values that have an effect"""
    system: bool = False
    """whether a system message appears"""
    needs_system: bool = False
    """whether nothing renders without a system message"""
    alternation: bool = False
    """whether two messages of the user in a row are refused"""
    tool_results: bool = False
    """whether messages of role `tool` appear"""
    no_tools: Literal["none", "empty", "undefined", "declared"] = "none"
    """`tools` if there are none: None, an empty list, or undefined; `declared`: there must be some"""
    variables: dict[str, Any] = {}
    """undeclared variables without which nothing renders, with the values that the probes bound"""
    lenient: bool = False
    """whether the template needs the lenient sandbox: it appends to lists, or writes generators as JSON"""

    content_parts: bool = False
    """whether content is shown only if it is a list of parts"""
    tools_variable: str | None = None
    """the variable from which tools are listed, if not from `tools`"""
    steps: tuple[str, ...] = ()
    """of a codec: the steps by which conversations are fitted to the template, as `docs/reference/conversations.md`
    lists them"""
    losses: tuple[str, ...] = ()
    """of a codec: the kinds of conversations of which the template loses a text whatever is done"""

    @property
    def single_tool_calls(self) -> bool:
        """Whether calls appear, but only one per message: of several, some are lost or all refused."""
        return self.tool_calls and not self.parallel_tool_calls

    @property
    def inputs(self) -> Inputs:
        """The inputs for further renders, with which the template shows most."""
        return Inputs(
            tools=self.no_tools if self.no_tools != "undefined" else "none",
            lenient=self.lenient,
            omit_none=self.no_tools == "undefined",
            system=self.needs_system,
            parts=self.content_parts,
            arguments=self.arguments,
            empty_content=self.empty_content,
            reasoning=self.reasoning,
            variables=self.variables,
            settings=self.reasoning_settings,
        )
