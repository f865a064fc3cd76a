"""llama.cpp loads the GBNF of every shipped format that has calls; what it writes under it, our grammar holds."""

from __future__ import annotations

from typing import Any

import pytest

import syntagma as sg
from syntagma.testing import byte_vocabulary

# Short values, so that most answers come to their end.
TOOLS: list[dict[str, Any]] = [
    {
        "name": "set_timer",
        "parameters": {
            "type": "object",
            "properties": {"minutes": {"type": "integer", "minimum": 1, "maximum": 90}, "loud": {"type": "boolean"}},
            "required": ["minutes"],
            "additionalProperties": False,
        },
    },
    {
        "name": "find",
        "parameters": {
            "type": "object",
            "properties": {
                "kind": {"enum": ["note", "to do"]},
                "word": {"type": "string", "maxLength": 8},
                "pages": {"type": "array", "items": {"enum": [1, 2, None]}, "maxItems": 2},
            },
            "required": ["kind"],
            "additionalProperties": False,
        },
    },
]
PROMPT = "<|im_start|>user\nSet a timer for 7 minutes<|im_end|>\n<|im_start|>assistant\n"
ENDS = ("<|im_end|>", "<|endoftext|>")
ANSWERS = 10
"""of each of the two vocabularies"""
FORMATS = [name for name in sg.formats.names() if sg.formats.get(name).spec.tools is not None]


@pytest.mark.parametrize("name", FORMATS)
def test_answers_under_the_gbnf_of_a_format_are_those_of_its_grammar(llamacpp: Any, name: str) -> None:
    fmt = sg.formats.get(name)
    grammar = fmt.grammar(TOOLS, tool_choice="required", parallel_tool_calls=False)
    compiled = sg.GrammarCompiler(byte_vocabulary(["<|eos|>"])).compile(grammar)
    # Every token that the grammar allows may come: nothing but the temperature is asked of the sampler.
    request = {"prompt": PROMPT, "grammar": grammar.to_gbnf().text, "n_predict": 240}
    request |= {"temperature": 2, "top_k": 0, "top_p": 1, "min_p": 0}
    for seed in range(ANSWERS):
        choice = llamacpp.handle_completions(request | {"seed": seed})["choices"][0]
        text = choice["text"]
        assert text
        if choice["finish_reason"] == "stop":
            text = without_end(text)
            assert grammar.accepts(text), (text, grammar.check(text))
            assert [call.name for call in fmt.parse(text, TOOLS).tool_calls] in (["set_timer"], ["find"]), text
        else:
            # The last character may be cut.
            assert sg.GrammarMatcher(compiled).accept_bytes(text.rstrip("\ufffd").encode()), text


def without_end(text: str) -> str:
    """The text before the token that ended the turn, which this server writes out like any control token."""
    return next((text.removesuffix(end) for end in ENDS if text.endswith(end)), text)
