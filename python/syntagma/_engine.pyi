"""The Rust core of `syntagma`. Private: use the public names of the package."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

from syntagma.decoding.explanation_values import MatcherExplanation
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
    "read_tokenizer_json",
    "strict_schema",
]

@final
class Grammar:
    """An immutable grammar, from any source."""

    @staticmethod
    def from_ebnf(text: str, start: str, grammars: Sequence[tuple[str, Grammar]], limits: Limits) -> Grammar: ...
    @staticmethod
    def from_gbnf(text: str, start: str, limits: Limits) -> Grammar: ...
    @staticmethod
    def from_lark(
        text: str,
        start: str,
        grammars: Sequence[tuple[str, Grammar]],
        files: Sequence[tuple[str, str]],
        limits: Limits,
    ) -> tuple[Grammar, list[tuple[str, int]]]: ...
    @staticmethod
    def lark_imports(text: str, file: str) -> list[str]: ...
    @staticmethod
    def from_xgrammar(text: str, start: str, limits: Limits) -> tuple[Grammar, list[tuple[str, int]]]: ...
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
    def saved(self, schema: str | None, bounds: Sequence[tuple[str, str, int]]) -> bytes:
        """The grammar with its schema and its bounds, as bytes for any host."""

    @staticmethod
    def from_saved(data: bytes) -> tuple[Grammar, str | None, list[tuple[str, str, int]]]:
        """Read what `saved` wrote.

        Raises `ArgumentError`: `E-STATE-FORMAT` (damaged, or not a grammar) or `E-STATE-VERSION`.
        """

    def placed(self, place: str) -> Grammar: ...
    def report_pointers(self) -> list[tuple[str, str]]: ...
    def warnings(self) -> list[dict[str, Any]]: ...
    def labels(self) -> list[str]: ...
    def rule_count(self) -> int: ...
    def to_ebnf(self) -> str: ...
    def to_gbnf(self, ids: Mapping[str, int] | None = None) -> tuple[str, list[str], bool]: ...
    def to_lark(self, ids: Mapping[str, int] | None) -> str: ...
    def symbol_texts(self) -> list[str]:
        """The texts of its markers and special tokens."""

    def exclusions(self) -> list[tuple[str, Grammar, Grammar]]:
        """For each terminal `x & ~y`: the name of its rule, a grammar of `x`, and a grammar of `y`."""

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
        """The same grammar with other bounds for its matchers: label, unit (`tokens` or `bytes`), largest number."""

    @property
    def vocab_size(self) -> int:
        """The width of the vocabulary's logits: tokens, and ids that stand for none."""

    @property
    def fingerprint(self) -> bytes:
        """16 bytes that depend only on the grammar, not on the vocabulary or the process."""

    def report_pointers(self) -> list[tuple[str, str]]:
        """What the grammar does not enforce of its schema: JSON pointers, each with the reason."""

    def stats(self) -> dict[str, int]:
        """What it has found out so far: `states`, `sets`, `residuals` and `masks`, their `bytes`, its `generation`."""

