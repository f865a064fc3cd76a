"""Follow a JSON document through a schema's grammar: what may come next, and what is refused."""

from __future__ import annotations

import syntagma as sg

grammar = sg.Grammar.from_json_schema(
    {
        "type": "object",
        "properties": {"name": {"type": "string", "maxLength": 8}, "size": {"enum": ["small", "large"]}},
        "required": ["name", "size"],
        "additionalProperties": False,
    }
)
print("status:", grammar.report.status)

info = sg.TokenizerInfo.from_tokens([bytes([byte]) for byte in range(256)] + [b"</s>"], eos_token_ids=[256])
matcher = sg.GrammarMatcher(sg.GrammarCompiler(info).compile(grammar))
assert matcher.accept_bytes(b'{"name": "Emma", "size": "')
print("next bytes:", matcher.next_bytes())
assert not matcher.accept_bytes(b"medium")
print("shortest way to the end:", info.decode(matcher.shortest_close() or []))
