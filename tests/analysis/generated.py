"""Chat templates that are generated from formats, in two styles of template code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

from syntagma.format_schema import FormatSpec, Literal, Notation, Pattern, ToolsSpec, answer_before_calls

__all__ = ["STYLES", "template_of"]

STYLES = ("loop", "macros")
"""one loop that joins strings and counts in a namespace; macros with set blocks and filters"""

_REASONING = "message.reasoning_content"
_PLACEHOLDER = re.compile(r'"\{(\w+)\}"|\{(\w+)\}')


def template_of(spec: FormatSpec, style: str) -> str:
    """The source of a chat template that writes turns as the format does.

    It lists tools, has a system message, results of tools, a generation prompt, and switches of thinking.
    """
    return _Loop(spec).source() if style == "loop" else _Macros(spec).source()


def _quoted(text: str) -> str:
    """A string literal of Jinja."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def _filled(pattern: Pattern, values: Mapping[str, str], by: str = " + ") -> str:
    """A pattern as an expression: its literals, and expressions in place of its placeholders."""
    pieces = (_quoted(item.text) if isinstance(item, Literal) else values[item.name] for item in pattern.items)
    return _joined(pieces, by)


def _joined(pieces: Iterable[str], by: str = " + ") -> str:
    return by.join(piece for piece in pieces if piece and piece != "''") or "''"


def _escaped(value: str, *, attribute: bool = False) -> str:
    """A text with XML's escapes."""
    quotes = " | replace('\"', '&quot;')" if attribute else ""
    return f"({value} | replace('&', '&amp;') | replace('<', '&lt;'){quotes})"


def _envelope(text: str, values: Mapping[str, str], by: str) -> str:
    """An envelope as an expression; what stands between quotes is escaped as in a JSON string."""
    pieces, at = [], 0
    for match in _PLACEHOLDER.finditer(text):
        quoted, plain = match.groups()
        if (quoted or plain) not in values:
            continue
        pieces.append(_quoted(text[at : match.start()]))
        pieces.append(f"({values[quoted]} | tojson)" if quoted else values[plain])
        at = match.end()
    return _joined([*pieces, _quoted(text[at:])], by)


