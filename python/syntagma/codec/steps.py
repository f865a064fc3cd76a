"""Steps: changes to a conversation that say the same in another shape, for templates that do not take it as it is."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from syntagma.errors import SyntagmaError
from syntagma.formats import ChatFormat
from syntagma.messages import Message

__all__ = ["PROBED_INPUTS", "SORTED", "STEPS", "Step", "applicable", "order_of_results"]

Messages = list[dict[str, Any]]
_SEPARATOR: Final = "\n\n"
"""between texts that are joined"""
_SYSTEM: Final = ("system", "developer")
PROBED_INPUTS: Final = "probed-inputs"
SORTED: Final = "results-sorted"


class Step(msgspec.Struct, frozen=True):
    """A change to conversations.

    Attributes:
        name: its name in `Capabilities.steps`.
        says: what it does, for the log.
        change: the conversation after it; an equal one if there is nothing to do.
        loses_silently: whether a template that needs this step may show such a conversation without a text or in
            another order, and not always refuse it, so that each one is looked at.
    """

    name: str
    says: str
    change: Callable[[Messages, ChatFormat], Messages]
    loses_silently: bool = True


# -- texts


def _joined(first: Any, second: Any) -> Any:
    """Two contents in one: texts joined by an empty line, lists of parts one after the other."""
    if not first or not second:
        return first or second
    if isinstance(first, str) and isinstance(second, str):
        return first + _SEPARATOR + second
    return [*_parts(first), *_parts(second)]


def _parts(content: Any) -> list[Any]:
    return list(content) if isinstance(content, list) else [{"type": "text", "text": content}]


def _is_text(part: Any) -> bool:
    return isinstance(part, Mapping) and isinstance(part.get("text"), str) and part.get("type", "text") == "text"


def _parts_joined(messages: Messages, _: ChatFormat) -> Messages:
    return [
        {**message, "content": "\n".join(part["text"] for part in message["content"])}
        if isinstance(message.get("content"), list) and all(map(_is_text, message["content"]))
        else message
        for message in messages
    ]


def _blanks(messages: Messages, _: ChatFormat) -> Messages:
    return [
        {**message, "content": " "} if not message.get("content") and not message.get("tool_calls") else message
        for message in messages
    ]


# -- roles


def _developer_as_system(messages: Messages, _: ChatFormat) -> Messages:
    return [{**one, "role": "system"} if one.get("role") == "developer" else one for one in messages]


def _systems_first(messages: Messages, _: ChatFormat) -> Messages:
    systems = [one for one in messages if one.get("role") in _SYSTEM]
    if not systems:
        return messages
    content: Any = None
    for one in systems:
        content = _joined(content, one.get("content"))
    return [{**systems[0], "content": content}, *(one for one in messages if one.get("role") not in _SYSTEM)]


def _system_to_user(messages: Messages, _: ChatFormat) -> Messages:
    made: Messages = []
    waiting: Any = None
    for message in messages:
        if message.get("role") == "system":
            waiting = _joined(waiting, message.get("content"))
        elif message.get("role") == "user" and waiting is not None:
            made.append({**message, "content": _joined(waiting, message.get("content"))})
            waiting = None
        else:
            made.append(message)
    if waiting is not None and made and made[-1].get("role") == "user":
        made[-1] = {**made[-1], "content": _joined(made[-1].get("content"), waiting)}
    elif waiting is not None:
        made.append({"role": "user", "content": waiting})
    return made


def _turns_joined(messages: Messages, _: ChatFormat) -> Messages:
    made: Messages = []
    for message in messages:
        before = made[-1] if made else {}
        same = before.get("role") == message.get("role") and message.get("role") in ("user", "assistant", "system")
        if same and not before.get("tool_calls"):
            made[-1] = {**before, **message, "content": _joined(before.get("content"), message.get("content"))}
            if before.get("reasoning_content") and message.get("reasoning_content"):
                joined = _joined(before["reasoning_content"], message["reasoning_content"])
                made[-1]["reasoning_content"] = joined
        else:
            made.append(message)
    return made


def _turns_filled(messages: Messages, _: ChatFormat) -> Messages:
    return _filled(messages, calls_count=True)


def _answers_filled(messages: Messages, _: ChatFormat) -> Messages:
    return _filled(messages, calls_count=False)


def _filled(messages: Messages, *, calls_count: bool) -> Messages:
    """The conversation with empty messages so that user and assistant take turns.

    Args:
        messages: the conversation.
        calls_count: whether a message with calls is a turn of the assistant.
    """
    made: Messages = []
    turn = "user"
    """whose turn it is"""
    for message in messages:
        role = message.get("role")
        if role in ("user", "assistant") and (calls_count or not message.get("tool_calls")):
            if role != turn:
                made.append({"role": turn, "content": ""})
            turn = "user" if role == "assistant" else "assistant"
        made.append(message)
    return made


# -- calls and results


def order_of_results(messages: Messages) -> Messages:
    """The conversation with the results of each message's calls in the order of the calls."""
    made: Messages = []
    order: dict[str | None, int] = {}
    for message in messages:
        if message.get("tool_calls"):
            order = {_id(one): at for at, one in enumerate(message["tool_calls"])}
        elif message.get("role") == "tool":
            at = len(made)
            place = order.get(_answered(message))
            while place is not None and at and made[at - 1].get("role") == "tool":
                before = order.get(_answered(made[at - 1]))
                if before is None or before <= place:
                    break
                at -= 1
            made.insert(at, message)
            continue
        made.append(message)
    return made


