"""Grammars whose texts can be made as long as one likes, in the notation of each engine.

The numbers are those of reports to a peer (mlc-ai/xgrammar) about costs that grow with the text; the grammars are ours.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from typing import NamedTuple


class Shape(NamedTuple):
    """One language: as EBNF (which kbnf reads, too, unless the shape says otherwise), as GBNF and as Lark."""

    text: Callable[[int], str]
    ebnf: str
    gbnf: str = ""
    lark: str = ""
    kbnf: bool = True

    def source(self, kind: str) -> str:
        return {"ebnf": self.ebnf, "gbnf": self.gbnf, "lark": self.lark}[kind]


def _cut(pieces: str, size: int, end: str) -> str:
    """`pieces` over and over, cut to a size, and the end."""
    return (pieces * (size // len(pieces) + 1))[: max(1, size - len(end))] + end


def _rows(size: int) -> str:
    row = "[1,22,333],"
    return "[" + (row * max(1, (size - 2) // len(row)))[:-1] + "]"


def _nested(size: int) -> str:
    return "(" * (size // 2) + "x" + ")" * (size // 2) + "!"


def _json(size: int) -> str:
    source = random.Random(7)
    words = ("river", "stone", "lamp", "orchard", "ink", "north", "quiet", "seven")
    parts: list[str] = []
    length = 0
    while length < size:
        values = (
            source.randrange(10**6),
            source.random(),
            None,
            source.random() < 0.5,
            " ".join(source.choices(words, k=source.randrange(1, 9))),
            [source.randrange(9) for _ in range(source.randrange(5))],
            {source.choice(words): {"deep": ["er", {}]}},
        )
        part = json.dumps({word: source.choice(values) for word in source.sample(words, source.randrange(1, 5))})
        parts.append(part)
        length += len(part) + 2
    return "[" + ", ".join(parts) + "]"


def _deep_json(size: int) -> str:
    opened = '{"a": ['
    return opened * (size // 9) + "0" + "]}" * (size // 9)


def _spaced(size: int) -> str:
    return _cut(" " * 200 + "word\n", size, " END")


def _half_closed(size: int) -> str:
    return _cut("text < with << and <<< in it ", size, "<e>")


def _expression(size: int) -> str:
    return "".join(itertools.islice(itertools.cycle("1+23*4+5"), max(1, size // 8) * 8))[:-1] + "6!"


_JSON_EBNF = r"""
start ::= value;
value ::= object | array | text | number | "true" | "false" | "null";
object ::= "{" gap [member {"," gap member}] "}";
member ::= text gap ":" gap value gap;
array ::= "[" gap [value gap {"," gap value gap}] "]";
text ::= #'"([^"\\\\\x00-\x1f]|[\\\\](["\\\\/bfnrt]|u[0-9a-fA-F]{4}))*"';
number ::= #"-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?";
gap ::= #"[ \t\r\n]*";
"""
_JSON_GBNF = r"""
root ::= value
value ::= object | array | text | number | "true" | "false" | "null"
object ::= "{" gap (member ("," gap member)*)? "}"
member ::= text gap ":" gap value gap
array ::= "[" gap (value gap ("," gap value gap)*)? "]"
text ::= "\"" ([^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" hex hex hex hex))* "\""
hex ::= [0-9a-fA-F]
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [-+]? [0-9]+)?
gap ::= [ \t\r\n]*
"""
_JSON_LARK = r"""
start: value
value: object | array | TEXT | NUMBER | "true" | "false" | "null"
object: "{" (member ("," member)*)? "}"
member: TEXT ":" value
array: "[" (value ("," value)*)? "]"
TEXT: /"([^"\\\x00-\x1f]|\\(["\\\/bfnrt]|u[0-9a-fA-F]{4}))*"/
NUMBER: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/
%ignore /[ \t\r\n]+/
"""

JSON = Shape(_json, _JSON_EBNF, _JSON_GBNF, _JSON_LARK)

SHAPES: dict[str, Shape] = {
    "left recursion": Shape(
        lambda size: _cut("alpha,beta,", size, "z!"),
        'start ::= list "!"; list ::= list "," word | word; word ::= #"[a-z]+";',
        'root ::= list "!"\nlist ::= list "," word | word\nword ::= [a-z]+\n',
        'start: list "!"\nlist: list "," WORD | WORD\nWORD: /[a-z]+/\n',
    ),
    "right recursion": Shape(
        lambda size: _cut("alpha,beta,", size, "z!"),
        'start ::= list "!"; list ::= word "," list | word; word ::= #"[a-z]+";',
        'root ::= list "!"\nlist ::= word "," list | word\nword ::= [a-z]+\n',
        'start: list "!"\nlist: WORD "," list | WORD\nWORD: /[a-z]+/\n',
    ),
    "middle recursion": Shape(
        _nested,
        'start ::= pair "!"; pair ::= "(" pair ")" | "x";',
        'root ::= pair "!"\npair ::= "(" pair ")" | "x"\n',
        'start: pair "!"\npair: "(" pair ")" | "x"\n',
    ),
    "hidden left recursion": Shape(
        lambda size: _cut("y", size, "!"),
        'start ::= run "!"; run ::= none run "y" | "y"; none ::= "" | "n";',
        'root ::= run "!"\nrun ::= none run "y" | "y"\nnone ::= "" | "n"\n',
        'start: run "!"\nrun: none run "y" | "y"\nnone: "n"?\n',
        kbnf=False,
    ),
    "two right recursions, one prefix": Shape(
        lambda size: _cut("a", size, "c!"),
        'start ::= one "!" | two "!"; one ::= "a" one | "b"; two ::= "a" two | "c";',
        'root ::= one "!" | two "!"\none ::= "a" one | "b"\ntwo ::= "a" two | "c"\n',
        'start: one "!" | two "!"\none: "a" one | "b"\ntwo: "a" two | "c"\n',
    ),
    "JSON": JSON,
    "JSON, ever deeper": JSON._replace(text=_deep_json),
    "runs of blanks around text (#704)": Shape(
        _spaced,
        'start ::= gap text gap "END"; gap ::= #"[ \\n]*"; text ::= #"[a-z \\n]*";',
        'root ::= gap text gap "END"\ngap ::= [ \\n]*\ntext ::= [a-z \\n]*\n',
        'start: GAP TEXT GAP "END"\nGAP: /[ \\n]*/\nTEXT: /[a-z \\n]*/\n',
    ),
    "marker that overlaps itself (#873)": Shape(
        _half_closed,
        'start ::= except!("<<!") "<e>";',
        'root ::= none "<e>"\nnone ::= [^<] none | "<" one | ""\none ::= "<" two | [^<] none | ""\n'
        'two ::= "<" two | [^<!] none | ""\n',
        kbnf=False,
    ),
    "lists of lists with lengths (#339)": Shape(
        _rows,
        'start ::= "[" row{1,1000000} % "," "]"; row ::= "[" cell{1,64} % "," "]"; cell ::= #"[0-9]{1,8}";',
        'root ::= "[" row ("," row){0,1000000} "]"\nrow ::= "[" cell ("," cell){0,63} "]"\ncell ::= [0-9]{1,8}\n',
        'start: "[" row ("," row){0,1000000} "]"\nrow: "[" CELL ("," CELL){0,63} "]"\nCELL: /[0-9]{1,8}/\n',
        kbnf=False,
    ),
    "string with lengths (#852, #853)": Shape(
        lambda size: '"' + _cut("plain words, ", size - 1, '"'),
        'start ::= #\'"[^"\\\\\\\\]{100,1000000}"\';',
        'root ::= "\\"" [^"\\\\]{100,1000000} "\\""\n',
        'start: TEXT\nTEXT: /"[^"\\\\]{100,1000000}"/\n',
    ),
    "words with lengths (#235)": Shape(
        lambda size: _cut("alpha beta gamma ", size // 17 * 17, "") + "END" if size > 17 else "alpha END",
        'start ::= {word} "END"; word ::= #"[a-z]{1,20} ";',
        'root ::= word* "END"\nword ::= [a-z]{1,20} " "\n',
        'start: WORD* "END"\nWORD: /[a-z]{1,20} /\n',
    ),
    "operators, ambiguous": Shape(
        _expression,
        'start ::= sum "!"; sum ::= sum "+" sum | sum "*" sum | #"[0-9]+";',
        'root ::= sum "!"\nsum ::= sum "+" sum | sum "*" sum | [0-9]+\n',
        'start: sum "!"\nsum: sum "+" sum | sum "*" sum | NUMBER\nNUMBER: /[0-9]+/\n',
    ),
    "operators by precedence": Shape(
        _expression,
        'start ::= sum "!"; sum ::= sum "+" term | term; term ::= term "*" number | number; number ::= #"[0-9]+";',
        'root ::= sum "!"\nsum ::= sum "+" term | term\nterm ::= term "*" number | number\nnumber ::= [0-9]+\n',
        'start: sum "!"\nsum: sum "+" term | term\nterm: term "*" NUMBER | NUMBER\nNUMBER: /[0-9]+/\n',
    ),
}
