"""Plain answers that come whole."""

from __future__ import annotations

from syntagma.doctor.answers import answer_of
from syntagma.doctor.asks import NAMED, PARTS, PLAIN, TEXT
from syntagma.doctor.checks.common import TEXT_ENDS, must, uncut
from syntagma.doctor.endpoint import Endpoint
from syntagma.doctor.outcomes import Check, Fault, Outcome, Unsure
from syntagma.doctor.values import at, is_count, listed, word

__all__ = ["CHECKS"]


def _whole(endpoint: Endpoint) -> str | None:
    answer = must(endpoint.ask(PLAIN))
    if not answer.exchange.content_type.startswith("application/json"):
        raise Fault(f"the content type is {answer.exchange.content_type!r}", answer.exchange)
    return endpoint.note


def _envelope(endpoint: Endpoint) -> str | None:
    answer = answer_of(endpoint.ask(PLAIN))
    body = answer.exchange.json()
    if at(body, "object") != "chat.completion":
        raise Fault("object is not 'chat.completion'", answer.exchange)
    if not word(body, "id") or not word(body, "model"):
        raise Fault("id or model is missing", answer.exchange)
    if not is_count(at(body, "created")):
        raise Fault("created is not a time in whole seconds", answer.exchange)
    if len(listed(body, "choices")) != 1 or at(body, "choices", 0, "index") != 0:
        raise Fault("there is not exactly one choice, with index 0", answer.exchange)
    return None


def _message(endpoint: Endpoint) -> str | None:
    answer = answer_of(endpoint.ask(PLAIN))
    if at(answer.message, "role") != "assistant":
        raise Fault("the role of the message is not 'assistant'", answer.exchange)
    content = at(answer.message, "content")
    if "content" not in answer.message or not isinstance(content, str | None):
        raise Fault("the message needs content, a text or null", answer.exchange)
    if answer.calls:
        raise Fault("there are calls, though no tool was declared", answer.exchange)
    return None


def _reason(endpoint: Endpoint) -> str | None:
    answer = answer_of(endpoint.ask(PLAIN))
    if answer.finish_reason not in TEXT_ENDS:
        raise Fault(f"finish_reason of plain text is {answer.finish_reason!r}", answer.exchange)
    return None


def _usage(endpoint: Endpoint) -> str | None:
    answer = answer_of(endpoint.ask(PLAIN))
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    prompt, completion, total = (at(answer.usage, name) for name in names)
    if not (is_count(prompt) and is_count(completion) and is_count(total)):
        raise Fault("usage needs prompt_tokens, completion_tokens and total_tokens", answer.exchange, answer.usage)
    if not prompt or prompt + completion != total:
        raise Fault("the tokens of prompt and completion do not add up to the total", answer.exchange, answer.usage)
    return None


def _ids(endpoint: Endpoint) -> str | None:
    exchanges = (endpoint.ask(PLAIN), endpoint.ask(PARTS), endpoint.ask(TEXT))
    seen: set[str] = set()
    for exchange in exchanges:
        found = word(exchange.json(), "id") if exchange.status == 200 else ""
        if found and found in seen:
            raise Fault(f"two answers have the id {found!r}", exchange)
        seen.add(found)
    if len(seen - {""}) < 2:
        raise Unsure("there are no two answers with ids")
    return None


def _parts(endpoint: Endpoint) -> str | None:
    answer = answer_of(endpoint.ask(PARTS))
    return None if answer.kinds else "nothing was answered"


def _not_empty(endpoint: Endpoint) -> str | None:
    looked = False
    for body in (PLAIN, TEXT, NAMED):
        for exchange in endpoint.both(body):
            try:
                answer = answer_of(exchange)
            except Outcome:
                continue  # another check tells of it
            if answer.kinds or answer.was_cut:
                looked = True
            elif is_count(written := at(answer.usage, "completion_tokens")) and written > 2:
                raise Fault(f"{written} tokens were written, and nothing of them is in the answer", exchange)
    if not looked:
        raise Unsure("the model wrote nothing")
    return None


def _content(endpoint: Endpoint) -> str | None:
    answer = uncut(answer_of(endpoint.ask(PLAIN)))
    if not answer.content.strip() and not answer.reasoning:
        raise Unsure("the model wrote nothing")
    if not answer.content.strip():
        raise Fault("the whole answer is reasoning, and content is empty", answer.exchange)
    return None


CHECKS = (
    Check(
        "chat.whole",
        "a plain question is answered",
        "POST /chat/completions with one message",
        "Nothing works.",
        "Answer with status 200 and a JSON body.",
        _whole,
    ),
    Check(
        "chat.envelope",
        "an answer has id, object, created, model, and one choice",
        "one message",
        "Typed clients raise where a member is missing or of another type.",
        "Fill every member of a chat completion.",
        _envelope,
    ),
    Check(
        "chat.message",
        "the message has role 'assistant' and content, a text or null",
        "one message",
        "Clients append the message to the conversation, and the next request is refused.",
        "Always write `role` and `content`; write calls only for tools that the request declares.",
        _message,
    ),
    Check(
        "chat.content",
        "the answer is in content",
        "one message",
        "Users see an empty answer. This happens if everything counts as reasoning that was never closed.",
        "Derive from the prompt whether reasoning is open, not from a flag.",
        _content,
    ),
    Check(
        "chat.finish-reason",
        "the finish reason of plain text is 'stop' or 'length'",
        "one message",
        "Agents decide by it whether to go on; unknown words end loops or repeat them without end.",
        "Answer `stop`, `length`, `tool_calls` or `content_filter`.",
        _reason,
    ),
    Check(
        "chat.usage",
        "usage has counts that add up",
        "one message",
        "Bills and budgets of context are wrong.",
        "Count prompt and completion, and write their sum.",
        _usage,
    ),
    Check(
        "chat.ids",
        "every answer has an id of its own",
        "three requests",
        "Logs and caches take one answer for another.",
        "Draw ids at random.",
        _ids,
    ),
    Check(
        "chat.parts",
        "content may be a list of parts",
        'content: [{"type": "text", …}]',
        "Clients that always send parts, as agents do, get an error or an answer to nothing.",
        "Join the texts of the parts before the template is rendered.",
        _parts,
    ),
    Check(
        "chat.not-empty",
        "the generated text is in the answer",
        "three requests, whole and streamed",
        "Answers are lost without an error: content, reasoning and calls are empty although tokens were generated.",
        "Return text as content if it cannot be read as anything else.",
        _not_empty,
    ),
)
