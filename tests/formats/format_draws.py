"""Formats, messages and damaged texts drawn at random: any punctuation, every kind of call, argument and section."""

from __future__ import annotations

import json
import random
from typing import Any

from syntagma.format_schema import Literal
from syntagma.format_schema.facts import interrupts
from syntagma.formats import ChatFormat
from syntagma.messages import Message, ToolCall

__all__ = ["TOOLS", "Draw", "DrawMessages", "damaged", "literals"]

_STYLES = (
    ("<{}>", "</{}>"),
    ("<<{}>>", "<</{}>>"),
    ("[{}]", "[/{}]"),
    ("[[{}]]", "[[/{}]]"),
    ("<|{}|>", "<|/{}|>"),
    ("<｜{}｜>", "<｜/{}｜>"),
    ("⟪{}⟫", "⟪/{}⟫"),
    ("%%{}%%", "%%/{}%%"),
    ("@@{}", "@@/{}"),
    ("@{}@", "@@"),
    ("<{}>", "</>"),
    ("<<{}>>", "<<>>"),
    ("「{}", "」{}"),
    ("<{} it>", "</{} it>"),
    ("<{}-0.5 >", "< /{}>"),
    ("({})", "(/{})"),
    ("##{}", "##"),
    ("{}:", ";{}"),
    ("<{}", "/{}>"),
    ("]<]{}[>[", "]<]/{}[>["),
    ("```{}", "```"),
    ("{{{{{}", "{}}}}}"),
)
"""an opener and a closer, each with a place for a word"""
_SIGNS = "§¶†~^|$%→;#"
_WORDS = ("c", "ca", "call", "calls", "k", "key", "v", "x1", "to do", "é", "思", "a.b", "A")
_SPACES = ("", "", "", "\n", " ", "\n\n")
_ENVELOPES = (
    '{"name": "{name}", "arguments": {arguments}}',
    '{"name":"{name}","arguments":{arguments}}',
    '{"arguments": {arguments}, "name": "{name}"}',
    '{"type": "function", "name": "{name}", "parameters": {arguments}, "x": 0}',
    '{"name": "{name}", "arguments": "{arguments}"}',
    '{"{name}": {arguments}}',
    '{"id": "{id}", "{name}": {arguments}}',
    '{"function": {"name": "{name}", "arguments": {arguments}}, "id": "{id}"}',
    '{"index": {index}, "name": "{name}", "arguments": "{arguments}", "id": "{id}"}',
)
_NOTATIONS: tuple[Any, ...] = (
    "python",
    {"quotes": ["'"], "true": ["True"], "false": ["False"], "null": ["None"]},
    {"quotes": ['<|"|>'], "bare_keys": True},
    {"quotes": ['"', "'"], "bare_keys": True, "true": ["true", "1"]},
    {"quotes": ["⟪q", '"'], "null": ["nil"]},
)

TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}},
    {
        "type": "function",
        "function": {
            "name": "look_up",
            "parameters": {
                "type": "object",
                "properties": {
                    "word": {"type": "string"},
                    "n": {"type": "integer"},
                    "sure": {"type": "boolean"},
                    "any": {},
                    "list": {"type": "array", "items": {"type": "string"}},
                    "deep": {"type": "object", "properties": {"a": {"type": "string"}}},
                    "maybe": {"type": ["string", "null"]},
                },
            },
        },
    },
]


