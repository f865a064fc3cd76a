"""The text output of `syntagma analyze`: facts, certificate, a turn with its markers, pairs of renders."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from typing import Any, Final

import msgspec
import typer

from syntagma.analysis import Analysis, Certificate, Comparison
from syntagma.cli.output import write
from syntagma.codec import ChatCodec
from syntagma.errors import SyntagmaError
from syntagma.messages import Message, ToolCall, tools_from
from syntagma.templates import ChatTemplate

__all__ = ["write_certificate", "write_comparison", "write_facts", "write_turn"]

_MAX_EXAMPLE = 400
"""number of characters of an example that are printed without `--verbose`"""
_COLOURS: Final = {"reasoning": "blue", "content": "green", "turn": "magenta"}
"""colours of markers by part; markers of calls are yellow"""
_WEATHER: Final = {
    "name": "weather",
    "description": "The weather in a place.",
    "parameters": {"type": "object", "properties": {"place": {"type": "string"}, "days": {"type": "integer"}}},
}
_SAMPLES: Final = {
    "string": '"Rome"',
    "integer": "2",
    "number": "0.5",
    "boolean": "true",
    "null": "null",
    "array": "[]",
    "object": "{}",
}
"""a JSON value of each type"""
_OF_CODECS: Final = ("steps", "losses")
"""capabilities that a codec finds, and the analysis does not"""
_QUESTION: Final = "What is the weather in Rome?"


def write_facts(analysis: Analysis) -> None:
    """Print layout, prompts, tokens and capabilities, one line each."""
    layout = msgspec.to_builtins(analysis.layout)
    write("\n# layout")
    for name in ("reasoning_mode", "content_mode", "tool_format", "call_id_position", "argument_kind"):
        write(f"#   {name}: {layout[name]}")
    for group in ("markers", "wrappers", "fields"):
        for name, value in layout[group].items():
            write(f"#   {group}.{name}: {value!r}")
    for name in ("preserved_tokens", "triggers", "stop_strings"):
        write(f"#   {name}: {' '.join(map(repr, getattr(analysis, name)))}")
    write("\n# generation prompts")
    for prompt in analysis.prompts:
        shown = [f"{name}={value!r}" for name, value in prompt.settings.items()] + (["tools"] if prompt.tools else [])
        write(f"#   {', '.join(shown) or 'default'}: {prompt.text!r}, reasoning {prompt.reasoning}")
    write("\n# capabilities")
    for name, value in msgspec.to_builtins(analysis.capabilities).items():
        if name not in _OF_CODECS:
            write(f"#   {name}: {value}")


def write_certificate(certificate: Certificate, *, verbose: bool) -> None:
    """Print the verdict, the findings, and one line for each group of similar messages."""
    state = "not clean" if not certificate.clean else "clean, but:" if certificate.losses else "clean"
    write(f"\n# certificate: {state}")
    for finding in certificate.findings:
        write(f"#   {finding.code}: {finding.message}")
    for remark in certificate.remarks:
        write(f"#   {remark.verdict}: {remark}")
        if remark.verdict in ("fails", "refused"):
            if remark.detail:
                write(f"#     {remark.detail}")
            write(f"#     for example: {remark.example[:_MAX_EXAMPLE]!r}")
    write(f"#   the grammar was {'checked, too' if certificate.grammar_checked else 'not checked'}")
    if verbose:
        write("\n# messages")
        for item in certificate.items:
            write(f"#   {item.name}: {item.verdict}" + (f": {item.why}" if item.why else ""))
            if item.detail:
                write(f"#     {item.detail}")
            if item.example:
                write(f"#     {item.example!r}")


def write_comparison(pair: Comparison) -> None:
    """Print a pair of renders, with the difference in colour or in double brackets."""
    before, first, second, after = pair.parts
    alike = "" if first or second else " (both are equal)"
    write(f"\n# {pair.step}: {pair.question}{alike}")
    for sign, inside in (("-", first), ("+", second)):
        write(f"#   {sign} {_quoted(before)}{_painted(_quoted(inside), 'yellow', '[[', ']]')}{_quoted(after)}")


def write_turn(template: ChatTemplate, analysis: Analysis, tools: Any) -> None:
    """Print how conversations are fitted to the template, and a turn with the markers of the format in colour.

    The turn has reasoning, content and a call; it is left out if the template refuses every such turn.
    """
    found = ChatCodec.from_template(template, analysis).capabilities
    write("\n# conversations that the template does not take as they are")
    for name in _OF_CODECS:
        write(f"#   {name}: {', '.join(getattr(found, name)) or 'none'}")
    text = _rendered_turn(template, analysis, tools)
    if text is not None:
        write("\n# a turn, as the template renders it")
        write(_with_markers(text, analysis))


def _rendered_turn(template: ChatTemplate, analysis: Analysis, tools: Any) -> str | None:
    tool = next(iter(tools_from(tools or [_WEATHER]) or ()), None)
    if tool is None:
        return None
    properties = (tool.parameters or {}).get("properties", {}) if isinstance(tool.parameters, dict) else {}
    members = (f'"{key}": {_sample(schema)}' for key, schema in properties.items())
    call = ToolCall(id="Qx3Vt7Lm9", name=tool.name, arguments="{" + ", ".join(members) + "}")
    codec = ChatCodec.from_template(template, analysis)
    for message in (
        Message(role="assistant", reasoning_content="They ask for Rome.", content="Let me see.", tool_calls=(call,)),
        Message(role="assistant", content="Let me see.", tool_calls=(call,)),
        Message(role="assistant", tool_calls=(call,)),
        Message(role="assistant", content="It is warm."),
    ):
        asked: list[Any] = [{"role": "user", "content": _QUESTION}, message]
        try:
            text = str(codec.render(asked, tools=[tool], add_generation_prompt=False))
        except SyntagmaError:
            continue
        if not message.tool_calls or tool.name in text[text.rfind(_QUESTION) :]:
            return text[text.rfind(_QUESTION) + len(_QUESTION) :]
    return None


def _sample(schema: Any) -> str:
    kind = schema.get("type") if isinstance(schema, dict) else None
    return _SAMPLES.get(kind if isinstance(kind, str) else "string", '"x"')


def _with_markers(text: str, analysis: Analysis) -> str:
    """The text, with every marker of the format in the colour of its part."""
    colours: dict[str, str] = {}
    for name, marker in analysis.layout.markers.items():
        for piece in _pieces(marker):
            colours.setdefault(piece, _COLOURS.get(name.partition("_")[0], "yellow"))
    for token in (*analysis.preserved_tokens, *analysis.stop_strings):
        colours.setdefault(token, _COLOURS["turn"])
    if not colours:
        return text
    anywhere = re.compile("|".join(re.escape(one) for one in sorted(colours, key=len, reverse=True)))
    return anywhere.sub(lambda found: _painted(found[0], colours[found[0]], "", ""), text)


def _pieces(marker: str) -> Iterable[str]:
    """A marker without whitespace at its ends; none if it is then shorter than two characters."""
    bare = marker.strip()
    return (bare,) if len(bare) > 1 else ()


def _painted(text: str, colour: str, left: str, right: str) -> str:
    """The text in a colour if the output is a terminal, else between two signs."""
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        return typer.style(text, fg=colour)
    return f"{left}{text}{right}" if text else ""


def _quoted(text: str) -> str:
    return repr(text)[1:-1]
