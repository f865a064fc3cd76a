"""Languages for masks: two real ones, and regular expressions of several kinds."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from support.shapes import JSON


class Language(NamedTuple):
    """A language in the notations of the engines, and a text of about any size."""

    text: Callable[[int], str]
    ebnf: str = ""
    gbnf: str = ""
    lark: str = ""
    regex: str = ""

    def source(self, kind: str) -> str:
        return {"ebnf": self.ebnf, "gbnf": self.gbnf, "lark": self.lark, "regex": self.regex}[kind]


_PROGRAM_EBNF = r"""
start ::= gap {function gap} "end.";
function ::= "fn" space name gap "(" gap [name gap {"," gap name gap}] ")" gap block;
block ::= "{" gap {statement gap} "}";
statement ::= binding | change | branch | loop | back | called gap ";";
binding ::= "let" space name gap "=" gap value gap ";";
change ::= name gap "=" gap value gap ";";
branch ::= "if" gap "(" gap value gap ")" gap block [gap "else" gap block];
loop ::= "while" gap "(" gap value gap ")" gap block;
back ::= "return" space value gap ";";
value ::= both {gap "or" space both};
both ::= compared {gap "and" space compared};
compared ::= sum [gap #"[<>]=?|==" gap sum];
sum ::= product {gap #"[+-]" gap product};
product ::= atom {gap #"[*/]" gap atom};
atom ::= number | text | called | name | "(" gap value gap ")";
called ::= name gap "(" gap [value gap {"," gap value gap}] ")";
name ::= #"[a-z_][a-z0-9_]*";
number ::= #"[0-9]+([.][0-9]+)?";
text ::= #'"[^"\n]*"';
gap ::= #"[ \n]*";
space ::= #"[ \n]+";
"""
_PROGRAM_GBNF = r"""
root ::= gap (function gap)* "end."
function ::= "fn" space name gap "(" gap (name gap ("," gap name gap)*)? ")" gap block
block ::= "{" gap (statement gap)* "}"
statement ::= binding | change | branch | loop | back | called gap ";"
binding ::= "let" space name gap "=" gap value gap ";"
change ::= name gap "=" gap value gap ";"
branch ::= "if" gap "(" gap value gap ")" gap block (gap "else" gap block)?
loop ::= "while" gap "(" gap value gap ")" gap block
back ::= "return" space value gap ";"
value ::= both (gap "or" space both)*
both ::= compared (gap "and" space compared)*
compared ::= sum (gap ([<>] "="? | "==") gap sum)?
sum ::= product (gap [-+] gap product)*
product ::= atom (gap [*/] gap atom)*
atom ::= number | text | called | name | "(" gap value gap ")"
called ::= name gap "(" gap (value gap ("," gap value gap)*)? ")"
name ::= [a-z_] [a-z0-9_]*
number ::= [0-9]+ ("." [0-9]+)?
text ::= "\"" [^"\n]* "\""
gap ::= [ \n]*
space ::= [ \n]+
"""
_PROGRAM_LARK = r"""
start: function* "end."
function: "fn" NAME "(" (NAME ("," NAME)*)? ")" block
block: "{" statement* "}"
statement: binding | change | branch | loop | back | called ";"
binding: "let" NAME "=" value ";"
change: NAME "=" value ";"
branch: "if" "(" value ")" block ("else" block)?
loop: "while" "(" value ")" block
back: "return" value ";"
value: both ("or" both)*
both: compared ("and" compared)*
compared: sum (COMPARE sum)?
sum: product (SIGN product)*
product: atom (TIMES atom)*
atom: NUMBER | TEXT | called | NAME | "(" value ")"
called: NAME "(" (value ("," value)*)? ")"
COMPARE: /[<>]=?|==/
SIGN: /[+-]/
TIMES: /[*\/]/
NAME: /[a-z_][a-z0-9_]*/
NUMBER: /[0-9]+(\.[0-9]+)?/
TEXT: /"[^"\n]*"/
%ignore /[ \n]+/
"""


def _program(size: int) -> str:
    source = random.Random(11)
    names = ("total", "left", "row", "next_one", "speed", "k", "found", "limit_2")

    def value(depth: int) -> str:
        kind = source.random()
        if depth == 0 or kind < 0.35:
            return source.choice((source.choice(names), str(source.randrange(500)), '"some text, with a word"'))
        if kind < 0.75:
            return f"{value(depth - 1)} {source.choice('+-*/<>')} {source.choice(names)}"
        if kind < 0.85:
            return f"({value(depth - 1)})"
        return f"{source.choice(names)}({value(depth - 1)}, {value(depth - 1)})"

    def statement(depth: int, indent: str) -> str:
        kind = source.random()
        if depth and kind < 0.2:
            inner = "".join(statement(depth - 1, indent + "    ") for _ in range(2))
            return f"{indent}if ({value(1)}) {{\n{inner}{indent}}} else {{\n{inner}{indent}}}\n"
        if depth and kind < 0.3:
            return f"{indent}while ({value(1)}) {{\n{statement(depth - 1, indent + '    ')}{indent}}}\n"
        if kind < 0.6:
            return f"{indent}let {source.choice(names)} = {value(2)};\n"
        if kind < 0.8:
            return f"{indent}{source.choice(names)} = {value(2)};\n"
        return f"{indent}show({value(1)});\n" if kind < 0.9 else f"{indent}return {value(1)};\n"

    parts: list[str] = []
    while sum(map(len, parts)) < size:
        body = "".join(statement(2, "    ") for _ in range(6))
        parts.append(f"fn step_{len(parts)}(row, speed) {{\n{body}}}\n\n")
    return "".join(parts) + "end."


_ENDS = ("", "x", "yz", "zz")
_NAMES = sorted({f"{first}{second}{end}" for first in "abcdefg" for second in "nopqrst" for end in _ENDS})

LANGUAGES: dict[str, Language] = {
    "JSON": Language(JSON.text, JSON.ebnf, JSON.gbnf, JSON.lark),
    "a small programming language": Language(_program, _PROGRAM_EBNF, _PROGRAM_GBNF, _PROGRAM_LARK),
}
REGEXES: dict[str, Language] = {
    "date": Language(
        lambda _: "2026-02-28!",
        regex="[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])!",
        ebnf='start ::= #"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])!";',
    ),
    "address": Language(
        lambda _: "grace.hopper+navy@mail.example.org!",
        regex="[a-z0-9.+_-]+@[a-z0-9-]+([.][a-z0-9-]+)*[.][a-z]{2,10}!",
        ebnf='start ::= #"[a-z0-9.+_-]+@[a-z0-9-]+([.][a-z0-9-]+)*[.][a-z]{2,10}!";',
    ),
    "200 names": Language(
        lambda _: "dqyz!",
        regex=f"({'|'.join(_NAMES)})!",
        ebnf=f"start ::= ({' | '.join(repr(name) for name in _NAMES)}) '!';".replace("'", '"'),
    ),
    "text of up to 2,000": Language(
        lambda size: "the quick brown fox jumps over the lazy dog "[: min(44, size)] * (min(size, 1_900) // 44) + "!",
        regex="[a-z ]{0,2000}!",
        ebnf='start ::= #"[a-z ]{0,2000}!";',
    ),
    "text of 100 to 2,000": Language(
        lambda size: '"' + "plain words, 12 of them. " * (min(size, 1_900) // 25) + '"',
        regex='"[^"\\\\]{100,2000}"',
        ebnf='start ::= #\'"[^"\\\\\\\\]{100,2000}"\';',
    ),
    "any text, then a word": Language(
        lambda size: "and so it went on and on. " * (size // 26) + "FIN",
        regex="(.|\\n)*FIN",
        ebnf='start ::= #"(.|\\n)*FIN";',
    ),
}