class Draw:
    """Draws the file of one format."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._own = rng.choice(_STYLES)
        self._used: list[str] = []

    def toml(self) -> str:
        """The file; it may be one that is refused."""
        if self._maybe(0.15):
            return self._with_headers()
        parts = [self._top()]
        unclosed = False
        if self._maybe(0.6):
            unclosed = self._maybe(0.15)
            parts.append(self._table("reasoning", self._unclosed_reasoning() if unclosed else self._reasoning()))
        if unclosed or self._maybe(0.35):
            parts.append(self._table("content", self._content(always=unclosed)))
        if self._maybe(0.95):
            first = self._tools()
            parts.append(self._table("tools", first))
            if self._maybe(0.15):
                empty: dict[str, Any] = {"envelope": [], "argument": [], "types": {}}
                unset = {key: value for key, value in empty.items() if key in first}
                parts.append(self._table("[tools.also]", {**unset, **self._tools()}))
        return "\n".join(parts)

    # ---- signs

    def _maybe(self, chance: float) -> bool:
        return self._rng.random() < chance

    def _space(self) -> str:
        return self._rng.choice(_SPACES)

    def _pair(self) -> tuple[str, str]:
        """An opener and a closer."""
        rng = self._rng
        kind = rng.random()
        if kind < 0.08:
            pair = (rng.choice(_SIGNS), rng.choice(_SIGNS))
        elif kind < 0.16 and self._used:
            # One that begins as another does, or the other itself.
            pair = (rng.choice(self._used) + rng.choice(("", "x", ">", "<b>", "@")), rng.choice(self._used))
        else:
            style = self._own if kind < 0.8 else rng.choice(_STYLES)
            word = rng.choice(_WORDS)
            pair = (style[0].format(word), style[1].format(word))
        self._used += pair
        return pair

    def _mark(self) -> str:
        return self._pair()[0]

    def _around(self, inner: str, *, spaces: bool = True) -> str:
        before, after = self._pair()
        edges = [self._space() if spaces else "" for _ in range(2)]
        return before + edges[0] + inner + edges[1] + after

    # ---- parts

    def _top(self) -> str:
        keys: dict[str, Any] = {}
        if self._maybe(0.2):
            keys["end_of_turn"] = [self._mark() for _ in range(self._rng.randint(1, 2))]
        return self._lines(keys)

    def _reasoning(self) -> dict[str, Any]:
        keys: dict[str, Any] = {"block": self._around("{reasoning}") + self._space()}
        if self._maybe(0.15):
            keys["block"] = "{reasoning}" + self._space() + self._pair()[1] + self._space()
            keys["start"] = "open"
        elif self._maybe(0.2):
            keys["block"] = [keys["block"], self._around("{reasoning}")]
        if self._maybe(0.25):
            keys["repeat"] = True
        if self._maybe(0.15):
            keys["start"] = "open"
        if self._maybe(0.2):
            keys["interrupt"] = [self._mark()]
        if self._maybe(0.05):
            keys["to"] = "content"
        return keys

    def _unclosed_reasoning(self) -> dict[str, Any]:
        """Reasoning that ends where something else opens."""
        keys: dict[str, Any] = {"block": self._space() + self._mark() + self._space() + "{reasoning}" + self._space()}
        if self._maybe(0.15):
            keys["start"] = "open"
        return keys

    def _content(self, *, always: bool) -> dict[str, Any]:
        keys: dict[str, Any] = {}
        if always or self._maybe(0.8):
            keys["block"] = (
                self._around("{content}") if self._maybe(0.7) else self._space() + self._mark() + "{content}"
            )
            if not always and self._maybe(0.3):
                keys["when"] = "reasoning"
            elif self._maybe(0.25):
                keys["before_calls"] = self._around("{content}") if always or self._maybe(0.5) else "{content}"
        if self._maybe(0.4):
            keys["drop"] = [self._mark()]
        return keys

    def _tools(self) -> dict[str, Any]:
        keys: dict[str, Any] = {}
        kind = self._rng.choice(
            ("object", "object", "envelope", "envelope", "tagged", "tagged", "elements", "keywords")
        )
        getattr(self, f"_{kind}")(keys)
        if "{arguments}" in keys["call"] and self._maybe(0.2):
            # A call without arguments may be written otherwise.
            keys["call"] = [keys["call"], keys["call"].replace("{arguments}", "")]
        shape = self._rng.random()
        if "section" in keys:
            pass
        elif shape < 0.3:
            keys["section"] = self._around("{calls}")
        elif shape < 0.45:
            before, after = self._pair()
            keys["section"] = f"{before}[{{calls}}]{after}" if self._maybe(0.8) else "[{calls}]"
            keys["separator"] = ", "
        elif shape < 0.5:
            keys["section"] = self._mark() + self._space() + "{calls}"
        keys.setdefault("separator", self._rng.choice(("", "", "\n", ", ", ";", "\n" + self._mark())))
        return keys

    def _name(self) -> str:
        """The name, and what is around it."""
        rng, spaces = self._rng, self._space
        text = "{name}"
        if self._maybe(0.15):
            text = rng.choice(("{name}.{name}", "{id}" + self._mark() + "{name}", "{name}:{index}", "fn.{name}"))
        elif self._maybe(0.15):
            text += spaces() + self._mark() + "{id}"
        between = rng.choice(("", "", ">", "\n", " ", self._mark(), spaces() + self._mark() + spaces()))
        return text + between

    def _object(self, keys: dict[str, Any]) -> None:
        inner = self._name() + "{arguments}"
        if "{id}" not in inner and self._maybe(0.2):
            # What stands after the arguments.
            inner += self._mark() + self._rng.choice(("{id}", "{index}" + self._mark() + "{id}"))
        keys["call"] = self._mark() + self._space() + inner if self._maybe(0.15) else self._around(inner)
        self._notation(keys)

    def _notation(self, keys: dict[str, Any]) -> None:
        if self._maybe(0.3):
            keys["literals"] = self._rng.choice(_NOTATIONS)

    def _envelope(self, keys: dict[str, Any]) -> None:
        rng = self._rng
        keys["envelope"] = rng.sample(_ENVELOPES, rng.choice((1, 1, 2)))
        kind = rng.random()
        if kind < 0.25:
            keys["call"] = "{envelope}"
        elif kind < 0.35:
            keys["call"] = self._mark() + "{name}" + self._mark() + "{envelope}" + self._mark()
        elif kind < 0.45:
            keys["call"] = self._mark() + self._space() + "{envelope}"
        else:
            keys["call"] = self._around("{envelope}")
        if self._maybe(0.1):
            self._notation(keys)

    def _tagged(self, keys: dict[str, Any]) -> None:
        if self._maybe(0.3):
            self._open_values(keys)
            return
        rng = self._rng
        keys["call"] = self._around(self._name() + self._space() + "{arguments}")
        if self._maybe(0.2):
            # An attribute beside the key.
            opener, closer = self._pair()
            keys["argument"] = f'{opener}{self._space()}"{{key}}"{self._space()}={{value}}{closer}'
        else:
            key, value = self._pair(), self._pair()
            value_edge = self._space()
            keys["argument"] = (
                key[0] + "{key}" + rng.choice((key[1], key[1], "=", ">")) + self._space()
                + rng.choice((value[0], value[0], "")) + value_edge + "{value}" + value_edge + value[1]
            )  # fmt: skip
        if self._maybe(0.25):
            keys["argument"] = keys["argument"].replace("{key}", "{key}" + self._mark() + "{type}")
            keys["types"] = rng.choice(
                (
                    {"true": "string", "false": "json"},
                    {"str": "string", "*": "json"},
                    {"s": "string", "n": "number", "j": "json"},
                    {"text": "string", "int": "integer", "flag": "boolean", "list": "array", "*": "json"},
                )
            )
        if self._maybe(0.3):
            keys["argument_separator"] = rng.choice(("\n", ", ", self._mark()))
        if self._maybe(0.3):
            keys["values"] = "json"
        if self._maybe(0.15):
            keys["escape"] = rng.choice((["values"], ["attributes", "values"]))
        self._notation(keys)

    def _open_values(self, keys: dict[str, Any]) -> None:
        """Arguments whose values have no marker after them, and whose keys may have none before."""
        rng = self._rng
        opener = rng.choice(("", "", "- ", self._mark()))
        keys["call"] = self._around(self._name() + rng.choice(("\n", " ", ":\n")) + "{arguments}" + self._space())
        keys["argument"] = opener + "{key}" + rng.choice(("=", ": ", " = ", self._mark())) + "{value}"
        kind = rng.random()
        if kind < 0.4:
            keys["argument"] += "\n"
        elif kind < 0.9 or not opener:
            keys["argument_separator"] = rng.choice(("\n", "; ", " | ", self._mark()))
        if self._maybe(0.3):
            keys["values"] = "json"

    def _elements(self, keys: dict[str, Any]) -> None:
        opens, closes = self._rng.choice(
            (("<{}>", "</{}>"), ("<<{}>>", "<</{}>>"), ("⟪{}⟫", "⟪/{}⟫"), ("[{}]", "[/{}]"))
        )
        edge = self._space()
        keys["call"] = self._around(self._name() + self._space() + "{arguments}")
        keys["argument"] = opens.format("{key}") + edge + "{value}" + edge + closes.format("{key}")
        if self._maybe(0.6):
            keys["item"] = "item"
        if self._maybe(0.2):
            keys["argument_separator"] = "\n"

    def _keywords(self, keys: dict[str, Any]) -> None:
        rng = self._rng
        open_sign, close_sign = rng.choice((("(", ")"), ("(", ")"), ("<<", ">>"), ("⟪", "⟫"), ("{", "}")))
        keys["call"] = "{name}" + open_sign + "{arguments}" + close_sign
        if self._maybe(0.4):
            keys["call"] = self._around(keys["call"])
        else:
            keys["section"] = rng.choice((self._around("[{calls}]"), self._around("{calls}"), "[{calls}]"))
            keys["separator"] = ", "
        keys["argument"] = "{key}" + rng.choice(("=", ": ", "=>", " := ")) + "{value}"
        keys["argument_separator"] = rng.choice((", ", ";", " | "))
        keys["values"] = "literal"
        keys["literals"] = rng.choice(("json", *_NOTATIONS))

    # ---- headers

    def _with_headers(self) -> str:
        rng = self._rng
        start, body, kind = self._mark(), self._mark(), self._mark()
        to = rng.choice((" to=", " for:", self._mark()))
        ends = [self._mark() for _ in range(rng.choice((1, 2, 3)))]
        role = rng.choice(("", "me", "assistant"))
        messages: dict[str, Any] = {"start": start + role, "fields": [to, kind], "body": body, "end": ends}
        if self._maybe(0.15):
            del messages["end"]
            ends = [""]
        if self._maybe(0.2):
            messages["otherwise"] = "reasoning"
        parts = [self._top(), self._table("messages", messages)]
        if self._maybe(0.7):
            edge = self._space()
            block = f"{kind}draft{body}{edge}{{reasoning}}{edge}{ends[0]}"
            parts.append(self._table("reasoning", {"block": block} | ({"repeat": True} if self._maybe(0.5) else {})))
        blocks = [f"{kind}answer{body}{{content}}{ends[-1]}"]
        if self._maybe(0.5):
            blocks.append(f"{kind}remark{body}{{content}}{ends[0]}")
        parts.append(self._table("content", {"block": blocks}))
        tools: dict[str, Any] = {}
        getattr(self, rng.choice(("_object", "_object", "_envelope", "_tagged")))(tools)
        for key in ("section", "separator", "call", "also"):
            tools.pop(key, None)
        prefix = rng.choice(("", "fn."))
        inner = "{envelope}" if "envelope" in tools else "{arguments}"
        if inner == "{arguments}" and "argument" in tools and self._maybe(0.5):
            inner += self._mark()
        call_id = ""
        if not any("{id}" in str(one) for one in tools.values()) and self._maybe(0.3):
            messages["fields"].append(rng.choice((" id=", self._mark())))
            call_id = messages["fields"][-1] + rng.choice(("{id}", "c.{id}"))
            parts[1] = self._table("messages", messages)
        tools["call"] = f"{kind}remark{to}{prefix}{{name}}{call_id}{body}{inner}{ends[-1]}"
        if self._maybe(0.3):
            tools["call"] = [tools["call"], f"{to}{{name}}{kind}remark{body}{inner}{ends[-1]}"]
        parts.append(self._table("tools", tools))
        return "\n".join(parts)

    # ---- TOML

    def _table(self, name: str, keys: dict[str, Any]) -> str:
        return f"[{name}]\n{self._lines(keys)}"

    def _lines(self, keys: dict[str, Any]) -> str:
        return "".join(f"{key} = {self._value(value)}\n" for key, value in keys.items())

    def _value(self, value: Any) -> str:
        if isinstance(value, dict):
            pairs = (f"{json.dumps(key)} = {self._value(inner)}" for key, inner in value.items())
            return "{ " + ", ".join(pairs) + " }"
        return json.dumps(value, ensure_ascii=False)


class DrawMessages:
    """Draws messages whose texts are made of pieces of one format's own signs."""

    def __init__(self, fmt: ChatFormat, rng: random.Random) -> None:
        self._rng = rng
        self._fmt = fmt
        signs = [*fmt.preserved_tokens, *fmt.triggers, *literals(fmt)]
        halves = [text[: rng.randint(1, len(text))] for text in signs] + [
            text[rng.randrange(len(text)) :] for text in signs
        ]
        self._signs = [*signs, *halves] or ["<"]

    def plain(self) -> Message:
        """A message of all parts that the format has; nothing in it looks like anything."""
        spec = self._fmt.spec
        arguments = {"word": "it is so", "n": 12, "list": ["a", "b"]}
        calls = [("look_up", json.dumps(arguments)), ("look", "{}")] if spec.tools is not None else []
        return Message(
            content="Yes, so.",
            reasoning_content="Well, then."
            if spec.reasoning is not None and spec.reasoning.to == "reasoning"
            else None,
            tool_calls=tuple(ToolCall(id="", name=name, arguments=text) for name, text in calls),
        )

    def message(self) -> Message:
        """Anything."""
        rng = self._rng
        calls = [
            ToolCall(
                id=rng.choice(("", "", "id7")),
                name=rng.choice(("look", "look_up", "look_up")),
                arguments=self._arguments(),
            )
            for _ in range(rng.choice((0, 1, 1, 2, 3)))
        ]
        content = self._text(0.25) if rng.random() < 0.6 else ""
        reasoning = self._text(0.25) if rng.random() < 0.5 else ""
        return Message(content=content or None, reasoning_content=reasoning or None, tool_calls=tuple(calls))

    def _text(self, wild: float) -> str:
        """Words; with this chance each piece is a sign of the format, or a part of one."""
        rng = self._rng
        common = [
            "a",
            "so",
            " ",
            " ",
            "é",
            "\n",
            "1",
            "思",
            "it's",
            '"',
            "\\",
            "{",
            "}",
            "null",
            ",",
            "&",
            "true",
            ": ",
        ]
        return "".join(
            rng.choice(self._signs if rng.random() < wild else common) for _ in range(rng.choice((0, 1, 2, 4, 7)))
        )

    def _arguments(self) -> str:
        rng = self._rng
        keys = ("word", "n", "sure", "any", "list", "deep", "maybe", "other")
        chosen = rng.sample(keys, rng.choice((0, 1, 1, 2, 3)))
        value = {key: self._value(key) if rng.random() < 0.8 else self._any(2) for key in chosen}
        return json.dumps(value, ensure_ascii=rng.random() < 0.3)

    def _value(self, key: str) -> Any:
        rng = self._rng
        kinds: dict[str, Any] = {
            "word": self._text(0.3),
            "n": rng.choice((0, -7, 12345678901234567890)),
            "sure": rng.random() < 0.5,
            "list": [self._text(0.2) for _ in range(rng.randint(0, 3))],
            "deep": {"a": self._text(0.2), "b": [1, None]} if rng.random() < 0.5 else {},
            "maybe": rng.choice((None, "null", self._text(0.3))),
        }
        return kinds[key] if key in kinds else self._any(2)

    def _any(self, depth: int) -> Any:
        rng = self._rng
        if depth and rng.random() < 0.4:
            inner = [self._any(depth - 1) for _ in range(rng.randint(0, 3))]
            return inner if rng.random() < 0.5 else {self._text(0.2) or "k": one for one in inner}
        return rng.choice((None, True, False, 0, -1.5, 1e30, "", "1", "null", self._text(0.3), self._text(0.3)))

    def junk(self, text: str) -> str:
        """A text with signs of the format where none belong."""
        rng = self._rng
        for _ in range(rng.randint(1, 3)):
            at, to = sorted((rng.randint(0, len(text)), rng.randint(0, len(text))))
            keep = text[at:to] if rng.random() < 0.2 else text
            at = rng.randint(0, len(keep))
            text = keep[:at] + rng.choice(self._signs) + keep[at:]
        return text


def damaged(text: str, rng: random.Random) -> str:
    """The text with one character removed, or written twice."""
    if not text:
        return text
    at = rng.randrange(len(text))
    return text[:at] + text[at + 1 :] if rng.random() < 0.5 else text[: at + 1] + text[at:]


def literals(fmt: ChatFormat) -> list[str]:
    """Every fixed text of a format."""
    spec = fmt.spec
    content, messages = spec.content, spec.messages
    patterns = [*spec.reasoning_blocks, *spec.wrappers]
    texts = [*spec.end_of_turn, *interrupts(spec), *(content.drop if content else ())]
    if messages is not None:
        texts += [*messages.start, *messages.fields, messages.body, *messages.end]
    for form in spec.tools.forms if spec.tools else ():
        patterns += [*form.section, *form.call, *form.argument, *(one.pattern for one in form.envelope)]
        texts += [form.separator, form.argument_separator]
    texts += [item.text for pattern in patterns for item in pattern.items if isinstance(item, Literal)]
    return [text for text in texts if text.strip()]
