"""Every format that there is to hold a law for: the shipped ones, and shapes of our own that no model writes."""

from __future__ import annotations

from syntagma import formats
from syntagma.formats import ChatFormat
from tests.formats.cases import SHAPES, shape_of

__all__ = ["CALLING", "ELEMENTS", "FORMATS", "SHIPPED"]

_OWN = {
    "wrapped": '[reasoning]\nblock = "<t>\\n{reasoning}\\n</t>\\n\\n"\n[content]\nblock = "<a>{content}</a>"\n'
    '[tools]\nsection = "<s>{calls}</s>"\ncall = "<c>{name}\\n{arguments}</c>"\n',
    "delimited": '[reasoning]\nblock = "{reasoning}\\n[GO]\\n"\nstart = "open"\n'
    '[tools]\nsection = "<s>[{calls}]</s>"\nseparator = ", "\ncall = "{envelope}"\n'
    'envelope = \'{"id": "{id}", "call": {"tool": "{name}", "n": {index}, "with": {arguments}}}\'\n',
    "sometimes wrapped": '[reasoning]\nblock = "<t>{reasoning}</t>"\n'
    '[content]\nblock = "<a>{content}</a>"\nwhen = "reasoning"\ndrop = ["<x>"]\n'
    '[tools]\ncall = "\\n<c>\\n<n>{name}</n>{arguments}\\n</c>\\n"\n',
    "with ids": '[tools]\nsection = "<s>{calls}</s>"\ncall = "<c>{id}<v>{arguments}</c>"\n'
    'id = "functions.{name}:{index}"\n',
    "pairs between separators": '[tools]\ncall = "<c>{name}: {arguments}</c>"\nargument = "<k>{key}<v>{value}</v>"\n'
    'argument_separator = "; "\n',
    "an object with words": '[tools]\ncall = "<c>{name}({arguments})</c>"\nliterals = "python"\n',
    "strings between marks": '[tools]\nsection = "<s>{calls}</s>"\ncall = "<c>{name}{arguments}</c>"\n'
    'literals = { quotes = ["<q>"], null = ["nil", "null"] }\n',
    "keywords with bare keys inside": '[tools]\ncall = "<c>{name}({arguments})</c>"\nargument = "{key} = {value}"\n'
    'argument_separator = " , "\nvalues = "literal"\nliterals = { quotes = ["\'"], bare_keys = true }\n',
    "spelled as a string": '[tools]\nsection = "<s>{calls}</s>"\ncall = "<c>{envelope}</c>"\n'
    'envelope = \'{"n": "{name}", "a": "{arguments}"}\'\n',
    "words in an envelope": '[tools]\ncall = "<c>{envelope}</c>"\nenvelope = \'{"n": "{name}", "a": {arguments}}\'\n'
    'literals = "python"\n',
    "marks in an envelope": '[tools]\ncall = "<c>{envelope}</c>"\nenvelope = \'{"n": "{name}", "a": {arguments}}\'\n'
    'literals = { quotes = ["<q>"], bare_keys = true }\n',
    "raw text beside words": '[tools]\ncall = "<c>{name}{arguments}</c>"\nargument = "<k>{key}<v>{value}</v>"\n'
    'literals = "python"\n',
    "raw text by its looks, beside words": '[tools]\ncall = "<c>{name}{arguments}</c>"\n'
    'argument = "<k>{key}<v>{value}</v>"\nvalues = "json"\nliterals = "python"\n',
    "types beside strings in marks": '[tools]\ncall = "<c>{name}{arguments}</c>"\n'
    'argument = "<k {type}>{key}<v>{value}</v>"\n'
    'types = { s = "string", j = "json" }\nliterals = { quotes = ["<q>"], true = ["yes", "true"] }\n',
    "keywords with semicolons": '[tools]\ncall = "<c>{name}({arguments})</c>"\nargument = "{key}={value}"\n'
    'argument_separator = "; "\nvalues = "literal"\nliterals = "python"\n',
    "messages that the next one ends": '[messages]\nfields = [">>>"]\nbody = "\\n"\n[content]\n'
    'block = ">>>all\\n{content}"\n[tools]\ncall = ">>>{name}\\n{arguments}"\n',
    "messages and thoughts that the next one ends": '[messages]\nstart = "<s>bot"\nfields = ["<to>"]\nbody = "<b>"\n'
    '[reasoning]\nblock = "<to>self<b>{reasoning}"\n[content]\nblock = "<to>all<b>{content}"\n'
    '[tools]\ncall = "<to>{name}<b>{arguments}"\n',
    "elements": '[tools]\ncall = "<c={name}>{arguments}</c>"\nargument = "<{key}>{value}</{key}>"\n',
    "elements on lines": '[tools]\ncall = "<c={name}>\\n{arguments}</c>"\n'
    'argument = "<arg {key}>\\n{value}\\n</arg {key}>\\n"\nitem = "entry"\nvalues = "json"\n',
    "types on the wire": '[tools]\nsection = "<s>\\n{calls}</s>"\ncall = "<c={name}>\\n{arguments}</c>\\n"\n'
    'argument = "<k={key} {type}>\\n{value}\\n</k>\\n"\ntypes = { text = "string", data = "json" }\n',
}
SHIPPED = frozenset(formats.names())
FORMATS: dict[str, ChatFormat] = {name: formats.get(name) for name in formats.names()}
FORMATS |= {name: ChatFormat.from_toml(text) for name, text in _OWN.items()}
FORMATS |= {f"shape {path.stem}": shape_of(path) for path in sorted(SHAPES.glob("*.toml"))}
CALLING = [name for name, fmt in FORMATS.items() if fmt.spec.tools is not None]
ELEMENTS = [name for name, fmt in FORMATS.items() if fmt.spec.tools is not None and fmt.spec.tools.element is not None]