def _results_sorted(messages: Messages, _: ChatFormat) -> Messages:
    return order_of_results(messages)


def _results_named(messages: Messages, _: ChatFormat) -> Messages:
    names: dict[str | None, Any] = {}
    made: Messages = []
    for message in messages:
        for call in message.get("tool_calls") or ():
            function = call.get("function", call) if isinstance(call, Mapping) else None
            names[_id(call)] = function.get("name") if isinstance(function, Mapping) else None
        name = names.get(_answered(message)) if message.get("role") == "tool" else None
        made.append({"name": name, **message} if name else message)
    return made


def _one_call_each(messages: Messages, _: ChatFormat) -> Messages:
    made: Messages = []
    waiting: Messages = []
    """messages of further calls, each to follow the result of the one before"""
    end: dict[str, Any] = {}
    for message in [*messages, end]:
        calls = message.get("tool_calls") or []
        if message.get("role") == "tool" and waiting and _answered(message) == _id(waiting[0]["tool_calls"][0]):
            made.append(waiting.pop(0))
        elif message.get("role") != "tool":
            made += waiting
            waiting = []
        if len(calls) > 1:
            first = {**message, "tool_calls": [calls[0]]}
            waiting = [{"role": "assistant", "content": None, "tool_calls": [call]} for call in calls[1:]]
            made.append(first)
        elif message:
            made.append(message)
    return made


def _id(call: Any) -> str | None:
    found = call.get("id") if isinstance(call, Mapping) else None
    return found if isinstance(found, str) else None


def _answered(result: Mapping[str, Any]) -> str | None:
    """The id of the call that a result answers."""
    found = result.get("tool_call_id")
    return found if isinstance(found, str) else None


def _content_before_call(messages: Messages, _: ChatFormat) -> Messages:
    made: Messages = []
    for message in messages:
        if message.get("tool_calls") and message.get("content"):
            made.append({"role": "assistant", "content": message["content"]})
            made.append({**message, "content": None})
        else:
            made.append(message)
    return made


def _content_after_results(messages: Messages, _: ChatFormat) -> Messages:
    made = list(messages)
    for at, message in enumerate(messages):
        if not message.get("tool_calls") or not message.get("content"):
            continue
        for later in range(at + 1, len(made)):
            if made[later].get("role") == "user":
                break
            if made[later].get("role") == "assistant" and not made[later].get("tool_calls"):
                content = _joined(made[at]["content"], made[later].get("content"))
                made[at], made[later] = {**made[at], "content": None}, {**made[later], "content": content}
                break
    return made


def _calls_written(messages: Messages, fmt: ChatFormat) -> Messages:
    return [_as_text(message, fmt) if message.get("tool_calls") else message for message in messages]


def _as_text(message: dict[str, Any], fmt: ChatFormat) -> dict[str, Any]:
    """The message with its calls as text after its content: as the model writes them, or as JSON if it writes none."""
    rest = {key: value for key, value in message.items() if key != "tool_calls"}
    unthought = {key: value for key, value in message.items() if key not in ("reasoning_content", "reasoning")}
    try:
        read = Message.from_openai(unthought)
    except SyntagmaError:
        return message
    try:
        return {**rest, "content": fmt.write(read)}
    except SyntagmaError:
        calls = [f'{{"name": {json.dumps(one.name)}, "arguments": {one.arguments or "{}"}}}' for one in read.tool_calls]
        return {**rest, "content": _joined(message.get("content"), "\n".join(calls))}