class _Style:
    """What both styles share: which expressions stand where."""

    roles: ClassVar[Mapping[str, str]]
    end: ClassVar[str]
    by = " + "

    def __init__(self, spec: FormatSpec) -> None:
        self.spec = spec
        self.written_end = spec.written_end

    @property
    def opens_turn(self) -> str:
        """What opens a turn of the assistant."""
        messages = self.spec.messages
        return messages.start[0] if messages is not None and messages.start else self.roles["assistant"]

    @property
    def between_messages(self) -> str:
        messages = self.spec.messages
        return messages.start[0] if messages is not None and messages.start else ""

    def reasoning(self) -> str:
        assert self.spec.reasoning is not None
        block = self.spec.reasoning.block[0]
        return _joined([_quoted(block.opener), _REASONING, _quoted(block.closer)])

    def answer(self, *, before_calls: bool) -> str:
        spec = self.spec
        if spec.content is not None and spec.content.before_calls and before_calls:
            block = spec.content.before_calls[0]
            return _joined([_quoted(block.opener), "content", _quoted(block.closer)])
        if spec.content is None or not spec.content.block:
            return "content"
        block = spec.content.block[0]
        if spec.messages is not None and before_calls:
            block = answer_before_calls(spec.content, spec.messages)
        return _joined([_quoted(block.opener), "content", _quoted(block.closer)])

    @property
    def differs_before_calls(self) -> bool:
        """Whether an answer that calls follow is written otherwise than one alone."""
        return self.spec.messages is not None or (
            self.spec.content is not None and bool(self.spec.content.before_calls)
        )

    def answer_is_wrapped_only_after_reasoning(self) -> bool:
        return self.spec.content is not None and bool(self.spec.content.block) and self.spec.content.when == "reasoning"

    def call(self, tools: ToolsSpec, values: Mapping[str, str]) -> str:
        names = dict(values)
        if "attributes" in tools.escape:
            names["name"] = _escaped(names["name"], attribute=True)
        if "envelope" in tools.call[0].placeholders:
            names["envelope"] = _envelope(tools.envelope[0].pattern.text, values, self.by)
        return _filled(tools.call[0], {**names, "suffix": "''"}, self.by)

    def identity(self, tools: ToolsSpec, number: str) -> str:
        """The id of a call: what the message has, or what the format fixes."""
        if not tools.id:
            return "call.id"
        values = {
            "name": "call.function.name",
            "index": f"({number} | string)",
            "ordinal": f"(({number} + 1) | string)",
        }
        return _filled(tools.id[0], values)

    def prompt(self) -> str:
        """What the generation prompt adds, as statements."""
        reasoning = self.spec.reasoning
        default, switches = "''", []
        if reasoning is not None:
            block = reasoning.block[0]
            states = {
                "closed": _quoted(""),
                "open": _quoted(block.opener),
                "off": _quoted(block.opener + block.closer),
            }
            default = states[reasoning.start]
            for variable, cases in reasoning.switch.items():
                for value, state in cases.items():
                    switches.append((variable, value, states.get(state, _quoted(state))))
        text = default
        for variable, value, written in switches:
            wanted = value if value in ("true", "false") else _quoted(json.loads(value) if value[0] == '"' else value)
            text = f"({written} if {variable} is defined and {variable} == {wanted} else {text})"
        return _joined([_quoted(self.opens_turn), text])

    def notation(self, notation: Notation, name: str) -> str:
        """A macro that writes a value in a notation."""
        quote = notation.quotes[0]
        text = "value"
        if len(quote) == 1:
            for old, new in (("\\", "\\\\"), (quote, "\\" + quote), ("\n", "\\n"), ("\t", "\\t")):
                text = f"({text} | replace({_quoted(old)}, {_quoted(new)}))"
        between, after = map(_quoted, notation.separators)
        true, false = _quoted(notation.true[0]), _quoted(notation.false[0])
        key = "key" if notation.bare_keys else f"{_quoted(quote)} + key + {_quoted(quote)}"
        return "\n".join(
            (
                f"{{%- macro {name}(value) -%}}",
                f"{{%- if value is string -%}}{{{{ {_quoted(quote)} + {text} + {_quoted(quote)} }}}}",
                f"{{%- elif value is none -%}}{{{{ {_quoted(notation.null[0])} }}}}",
                f"{{%- elif value is boolean -%}}{{{{ {true} if value else {false} }}}}",
                "{%- elif value is mapping -%}{{ '{' }}{%- for key, item in value.items() -%}",
                f"{{{{- {key} + {after} + {name}(item) + ('' if loop.last else {between}) }}}}",
                "{%- endfor -%}{{ '}' }}",
                "{%- elif value is iterable -%}{{ '[' }}{%- for item in value -%}",
                f"{{{{- {name}(item) }}}}{{%- if not loop.last -%}}{{{{ {between} }}}}{{%- endif -%}}",
                "{%- endfor -%}{{ ']' }}",
                "{%- else -%}{{ value | tojson }}{%- endif -%}",
                "{%- endmacro -%}",
            )
        )

    def written(self, tools: ToolsSpec, value: str) -> str:
        """A value in the notation of the format, as an expression."""
        return f"({value} | tojson)" if tools.literals.writes_json else f"literal({value})"

    def one_value(self, tools: ToolsSpec, value: str) -> str:
        text = self.written(tools, value)
        if tools.values != "literal":
            plain = value
            if "values" in tools.escape:
                plain, text = _escaped(value), _escaped(text)
            text = f"({plain} if {value} is string else {text})"
        if tools.item is not None:
            text = f"(nested({value}) if {value} is not string and {value} is iterable and {value} else {text})"
        return text

    def kind(self, tools: ToolsSpec, value: str) -> str:
        if not tools.types:
            return "''"
        tests = {"string": "string", "boolean": "boolean", "null": "none", "number": "number", "object": "mapping"}
        word = {kind: _quoted(tools.type_words(kind)[0]) for kind in (*tests, "array")}
        text = word["array"]
        for kind, test in reversed(tests.items()):
            text = f"({word[kind]} if {value} is {test} else {text})"
        return text

    def argument(self, tools: ToolsSpec, key: str, value: str) -> str:
        key = _escaped(key, attribute=True) if "attributes" in tools.escape else key
        values = {"key": key, "value": self.one_value(tools, value), "type": self.kind(tools, value), "suffix": "''"}
        return _filled(tools.argument[0], values, self.by)

    def nested(self, tools: ToolsSpec) -> str:
        """A macro that writes an object or array as elements."""
        assert tools.item is not None
        return "\n".join(
            (
                "{%- macro nested(value) -%}",
                "{%- if value is mapping -%}{%- for key, item in value.items() -%}",
                f"{{{{- {self.argument(tools, 'key', 'item')} }}}}{{%- endfor -%}}",
                "{%- else -%}{%- for item in value -%}",
                f"{{{{- {self.argument(tools, _quoted(tools.item), 'item')} }}}}{{%- endfor -%}}{{%- endif -%}}",
                "{%- endmacro -%}",
            )
        )

    def shared_macros(self) -> list[str]:
        tools = self.spec.tools
        made = []
        if tools is not None:
            if not tools.literals.writes_json:
                made.append(self.notation(tools.literals, "literal"))
            if tools.item is not None:
                made.append(self.nested(tools))
        return made

    @property
    def is_one_by_one(self) -> bool:
        tools = self.spec.tools
        return tools is not None and bool(tools.argument) and "arguments" in tools.call[0].placeholders


