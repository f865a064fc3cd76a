"""The rules, as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from syntagma.analysis.lint import call_rules, cost, history, lost, prompts, safety, texts
from syntagma.analysis.lint.report import Slip
from syntagma.analysis.lint.subject import Subject

__all__ = ["RULES", "Rule"]


class Rule(msgspec.Struct, frozen=True):
    """A rule: its id, what to do where it is broken, and its check, whose docstring says what breaks it."""

    id: str
    hint: str
    check: Callable[[Subject], Iterator[Slip]]

    @property
    def summary(self) -> str:
        """What breaks the rule, in a sentence."""
        return (self.check.__doc__ or "").partition("\n")[0]


RULES: tuple[Rule, ...] = (
    Rule("parallel-calls", "loop over `tool_calls`; models write several calls in one turn", call_rules.parallel_calls),
    Rule(
        "arguments-text",
        "take text as it is: `args if args is string else args | tojson`",
        call_rules.arguments_as_text,
    ),
    Rule(
        "arguments-object",
        "take objects, too: `args if args is string else args | tojson`",
        call_rules.arguments_as_object,
    ),
    Rule(
        "arguments-twice", "write text as it is: `args if args is string else args | tojson`", call_rules.double_encoded
    ),
    Rule(
        "tool-results",
        "write every message of role `tool`, with its call's id or in the order of calls",
        call_rules.tool_results,
    ),
    Rule(
        "results-order",
        "write the id of the call with each result, or look for the result of each call by its id",
        lost.results_by_order,
    ),
    Rule("call-content", "write `content` before the calls of its message, whatever else it has", lost.beside_calls),
    Rule("lost-tools", "write the declared tools, and the calls of each message", lost.tools),
    Rule("tool-members", "ask before: `tool.function.description or ''`", lost.tool_members),
    Rule("lost-system", "write every system message in its place, or join them in the first", lost.system_text),
    Rule("lost-developer", "treat the role `developer` as `system`", lost.developer),
    Rule("lost-message", "leave out the first message only if it is the system's", lost.first_message),
    Rule(
        "history-reasoning",
        "write it, or say that earlier reasoning is left out on purpose",
        history.reasoning_in_history,
    ),
    Rule("loop-reasoning", "keep reasoning after the last message of the user", history.reasoning_in_tool_loop),
    Rule("prefix", "let what a message writes depend on it and the ones before alone", history.prefix_stability),
    Rule("altered-text", "write `content` as it is, and keep whitespace in your own literals", texts.altered_texts),
    Rule("altered-call", "write names and arguments as they are: no filter after `tojson`", texts.altered_calls),
    Rule("interpreted-text", "look for markers in the assistant's texts alone", texts.interpreted_texts),
    Rule("no-prompt", "write the assistant's header if `add_generation_prompt`", prompts.missing_prompt),
    Rule("other-prompt", "write the same header in the generation prompt as in turns", prompts.differing_prompt),
    Rule("forgeable-turns", "separate turns by control tokens of the vocabulary", safety.forgeable_turns),
    Rule(
        "growing-work", "look at each message once; count in a namespace instead of searching again", cost.growing_work
    ),
    Rule("unbounded-work", "render long conversations, or split the work that a template does", cost.unbounded_work),
)
"""in the order in which they are tried and reported"""
