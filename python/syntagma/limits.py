"""`Limits`: all bounds on inputs and work.

An input beyond a bound raises `LimitError` with a code `E-LIMIT-…`; nothing is cut silently. Limits are inclusive: an
input of exactly the limit is accepted.
"""

from __future__ import annotations

import msgspec

from syntagma.entry import check_fields

__all__ = ["Limits"]

_KIB = 1024
_MIB = 1024 * _KIB


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds on inputs and work. The defaults suit a public server."""

    schema_bytes: int = 2 * _MIB
    """JSON Schema with its `resources`, bytes as compact JSON without titles, descriptions and other remarks."""
    schema_depth: int = 256
    """JSON Schema, nesting."""
    schema_ref_hops: int = 1_000
    """length of a chain of `$ref`s without other keywords."""
    schema_enum_values: int = 50_000
    """values in all `enum`s of one schema."""

    grammar_bytes: int = 2 * _MIB
    """EBNF, GBNF, Lark, structural tag or choices, bytes."""
    grammar_nesting: int = 256
    """nested groups; nested parts of a regular expression, 200 at most."""
    grammar_alternatives: int = 200_000
    """alternatives in all rules."""

    tools: int = 1_000
    """tools of one request."""

    regex_bytes: int = 64 * _KIB
    """one pattern, bytes."""
    regex_repetition: int = 1_000_000
    """the bound in `{m,n}`; never expanded."""
    regex_expansion: int = 10_000
    """product of the bounds of nested repetitions."""

    compile_fuel: int = 5_000_000
    """units of work of one compilation: symbols of rules, parts of patterns, derivatives."""
    grammar_seconds: float = 10.0
    """CPU time of reading all schemas and grammars of one request, seconds."""
    step_fuel: int = 2_000_000
    """Earley items and trie nodes visited by one call of a matcher."""
    json_whitespace: int = 64
    """consecutive whitespace characters inside JSON."""

    compiler_cache_bytes: int = 256 * _MIB
    """compiled grammars of one compiler, bytes."""
    compiler_cache_entries: int = 1_000
    """compiled grammars of one compiler."""
    grammar_cache_bytes: int = 64 * _MIB
    """states and masks of one compiled grammar, bytes; exceeded only by what its matchers use."""
    terminal_cache_bytes: int = 64 * _MIB
    """token classifications of terminals, bytes for each vocabulary."""
    process_cache_bytes: int = 512 * _MIB
    """states and masks of all compiled grammars of the process, bytes."""

    template_bytes: int = 256 * _KIB
    """template source, bytes as UTF-8."""
    template_steps: int = 500_000
    """units of work of one render, of about a microsecond; a render of long messages may take more."""
    template_steps_per_character: int = 200
    """units of work of one render for each character of its messages, where that is more than `template_steps`: some
    templates look at all messages for each of them."""
    template_output_bytes: int = 16 * _MIB
    """output, and every intermediate string, bytes (measured in code points, at most four bytes each)."""
    template_items: int = 1_000_000
    """items of every intermediate list, tuple, dict or range."""
    template_integer_bits: int = 64 * 1024
    """bits of every intermediate integer."""
    template_nesting: int = 64
    """nested macro calls; nested blocks of the source."""
    template_seconds: float = 20.0
    """CPU time of one render, seconds."""
    analysis_seconds: float = 3.0
    """CPU time of all renders of one `analyze()`, seconds."""

    parser_header_chars: int = 4 * _KIB
    """text of a call before its arguments, code points."""
    parser_argument_chars: int = 8 * _MIB
    """one argument or literal, code points."""

    openchatml_header_bytes: int = 64 * _KIB
    """YAML header of a transcript, bytes as UTF-8."""
    openchatml_header_depth: int = 32
    """YAML header of a transcript, nesting."""
    openchatml_message_header_chars: int = 4 * _KIB
    """header of one message, code points."""

    server_connections: int = 4_096
    """connections at once; fewer if the process may open fewer files."""
    server_header_bytes: int = 64 * _KIB
    """head of a request, bytes."""
    server_header_seconds: float = 20.0
    """time from the beginning of a connection or request until its head is complete, seconds."""
    server_body_bytes: int = 8 * _MIB
    """request body, bytes."""
    server_body_containers: int = 100_000
    """objects and arrays of a request body."""
    server_body_values: int = 1_000_000
    """members and items in all of them."""
    server_body_seconds: float = 60.0
    """time from the head of a request until its body is complete, seconds."""
    server_bodies_bytes: int = 256 * _MIB
    """total size of the request bodies that are being read or answered, bytes."""
    server_n: int = 16
    """`n` of one request."""
    server_stop: int = 16
    """stop strings of one request."""
    server_stop_bytes: int = 256
    """one stop string, bytes as UTF-8."""
    server_top_logprobs: int = 20
    """`top_logprobs` of one request."""
    server_streams: int = 256
    """requests answered at once, including those that wait for their generation to begin."""
    server_queue_seconds: float = 300.0
    """wait for a generation to begin, seconds."""
    server_write_seconds: float = 30.0
    """time for which a client reads nothing of its response, seconds."""

    def __post_init__(self) -> None:
        check_fields(self)