def _results_to_user(messages: Messages, _: ChatFormat) -> Messages:
    made: Messages = []
    after_result = False
    for message in messages:
        is_result = message.get("role") == "tool"
        said = {"role": "user", "content": message.get("content")} if is_result else message
        if after_result and said.get("role") == "user":
            made[-1] = {**made[-1], "content": _joined(made[-1].get("content"), said.get("content"))}
        else:
            made.append(said)
        after_result = is_result
    return made


def _refusals(messages: Messages, _: ChatFormat) -> Messages:
    made = []
    for message in messages:
        changed = message
        if isinstance(message.get("content"), list):
            changed = {**message, "content": [_refusal_as_text(part) for part in message["content"]]}
        if isinstance(message.get("refusal"), str):
            changed = {key: value for key, value in changed.items() if key != "refusal"}
            changed["content"] = _joined(changed.get("content"), message["refusal"])
        made.append(changed)
    return made


def _refusal_as_text(part: Any) -> Any:
    refused = part.get("refusal") if isinstance(part, Mapping) else None
    return {"type": "text", "text": refused} if isinstance(refused, str) else part


STEPS: Final[Sequence[Step]] = (
    Step(
        PROBED_INPUTS,
        "arguments, reasoning and content take the form that the template reads",
        lambda messages, _: messages,
        loses_silently=False,
    ),
    Step("refusals-as-text", "refusals are content", _refusals),
    Step(SORTED, "results stand in the order of their calls", _results_sorted),
    Step("results-named", "results have the names of their tools", _results_named, loses_silently=False),
    Step("calls-apart", "each call is a message of its own, followed by its result", _one_call_each),
    Step("developer-as-system", "messages of role `developer` are of role `system`", _developer_as_system),
    Step("systems-first", "system and developer messages are one message, the first", _systems_first),
    Step(
        "system-to-user",
        "system messages stand in the turn of the user that follows",
        _system_to_user,
        loses_silently=False,
    ),
    Step("parts-joined", "text parts are joined by line feeds", _parts_joined),
    Step("content-before-call", "content beside calls is a message before them", _content_before_call),
    Step("content-after-results", "content beside calls begins the answer that follows", _content_after_results),
    Step(
        "calls-as-text",
        "calls are content, as the model writes them, or as JSON if it writes none",
        _calls_written,
        loses_silently=False,
    ),
    Step("results-to-user", "results are messages of the user", _results_to_user, loses_silently=False),
    Step("turns-joined", "messages of one role in a row are one, joined by an empty line", _turns_joined),
    Step("turns-filled", "an empty message stands where roles must alternate", _turns_filled, loses_silently=False),
    Step(
        "answers-filled",
        "an empty message stands where roles must alternate, calls not counted",
        _answers_filled,
        loses_silently=False,
    ),
    Step("blank-for-empty", "a message without text is a blank", _blanks, loses_silently=False),
)
"""in the order in which they are taken"""


def applicable(messages: Messages) -> tuple[str, ...]:
    """The names of the steps that may change a conversation, alone or after others.

    It is found from roles and members, since this is asked for every render.
    """
    found: set[str] = {*_by_roles([message.get("role") for message in messages])}
    for message in messages:
        content, calls = message.get("content"), message.get("tool_calls")
        if calls:
            found |= {"calls-as-text", "turns-filled", "answers-filled"}
            if len(calls) > 1:
                found.add("calls-apart")
            if content:
                found |= {"content-before-call", "content-after-results"}
        elif not content:
            found.add("blank-for-empty")
        if isinstance(content, list):
            found |= {"parts-joined", "refusals-as-text"}
        if "refusal" in message:
            found.add("refusals-as-text")
    if "calls-apart" in found and order_of_results(messages) != messages:
        found.add(SORTED)
    if "turns-filled" in found:
        found.add("blank-for-empty")
    return tuple(step.name for step in STEPS if step.name in found)


def _by_roles(roles: Sequence[Any]) -> Iterator[str]:
    """The steps that may change a conversation of messages with these roles."""
    systems = [at for at, role in enumerate(roles) if role in _SYSTEM]
    if systems:
        yield "system-to-user"
    if "developer" in roles:
        yield "developer-as-system"
    if len(systems) > 1 or any(systems):
        yield "systems-first"
    if "tool" in roles:
        yield from ("results-named", "results-to-user")
    turns = [role for role in roles if role not in _SYSTEM]
    in_a_row = any(one == other and one in ("user", "assistant") for one, other in itertools.pairwise(turns))
    if in_a_row:
        yield "turns-joined"
    if in_a_row or turns[:1] == ["assistant"]:
        yield from ("turns-filled", "answers-filled")
