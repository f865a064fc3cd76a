"""Keys of calls that contradict each other are refused where the file is read, with the line."""

from __future__ import annotations

import pytest

from syntagma.errors import FormatError
from syntagma.format_schema import read_toml

CALL = '[tools]\ncall = "<call>{name}{arguments}</call>"\n'
ELEMENT = CALL + 'argument = "<{key}>{value}</{key}>"\n'


@pytest.mark.parametrize(
    ("toml", "line"),
    [
        (CALL + 'argument = "<k>{key}</k><v>{value}</v>"\nitem = "x"\n', 4),
        (CALL + 'item = "x"\n', 3),
        (CALL + '[[tools.also]]\ncall = "<other>{name}{arguments}</other>"\nitem = "x"\n', 5),
        (ELEMENT + 'item = "x"\nescape = ["values"]\n', 4),
        (ELEMENT + 'argument_separator = ", "\n', 4),
        (
            '[tools]\ncall = "<call>{envelope}</call>"\nliterals = "python"\n'
            'envelope = \'{"n": "{name}", "a": "{arguments}"}\'\n',
            3,
        ),
    ],
)
def test_keys_that_contradict_each_other(toml: str, line: int) -> None:
    with pytest.raises(FormatError) as raised:
        read_toml(toml)
    assert (raised.value.code, raised.value.line) == ("E-FORMAT-CONFLICT", line)
