"""An answer with a shape that is not JSON is read as exactly a text of the shape: no whitespace stands around it."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from syntagma.formats import ChatFormat
from tests.constraints.walks import walk
from tests.formats.every import FORMATS

# What one of the answers is, and what every answer is.
SHAPES: list[tuple[dict[str, Any], str]] = [
    ({"type": "regex", "regex": "[ab]{2}"}, "[ab]{2}"),
    ({"type": "choice", "choice": ["yes", "no"]}, "yes|no"),
    ({"type": "grammar", "grammar": 'root ::= " "? "k"'}, " ?k"),
]


def hints(fmt: ChatFormat) -> list[str]:
    """The reasoning's markers, with the whitespace that models like after them."""
    blocks = fmt.spec.reasoning.block if fmt.spec.reasoning is not None else ()
    texts = [text for block in blocks for text in (block.opener, block.closer, block.closer.strip())]
    return [*texts, " ", "\n", "\n\n", "   "] * 2


@pytest.mark.every_format
@pytest.mark.parametrize("name", FORMATS)
def test_the_content_is_a_text_of_the_shape(name: str) -> None:
    fmt = FORMATS[name]
    rng = random.Random(name)
    inline = fmt.spec.reasoning is not None and fmt.spec.reasoning.to == "content"
    found = 0
    for shape, pattern in SHAPES:
        asked: dict[str, Any] = {"response_format": shape, "tool_choice": "none"}
        for reasoning in ("auto",) if fmt.spec.reasoning is None else ("auto", "off"):
            grammar = fmt.grammar(reasoning=reasoning, **asked)
            for _ in range(4):
                text = walk(grammar, rng, hints(fmt), steps=25)
                if text is None:
                    continue
                parser = fmt.parser(reasoning=reasoning, **asked)
                parser.feed(text)
                parser.finish()
                content = parser.message.content or ""
                read = re.search(rf"(?:{pattern})\Z", content) if inline else re.fullmatch(pattern, content)
                assert read, (reasoning, text, parser.message)
                found += 1
    assert found