class _Loop(_Style):
    """One loop over the messages, with strings joined by `+` and a namespace that counts."""

    roles: ClassVar[Mapping[str, str]] = {role: f"<|turn|>{role}\n" for role in ("system", "user", "assistant", "tool")}
    end = "<|over|>\n"

    def source(self) -> str:
        lines = self.shared_macros()
        lines += [
            "{%- set ns = namespace(calls=0, text='') -%}",
            "{%- if tools -%}",
            f"{{{{- {_quoted(self.roles['system'] + 'You may use these tools:')} }}}}",
            "{%- for tool in tools -%}{{- '\\n' + (tool | tojson) -}}{%- endfor -%}",
            f"{{{{- {_quoted(self.end)} -}}}}",
            "{%- endif -%}",
            "{%- for message in messages -%}",
            "{%- set content = message.content or '' -%}",
            "{%- if message.role == 'assistant' -%}",
            f"{{{{- {_quoted(self.opens_turn)} -}}}}",
            *self.turn(),
            f"{{{{- {_quoted(self.written_end)} -}}}}",
            "{%- else -%}",
            f"{{{{- '<|turn|>' + message.role + '\\n' + content + {_quoted(self.end)} -}}}}",
            "{%- endif -%}",
            "{%- endfor -%}",
            f"{{%- if add_generation_prompt -%}}{{{{- {self.prompt()} -}}}}{{%- endif -%}}",
        ]
        return "\n".join(lines)

    def turn(self) -> Iterator[str]:
        spec = self.spec
        yield "{%- set ns.text = '' -%}"
        if spec.reasoning is not None and spec.reasoning.to == "reasoning":
            condition = _REASONING + " is defined" if spec.reasoning.start == "open" else _REASONING
            yield (
                f"{{%- if {condition} and {_REASONING} is not none -%}}"
                if "defined" in condition
                else f"{{%- if {condition} -%}}"
            )
            yield f"{{%- set ns.text = ns.text + {self.reasoning()} -%}}"
            yield "{%- endif -%}"
        yield from self.content()
        if spec.tools is not None:
            yield "{%- if message.tool_calls -%}"
            yield from self.calls(spec.tools)
            yield "{%- endif -%}"
        yield "{{- ns.text -}}"

    def append(self, text: str) -> str:
        if self.between_messages:
            between = _quoted(self.between_messages)
            return f"{{%- set ns.text = ns.text + ({between} if ns.text else '') + {text} -%}}"
        return f"{{%- set ns.text = ns.text + {text} -%}}"

    def content(self) -> Iterator[str]:
        if self.differs_before_calls:
            yield "{%- if message.tool_calls -%}{%- if content -%}"
            yield self.append(self.answer(before_calls=True))
            yield "{%- endif -%}{%- else -%}"
            yield self.append(self.answer(before_calls=False))
            yield "{%- endif -%}"
            return
        yield "{%- if content or not message.tool_calls -%}"
        if self.answer_is_wrapped_only_after_reasoning():
            text = f"(({self.answer(before_calls=False)}) if {_REASONING} else content)"
            yield self.append(text)
        else:
            yield self.append(self.answer(before_calls=False))
        yield "{%- endif -%}"

    def calls(self, tools: ToolsSpec) -> Iterator[str]:
        opener, closer = tools.section[0].around("calls")
        if opener:
            yield f"{{%- set ns.text = ns.text + {_quoted(opener)} -%}}"
        yield "{%- for call in message.tool_calls -%}"
        if tools.separator:
            yield f"{{%- set ns.text = ns.text + ('' if loop.first else {_quoted(tools.separator)}) -%}}"
        number = "ns.calls" if tools.numbers == "conversation" else "loop.index0"
        arguments = self.written(tools, "call.function.arguments")
        if self.is_one_by_one:
            yield "{%- set written = namespace(arguments='') -%}"
            yield "{%- for key, value in call.function.arguments.items() -%}"
            if tools.argument_separator:
                separator = _quoted(tools.argument_separator)
                yield f"{{%- set written.arguments = written.arguments + ('' if loop.first else {separator}) -%}}"
            yield f"{{%- set written.arguments = written.arguments + {self.argument(tools, 'key', 'value')} -%}}"
            yield "{%- endfor -%}"
            arguments = "written.arguments"
        values = {
            "name": "call.function.name",
            "arguments": arguments,
            "id": self.identity(tools, number),
            "index": f"({number} | string)",
            "ordinal": f"(({number} + 1) | string)",
        }
        yield self.append(self.call(tools, values))
        yield "{%- set ns.calls = ns.calls + 1 -%}"
        yield "{%- endfor -%}"
        if closer:
            yield f"{{%- set ns.text = ns.text + {_quoted(closer)} -%}}"