@final
class GrammarMatcher:
    """Follows one text through a compiled grammar.

    `budgets` bound the parts of a turn; None: the bounds of the grammar, if it has any. A part whose bound is spent is
    left as soon as possible, and before that, no token is allowed after which its shortest end would exceed the bound.
    A part whose shortest text is longer than its bound gets that text. Bounds on a grammar without labelled parts raise
    `ArgumentError` `E-BUDGET-LABEL`. Text given as bytes counts as one token.

    A call that needs more than `Limits.step_fuel` raises `LimitError` `E-LIMIT-STEP`, and so does every later call
    until `reset`. An error of the engine itself raises `MatcherError` `E-ENGINE-…`; all matchers of the compiled
    grammar stay failed, and the grammar is compiled again at the next request. A token id outside of the vocabulary
    raises `ArgumentError` `E-TOKEN-ID` and changes nothing. An argument of a wrong type raises `ArgumentTypeError`
    `E-ARGUMENT-TYPE`; a number that is negative or too large raises `ArgumentError` `E-ARGUMENT-VALUE`.
    """

    def __new__(cls, compiled: CompiledGrammar, *, budgets: Budgets | None = None) -> GrammarMatcher: ...
    @staticmethod
    def from_state_bytes(compiled: CompiledGrammar, state: bytes) -> GrammarMatcher:
        """Restore a matcher from `state_bytes`, including the steps that `rollback` can take back.

        Raises `ArgumentError`: `E-STATE-FORMAT` (damaged, or not a matcher), `E-STATE-VERSION`, `E-STATE-GRAMMAR` or
        `E-STATE-VOCABULARY` (saved with another grammar or vocabulary).
        """

    def state_bytes(self) -> bytes:
        """The matcher as bytes, for `from_state_bytes`."""

    def accept_token(self, token_id: int) -> bool:
        """Accept a token if it may come next; if not, return False and change nothing."""

    def accept_bytes(self, data: bytes) -> bool:
        """Accept a text as a whole, or return False and change nothing. It is one step for `rollback`."""

    def accepts(self, token_id: int) -> bool:
        """Whether a token may come next."""

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0) -> None:
        """Write the mask of the next token into row `index` of an int32 bitmask [batch, ceil(vocab_size / 32)].

        Bit i of word w is token 32 w + i; 1: allowed. After the end of the text, all bits are 1.
        """

    def mask_logits_inplace(self, logits: Any) -> None:
        """Set the logits of all tokens that may not come next to minus infinity.

        `logits` are those of one sequence: a buffer of float32, or a NumPy array or torch tensor of floats on any
        device.
        """

    def rollback(self, steps: int) -> None:
        """Take back the last accepted steps."""

    def fork(self) -> GrammarMatcher:
        """A second matcher at the same place with the same past, without copying."""

    def reset(self) -> None:
        """Return to the start of the text. Also clears a failure."""

    def is_accepting(self) -> bool:
        """Whether the text may end here."""

    def is_terminated(self) -> bool:
        """Whether the text has ended: a token that ends the turn was accepted."""

    def find_jump_forward_bytes(self) -> bytes:
        """The bytes that must come next. They may end inside a character."""

    def jump_forward_tokens(self, tokenize: Callable[[str], Sequence[int]]) -> list[int]:
        """Tokens that must come next and that no later text can regroup.

        `tokenize` is the model's own tokenizer; it must add neither special tokens nor whitespace.
        """

    def accept_output(self, token_ids: Sequence[int]) -> int:
        """Accept the tokens of an output in order, and return how many belong to it.

        It stops at the first token that is not allowed. Tokens after the end of the turn, which engines pass as well,
        are counted but are not steps for `rollback`.
        """

    def take(self, token_ids: Sequence[int]) -> int:
        """Deprecated since 0.3: use `accept_output`. Version 0.5 may remove it."""

    def validate_tokens(self, token_ids: Sequence[int]) -> int:
        """The number of tokens, from the first on, that could be accepted in this order. Changes nothing."""

    def fill_draft(
        self, token_ids: Sequence[int], bitmask: Any, parents: Sequence[int | None] | None = None
    ) -> list[bool]:
        """Fill row 0 for the current place and row i + 1 after draft token i. Returns which tokens are accepted.

        `parents[i]` is the index of the draft token that token i follows (None: the current place). Without `parents`,
        each token follows the one before. After a rejected token, nothing is allowed.
        """

    def shortest_close(self, budget: int | None = None) -> list[int] | None:
        """The fewest tokens after which the text may end; None if more than `budget` are needed.

        Every token of it is allowed, even if a budget is exceeded.
        """

    def closes_within(self, budget: int) -> bool:
        """Whether `shortest_close` needs at most `budget` tokens. Much cheaper if the budget is large."""

    def captures(self) -> dict[str, list[tuple[int, int]]]:
        """The spans of the labelled parts of the text, by label, in bytes, ordered by their starts.

        Every label of the grammar has an entry. If the text may end here, the spans are those of a complete parse of
        it, else those of the parts that are complete. If there are several parses, the one is used whose first span
        starts earliest, then is longest, then the same for the next span. It takes about as long as parsing the text
        again. If that takes too much fuel, it raises `LimitError` `E-LIMIT-STEP`, and the matcher stays usable.
        """

    def explain(self, token: int | str | None = None) -> MatcherExplanation:
        """What may come next, and whether a token or a text may. The matcher is not changed.

        `token` is the id of a token, or a text in any tokens; None: no verdict. `str()` of the result says it in words.

        Raises `ArgumentError`: `E-TOKEN-ID`, the vocabulary has no such token; `E-ARGUMENT-VALUE`, the text is empty.
        """

    def _explained(self, token_id: int | None = None) -> dict[str, Any]: ...
    def _token_bytes(self, token_id: int) -> bytes: ...
    def next_bytes(self) -> bytes:
        """The bytes of text that may come next, ascending."""

    def next_symbol_tokens(self) -> list[tuple[int, int]]:
        """The tokens that the grammar expects next as tokens: inclusive ranges of ids, ascending."""

    @property
    def steps(self) -> int:
        """Steps accepted since the start."""

    @property
    def memory_bytes(self) -> int:
        """Approximate memory of the matcher itself, in bytes."""

def fill_next_token_bitmask_batch(
    matchers: Sequence[GrammarMatcher], bitmask: Any, indices: Sequence[int] | None, threads: int | None
) -> None: ...
def accept_token_batch(matchers: Sequence[GrammarMatcher], ids: Sequence[int], threads: int | None) -> list[bool]: ...
def read_tokenizer_json(text: bytes) -> tuple[list[bytes], list[int], list[int]]: ...
def strict_schema(text: str, limits: Any) -> str: ...
