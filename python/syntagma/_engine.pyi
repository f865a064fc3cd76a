"""The Rust core of `syntagma`. Private: the typed names of the package are the public face."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

from syntagma.limits import Limits
from syntagma.request import Budgets

__all__ = [
    "CompiledGrammar",
    "Grammar",
    "GrammarCompiler",
    "GrammarMatcher",
    "Vocabulary",
    "accept_token_batch",
    "fill_next_token_bitmask_batch",
]

@final
class Grammar:
    """An immutable grammar of any source."""

    @staticmethod
    def from_ebnf(text: str, start: str, grammars: Sequence[tuple[str, Grammar]], limits: Limits) -> Grammar: ...
    @staticmethod
    def from_gbnf(text: str, start: str, limits: Limits) -> Grammar: ...
    @staticmethod
    def from_lark(text: str, start: str, limits: Limits) -> Grammar: ...
    @staticmethod
    def from_regex(pattern: str, limits: Limits, ecma: bool = False) -> Grammar: ...
    @staticmethod
    def from_json_schema(schema: str, options: Any, limits: Limits) -> Grammar: ...
    @staticmethod
    def literal(bytes: bytes) -> Grammar: ...
    @staticmethod
    def marker(text: str) -> Grammar: ...
    @staticmethod
    def token(text: str) -> Grammar: ...
    @staticmethod
    def token_ids(ranges: Sequence[tuple[int, int]]) -> Grammar: ...
    @staticmethod
    def token_except(ranges: Sequence[tuple[int, int]], texts: Sequence[str]) -> Grammar: ...
    @staticmethod
    def text(without: Sequence[str], closer: str | None) -> Grammar: ...
    @staticmethod
    def union(grammars: Sequence[Grammar]) -> Grammar: ...
    @staticmethod
    def concat(grammars: Sequence[Grammar]) -> Grammar: ...
    @staticmethod
    def repeat(grammar: Grammar, min: int, max: int | None, separator: Grammar | None) -> Grammar: ...
    def inside_json_string(self) -> Grammar: ...
    def spelled(self, escapes: list[tuple[str, str]]) -> Grammar: ...
    @staticmethod
    def labelled(label: str, grammar: Grammar) -> Grammar: ...
    def to_bytes(self) -> bytes:
        """The grammar as bytes for another process, with its report and warnings."""

    @staticmethod
    def from_bytes(data: bytes) -> Grammar:
        """What `to_bytes` has written.

        Raises `ArgumentError`: `E-STATE-FORMAT` (damaged, or something else) or `E-STATE-VERSION`.
        """

    def placed(self, place: str) -> Grammar: ...
    def report_pointers(self) -> list[tuple[str, str]]: ...
    def warnings(self) -> list[dict[str, Any]]: ...
    def rule_count(self) -> int: ...
    def to_ebnf(self) -> str: ...
    def to_gbnf(self, ids: Mapping[str, int] | None = None) -> tuple[str, list[str], bool]: ...
    def to_lark(self, ids: Mapping[str, int] | None) -> str: ...
    def symbol_texts(self) -> list[str]:
        """The texts of the markers and special tokens in it."""

    def exclusions(self) -> list[tuple[str, Grammar, Grammar]]:
        """For each terminal `x & ~y`: the name of its rule, a grammar of `x`, one of `y`."""

    def dump_lnf(self, limits: Limits) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Vocabulary:
    """Tokens as bytes, with their trie. Immutable."""

    def __new__(
        cls,
        tokens: Sequence[bytes],
        eos_ids: Sequence[int],
        special_ids: Sequence[int],
        marker_ids: Sequence[int],
        vocab_size: int,
    ) -> Vocabulary: ...
    @property
    def vocab_size(self) -> int: ...
    @property
    def memory_bytes(self) -> int: ...

@final
class GrammarCompiler:
    """Compiles grammars for one vocabulary."""

    def __new__(cls, vocabulary: Vocabulary, cache: bool, verify: bool, limits: Limits) -> GrammarCompiler: ...
    def compile(self, grammar: Grammar) -> CompiledGrammar: ...
    def clear(self) -> None: ...
    def stats(self) -> dict[str, int]: ...

@final
class CompiledGrammar:
    """A grammar compiled for a vocabulary; shared between matchers and threads."""

    def bounded(self, bounds: Sequence[tuple[str, str, int]]) -> CompiledGrammar:
        """The same with other bounds for its matchers: label, `tokens` or `bytes`, how many."""

    @property
    def vocab_size(self) -> int: ...
    @property
    def fingerprint(self) -> bytes:
        """16 bytes, the same for the same grammar in every process, whatever the vocabulary."""

    def report_pointers(self) -> list[tuple[str, str]]: ...
    def stats(self) -> dict[str, int]: ...

@final
class GrammarMatcher:
    """Follows one text through a compiled grammar.

    `budgets` bound the parts of a turn; None: the bounds of the grammar, if it has any. Where a bound is spent, a part
    is left as soon as it can be, and before that nothing may come from which the shortest way out would be too long. A
    part whose shortest text is longer than its bound gets that text. Bounds on a grammar without labelled parts are
    refused with `ArgumentError` `E-BUDGET-LABEL`. Text given as bytes counts as one token.

    A call that needs more than `Limits.step_fuel` raises `LimitError` `E-LIMIT-STEP`; from then on every call raises
    it, until `reset`. A mistake of the engine itself raises `MatcherError` `E-ENGINE-…`, and every matcher of the
    compiled grammar stays failed with it; the grammar is compiled anew when it is next asked for. A token id that the
    vocabulary does not have raises `ArgumentError` `E-TOKEN-ID` and changes nothing. An argument of a wrong type is
    `ArgumentTypeError` `E-ARGUMENT-TYPE`, a number that is negative or too large `ArgumentError` `E-ARGUMENT-VALUE`.
    """

    def __new__(cls, compiled: CompiledGrammar, *, budgets: Budgets | None = None) -> GrammarMatcher: ...
    @staticmethod
    def from_state_bytes(compiled: CompiledGrammar, state: bytes) -> GrammarMatcher:
        """A matcher as it was when `state_bytes` was called, here or elsewhere, with all that it can take back.

        Raises `ArgumentError`: `E-STATE-FORMAT` (damaged, or something else), `E-STATE-VERSION`, `E-STATE-GRAMMAR` or
        `E-STATE-VOCABULARY` (saved with another one).
        """

    def state_bytes(self) -> bytes:
        """The matcher as bytes that `from_state_bytes` reads."""

    def accept_token(self, token_id: int) -> bool:
        """Take a token if it may come next; if not, nothing changes and the answer is False."""

    def accept_bytes(self, data: bytes) -> bool:
        """Take text, whole or not at all. It is one step for `rollback`."""

    def accepts(self, token_id: int) -> bool:
        """Whether a token may come next."""

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0) -> None:
        """Write which tokens may come next into row `index` of an int32 bitmask [batch, ceil(vocab_size / 32)].

        Bit i of word w is token 32 w + i, 1 is allowed. All ones once the text has ended.
        """

    def mask_logits_inplace(self, logits: Any) -> None:
        """Set the logits of all tokens that may not come next to minus infinity.

        Logits of one sequence: a buffer of float32, or a NumPy array or torch tensor of floats on any device.
        """

    def rollback(self, steps: int) -> None:
        """Take back the last accepted steps."""

    def fork(self) -> GrammarMatcher:
        """A second matcher at the same place with the same past; nothing is copied."""

    def reset(self) -> None:
        """Back to the start of the text; forgets a failure, too."""

    def is_accepting(self) -> bool:
        """Whether the text may end here."""

    def is_terminated(self) -> bool:
        """Whether the text has ended: a token that ends the turn was taken."""

    def find_jump_forward_bytes(self) -> bytes:
        """The bytes that must come next; may end inside a character."""

    def jump_forward_tokens(self, tokenize: Callable[[str], Sequence[int]]) -> list[int]:
        """Tokens that must come next and that no later text can regroup.

        `tokenize` is the model's own tokenizer, without special tokens or blanks of its own.
        """

    def take(self, token_ids: Sequence[int]) -> int:
        """Take the tokens of an output in their order; how many belong to it, from the first on.

        It stops at the first token that may not come. Tokens behind the one that ended the turn, which engines hand
        over too, count and are no step for `rollback`.
        """

    def validate_tokens(self, token_ids: Sequence[int]) -> int:
        """How many of the tokens could be accepted in this order."""

    def fill_draft(
        self, token_ids: Sequence[int], bitmask: Any, parents: Sequence[int | None] | None = None
    ) -> list[bool]:
        """Fill row 0 for the present place and row i + 1 behind draft token i; says which tokens were accepted.

        `parents[i]` is the index of the draft token that token i follows (None: the present place); without `parents`
        each follows the one before. Nothing is allowed behind a refused token.
        """

    def shortest_close(self, budget: int | None = None) -> list[int] | None:
        """A shortest way to a place where the text may end, as tokens; None if there is none of `budget` tokens.

        Every token of it is allowed, whatever `budgets` say.
        """

    def closes_within(self, budget: int) -> bool:
        """Whether `shortest_close` finds a way of at most `budget` tokens: much cheaper where there is much room."""

    def captures(self) -> dict[str, list[tuple[int, int]]]:
        """Where the labelled parts of the text lie, by label: spans in bytes, in the order of their beginnings.

        Every label of the grammar has an entry. Where the text may end, the spans are those of a whole reading of it,
        else of the parts that are complete by now. Of several readings that one counts in which the first span starts
        earliest, then is longest, then the next one. Takes about as long as reading the text again, and raises
        `LimitError` `E-LIMIT-STEP` where that is too much; the matcher goes on all the same.
        """

    def explain(self, token_id: int | None = None) -> dict[str, Any]:
        """What is expected, and what becomes of a token.

        `expected`: list of {`rule`, `symbol`, `begun`}; `accepting`; `terminated`; with a token also `token`:
        `allowed`, `dies` (then `dies_at` is the index of its first impossible byte), `not expected` (special),
        `unused`, `spent` (the bound of a part) or `ended`.
        """

    def next_bytes(self) -> bytes:
        """The bytes of text that may come next, ascending."""

    def next_symbol_tokens(self) -> list[tuple[int, int]]:
        """The tokens that the grammar expects next as tokens: inclusive ranges of ids, ascending."""

    @property
    def steps(self) -> int:
        """Steps accepted since the start."""

    @property
    def memory_bytes(self) -> int:
        """Approximate bytes that the matcher holds for itself."""

def fill_next_token_bitmask_batch(
    matchers: Sequence[GrammarMatcher], bitmask: Any, indices: Sequence[int] | None, threads: int | None
) -> None: ...
def accept_token_batch(matchers: Sequence[GrammarMatcher], ids: Sequence[int], threads: int | None) -> list[bool]: ...