class _Macros(_Style):
    """Macros for each part, set blocks, filters, and text between statements instead of joined strings."""

    roles: ClassVar[Mapping[str, str]] = {
        role: f"### {role.upper()}\n" for role in ("system", "user", "assistant", "tool")
    }
    end = "\n\n"
    by = " ~ "

    def source(self) -> str:
        lines = self.shared_macros()
        if self.spec.tools is not None:
            lines += list(self.call_macro(self.spec.tools))
        lines += [
            "{%- macro say(role, text) -%}",
            "{%- filter replace('%ROLE%', role | upper) -%}",
            "### %ROLE%\n{{ text ~ '\\n\\n' }}",
            "{%- endfilter -%}",
            "{%- endmacro -%}",
            "{%- set listed -%}",
            "{%- for tool in tools or [] %}\n- {{ tool.function | tojson }}{%- endfor -%}",
            "{%- endset -%}",
            "{%- if messages[0].role == 'system' -%}",
            "{{- say('system', messages[0].content ~ listed) -}}",
            "{%- elif tools -%}",
            "{{- say('system', 'Tools:' ~ listed) -}}",
            "{%- endif -%}",
            "{%- for message in messages -%}",
            "{%- if message.role != 'assistant' -%}",
            "{%- if message.role != 'system' or not loop.first -%}",
            "{{- say(message.role, message.content) -}}",
            "{%- endif -%}",
            "{%- else -%}",
            *self.turn(),
            "{%- endif -%}",
            "{%- endfor -%}",
            f"{{%- if add_generation_prompt -%}}{{{{- {self.prompt()} -}}}}{{%- endif -%}}",
        ]
        return "\n".join(lines)

    def turn(self) -> Iterator[str]:
        spec = self.spec
        between = f"{{{{- {_quoted(self.between_messages)} -}}}}" if self.between_messages else ""
        yield f"{{{{- {_quoted(self.opens_turn)} -}}}}"
        yield "{%- set content = message.content if message.content is string else '' -%}"
        yield "{%- set thought = message.reasoning_content | default('', true) -%}"
        if spec.reasoning is not None and spec.reasoning.to == "reasoning":
            yield f"{{%- if thought -%}}{{{{- {self.reasoning().replace(_REASONING, 'thought')} -}}}}"
            yield (
                "{%- if message.tool_calls or content -%}" + between + "{%- endif -%}{%- endif -%}"
                if between
                else "{%- endif -%}"
            )
        if self.differs_before_calls:
            yield f"{{%- if not message.tool_calls -%}}{{{{- {self.answer(before_calls=False)} -}}}}"
            yield f"{{%- elif content -%}}{{{{- {self.answer(before_calls=True)} -}}}}{between}{{%- endif -%}}"
        else:
            answer = f"{{{{- {self.answer(before_calls=False)} -}}}}"
            if self.answer_is_wrapped_only_after_reasoning():
                answer = "{%- if thought -%}" + answer + "{%- else -%}{{- content -}}{%- endif -%}"
            yield "{%- if content or not message.tool_calls -%}" + answer + "{%- endif -%}"
        if spec.tools is not None:
            opener, closer = spec.tools.section[0].around("calls")
            yield "{%- if message.tool_calls -%}"
            yield f"{{{{- {_quoted(opener)} -}}}}"
            yield "{%- for call in message.tool_calls -%}"
            yield "{{- one_call(call.function, call.id, loop.index0) -}}"
            separator = spec.tools.separator
            yield f"{{%- if not loop.last -%}}{{{{- {_quoted(separator + self.between_messages)} -}}}}{{%- endif -%}}"
            yield "{%- endfor -%}"
            yield f"{{{{- {_quoted(closer)} -}}}}"
            yield "{%- endif -%}"
        yield f"{{{{- {_quoted(self.written_end)} -}}}}"

    def call_macro(self, tools: ToolsSpec) -> Iterator[str]:
        yield "{%- macro one_call(function, id, number) -%}"
        yield "{%- set arguments -%}"
        if self.is_one_by_one:
            yield "{%- for key in function.arguments -%}"
            yield "{%- set value = function.arguments[key] -%}"
            yield f"{{{{- {self.argument(tools, 'key', 'value')} -}}}}"
            if tools.argument_separator:
                yield f"{{%- if not loop.last -%}}{{{{- {_quoted(tools.argument_separator)} -}}}}{{%- endif -%}}"
            yield "{%- endfor -%}"
        else:
            yield f"{{{{- {self.written(tools, 'function.arguments')} -}}}}"
        yield "{%- endset -%}"
        values = {
            "name": "function.name",
            "arguments": "arguments",
            "id": "id",
            "index": "(number | string)",
            "ordinal": "((number + 1) | string)",
        }
        yield f"{{{{- {self.call(tools, values)} -}}}}"
        yield "{%- endmacro -%}"
