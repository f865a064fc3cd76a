"""Faults of a server, one switch each, with the check that finds it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from syntagma.doctor import CHECKS
from tests.doctor.mock import Ask, Choice, Fault, Mock, Refusal

__all__ = ["FAULTS"]

Chunks = list[dict[str, Any]]
PROSE = "The sea is large and blue."


def family(*names: str) -> frozenset[str]:
    """The checks of some families."""
    return frozenset(check.id for check in CHECKS if check.id.partition(".")[0] in names)


def choices(chunks: Chunks) -> Iterator[dict[str, Any]]:
    return (choice for chunk in chunks for choice in chunk["choices"])


def delta_of(choice: dict[str, Any]) -> dict[str, Any]:
    """The delta, which another fault may have taken away."""
    found: dict[str, Any] = choice.get("delta", {})
    return found


def parts(chunks: Chunks) -> Iterator[dict[str, Any]]:
    return (part for choice in choices(chunks) for part in delta_of(choice).get("tool_calls", ()))


def is_plain(ask: Ask) -> bool:
    return bool(ask.plain) and "chat_template_kwargs" not in ask.body


def is_required(ask: Ask) -> bool:
    return bool(ask.choice == "required")


def messages(ask: Ask) -> list[dict[str, Any]]:
    found = ask.body.get("messages")
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def is_crew(ask: Ask) -> bool:
    return "rank" in (ask.schema or {}).get("properties", {})


def is_streamed(ask: Ask) -> bool:
    return ask.stream


def is_whole(ask: Ask) -> bool:
    return not ask.stream


# What makes changes out of a change: only where something holds of the request.


def when(true: Callable[[Ask], bool], change: Callable[[Any], Any]) -> Callable[[Ask, Any], Any]:
    """A change of what a request is answered with, if something holds of it."""

    def changed(ask: Ask, value: Any) -> Any:
        if not true(ask):
            return value
        found = change(value)
        return value if found is None else found

    return changed


def always(change: Callable[[Any], Any]) -> Callable[[Ask, Any], Any]:
    return when(lambda _: True, change)


def set_in(*path: Any, to: Any) -> Callable[[Any], None]:
    """Sets what stands at a path."""

    def change(value: Any) -> None:
        for step in path[:-1]:
            value = value[step]
        value[path[-1]] = to

    return change


def drop_in(*path: Any) -> Callable[[Any], None]:
    def change(value: Any) -> None:
        for step in path[:-1]:
            value = value[step]
        value.pop(path[-1], None)

    return change


def each(found: Callable[[Chunks], Iterator[dict[str, Any]]], change: Callable[[dict[str, Any]], Any]) -> Any:
    """Changes each of the things that are found in chunks."""

    def changed(chunks: Chunks) -> None:
        for one in found(chunks):
            change(one)

    return changed


def fails(true: Callable[[Ask], bool], status: int = 500) -> Callable[[Ask, Mock], None]:
    """Refuses a request of which something holds."""

    def valid(ask: Ask, _: Mock) -> None:
        if true(ask):
            raise Refusal(status, "this failed")

    return valid


def every_call(change: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], None]:
    """Changes the calls of a whole answer."""

    def changed(body: dict[str, Any]) -> None:
        for choice in body["choices"]:
            for call in choice["message"].get("tool_calls", ()):
                change(call)

    return changed


def calls_with(**fields: Any) -> Callable[[Choice], None]:
    """Changes every call of an answer."""

    def change(choice: Choice) -> None:
        for call in choice.calls:
            call.update(fields)

    return change


def one_id(choice: Choice) -> None:
    for call in choice.calls:
        call["id"] = choice.calls[0]["id"]


def counted_ids(choice: Choice) -> None:
    for number, call in enumerate(choice.calls):
        call["id"] = f"call_{number}"


def content_is(text: str) -> Callable[[Choice], None]:
    return lambda choice: setattr(choice, "content", text)


def reason_is(reason: str) -> Callable[[Choice], None]:
    return lambda choice: setattr(choice, "reason", reason)


def no_content_beside_calls(body: dict[str, Any]) -> None:
    message = body["choices"][0]["message"]
    if message.get("tool_calls"):
        message.pop("content", None)


def empty_content_beside_calls(body: dict[str, Any]) -> None:
    message = body["choices"][0]["message"]
    if message.get("tool_calls"):
        message["content"] = ""


def prose(choice: Choice) -> None:
    choice.calls, choice.content, choice.reason = [], PROSE, "stop"


def other_tool(choice: Choice) -> None:
    for call in choice.calls:
        call.update(name="get_time", arguments="{}")


def number_chunks(chunks: Chunks) -> None:
    for number, chunk in enumerate(chunks):
        chunk["id"] += str(number)


def rising_time(chunks: Chunks) -> None:
    for number, chunk in enumerate(chunks):
        chunk["created"] += number


def swapped_model(chunks: Chunks) -> None:
    chunks[-1]["model"] = "other"


def role_everywhere(choice: dict[str, Any]) -> None:
    delta_of(choice)["role"] = "assistant"


def no_role(choice: dict[str, Any]) -> None:
    delta_of(choice).pop("role", None)


def no_reason(choice: dict[str, Any]) -> None:
    choice["finish_reason"] = None


def reason_twice(chunks: Chunks) -> Chunks:
    ends = [chunk for chunk in chunks if any(choice["finish_reason"] for choice in chunk["choices"])]
    if not ends:
        return chunks
    at = chunks.index(ends[-1])
    return [*chunks[: at + 1], ends[-1], *chunks[at + 1 :]]


def reason_early(chunks: Chunks) -> Chunks:
    """The finish reason comes before the last piece of text."""
    ends = [i for i, chunk in enumerate(chunks) if any(choice["finish_reason"] for choice in chunk["choices"])]
    at = ends[0] if ends else 0
    return [*chunks[: at - 1], chunks[at], chunks[at - 1], *chunks[at + 1 :]] if at > 1 else chunks


def usage_everywhere(chunks: Chunks) -> None:
    for chunk in chunks:
        if "usage" in chunk:
            chunk["usage"] = chunks[-1]["usage"]


def usage_in_last_choice(chunks: Chunks) -> Chunks | None:
    if "usage" not in chunks[-1] or len(chunks) < 2:
        return None
    chunks[-2]["usage"] = chunks[-1]["usage"]
    return chunks[:-1]


def no_usage(chunks: Chunks) -> Chunks:
    return [chunk for chunk in chunks if chunk["choices"]]


def usage_unasked(chunks: Chunks) -> Chunks | None:
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return [*chunks, {**chunks[-1], "choices": [], "usage": usage}] if chunks[-1]["choices"] else None


def lost_piece(chunks: Chunks) -> Chunks:
    texts = [
        chunk
        for chunk in chunks
        if any(delta_of(choice).get("content") or _thinks(choice) for choice in chunk["choices"])
    ]
    return [chunk for chunk in chunks if chunk is not texts[len(texts) // 2]] if len(texts) > 2 else chunks


def is_argument(chunk: dict[str, Any]) -> bool:
    return any(part["function"]["arguments"] for part in parts([chunk]))


def lost_argument(chunks: Chunks) -> Chunks:
    last = next((chunk for chunk in reversed(chunks) if is_argument(chunk)), None)
    return [chunk for chunk in chunks if chunk is not last]


def doubled_argument(chunks: Chunks) -> Chunks:
    first = next((chunk for chunk in chunks if is_argument(chunk)), None)
    return [one for chunk in chunks for one in ([chunk, chunk] if chunk is first else [chunk])]


def other_days(chunks: Chunks) -> None:
    found = list(parts(chunks))
    for part in found[1:]:
        part["function"]["arguments"] = ""
    if len(found) > 1:
        found[1]["function"]["arguments"] = '{"city": "Lima", "days": 3}'


def index_from_one(part: dict[str, Any]) -> None:
    part["index"] = part.get("index", 0) + 1


def id_again(chunks: Chunks) -> None:
    ids: dict[int, str] = {}
    for part in parts(chunks):
        part["id"] = ids.setdefault(part.get("index", 0), part.get("id", ""))


def name_again(chunks: Chunks) -> None:
    names: dict[int, str] = {}
    for part in parts(chunks):
        part["function"]["name"] = names.setdefault(part.get("index", 0), part["function"].get("name", ""))


def one_index(chunks: Chunks) -> None:
    for part in parts(chunks):
        part["index"] = 0


def reasoning_elsewhere(choice: dict[str, Any]) -> None:
    text = delta_of(choice).pop("reasoning_content", None)
    if text is not None:
        delta_of(choice)["reasoning"] = text


def _thinks(choice: dict[str, Any]) -> bool:
    return not {"reasoning_content", "reasoning"}.isdisjoint(delta_of(choice))


def reasoning_last(chunks: Chunks) -> Chunks:
    thoughts = [chunk for chunk in chunks if any(_thinks(one) for one in chunk["choices"])]
    if not thoughts:
        return chunks
    rest = [chunk for chunk in chunks if chunk not in thoughts]
    ends = [i for i, chunk in enumerate(rest) if any(one["finish_reason"] for one in chunk["choices"])]
    end = ends[0] if ends else len(rest)
    return [*rest[:end], *thoughts, *rest[end:]]


def into_reasoning(choice: Choice) -> None:
    choice.reasoning, choice.content = choice.reasoning + choice.content, ""


def torn_letters(chunks: Chunks) -> None:
    """Each character of several bytes is decoded by halves."""
    for choice in choices(chunks):
        delta = delta_of(choice)
        if delta.get("content"):
            delta["content"] = "".join("\ufffd" if ord(sign) > 127 else sign for sign in delta["content"])
        for part in delta.get("tool_calls", ()):
            text = part["function"]["arguments"]
            part["function"]["arguments"] = "".join("\ufffd" if ord(sign) > 127 else sign for sign in text)


def torn_arguments(chunks: Chunks) -> None:
    if any(True for _ in parts(chunks)):
        torn_letters(chunks)


def torn_content(chunks: Chunks) -> None:
    if not any(True for _ in parts(chunks)):
        torn_letters(chunks)


def whole_anyway(choice: Choice) -> None:
    """A call that was cut is told to be whole."""
    if choice.calls and choice.reason == "length":
        choice.reason = "tool_calls"


def as_text(choice: Choice) -> None:
    """The rest of a call that was cut is content."""
    if choice.calls and choice.reason == "length":
        choice.content = '<tool_call>{"name": "get_forecast", "arguments": ' + choice.calls[0]["arguments"]
        choice.calls = []


def stop_at_length(choice: Choice) -> None:
    if choice.reason == "length":
        choice.reason = "stop"


def with_stop(ask: Ask, choice: Choice) -> None:
    for stop in ask.body.get("stop") or []:
        choice.content += stop


def stop_begun(ask: Ask, choice: Choice) -> None:
    for stop in ask.body.get("stop") or []:
        choice.content += stop[:1]


def unread_bound(ask: Ask, _: Mock) -> None:
    ask.body.pop("max_completion_tokens", None)


def split_at_closer(ask: Ask, choice: Choice) -> None:
    """Content is looked through for the end of reasoning."""
    if ask.schema is not None and "</think>" in choice.content:
        choice.reasoning, _, choice.content = choice.content.partition("</think>")


def cut_at_closer(choice: Choice) -> None:
    for call in choice.calls:
        call["arguments"] = call["arguments"].partition("</tool_call>")[0]


def call_in_argument(choice: Choice) -> None:
    if any("<tool_call>" in call["arguments"] for call in choice.calls):
        choice.calls.append({"id": "call_more", "name": "get_time", "arguments": "{}"})


def call_in_echo(ask: Ask, choice: Choice) -> None:
    if "<tool_call>" in choice.content and not ask.tools and ask.schema is None:
        choice.calls, choice.reason = [{"id": "call_echo", "name": "get_time", "arguments": "{}"}], "tool_calls"


def as_token(role: str) -> Callable[[str, str], str]:
    """Control tokens count as one token in messages of a role."""
    marker = "<|im_start|>"
    return lambda spoken, text: text.replace(marker, "x" * 2) if spoken == role else text


def fenced(choice: Choice) -> None:
    choice.content = f"```json\n{choice.content}\n```"


def fails_instead(words: str) -> Callable[[Ask | None, Refusal], Refusal | None]:
    """What is refused with certain words is status 500."""
    return lambda _, refusal: Refusal(500, "failed") if words in str(refusal) else refusal


def accepted(words: str) -> Callable[[Ask | None, Refusal], Refusal | None]:
    """What is refused with certain words is answered."""
    return lambda _, refusal: None if words in str(refusal) and refusal.status == 400 else refusal


def accepted_if(true: Callable[[Ask], bool]) -> Callable[[Ask | None, Refusal], Refusal | None]:
    return lambda ask, refusal: None if ask is not None and refusal.status == 400 and true(ask) else refusal


def told_otherwise(_: Ask | None, refusal: Refusal) -> Refusal:
    refusal.body = {"detail": str(refusal)}
    return refusal


def other_status(before: int, after: int) -> Callable[[Ask | None, Refusal], Refusal | None]:
    def changed(_: Ask | None, refusal: Refusal) -> Refusal:
        refusal.status = after if refusal.status == before else refusal.status
        return refusal

    return changed


def any_model(ask: Ask, _: Mock) -> None:
    ask.body.pop("model", None)


def dies_of_depth(ask: Ask, server: Mock) -> None:
    """Behind a broken pattern, nobody gets an answer; that request itself is refused as it should be."""
    if "pattern" in (ask.schema or {}):
        server.stuck = True


def other_list(change: Callable[[dict[str, Any]], Any]) -> Callable[[str, Any], Any]:
    """Changes the list of models."""

    def changed(path: str, answer: Any) -> Any:
        if path == "/v1/models":
            change(answer)
        return answer

    return changed


def wrong_by_name(path: str, answer: Any) -> Any:
    return {**answer, "id": "other"} if path.startswith("/v1/models/") else answer


def everything_there(_: str, answer: Any) -> Any:
    return {} if answer is None else answer


_STREAMED_PLAIN = family("stream") | {"chat.finish-reason", "chat.not-empty"}
_CALLS_WHOLE = frozenset({"calls.shape", "calls.arguments", "calls.content", "calls.strict", "calls.same"})
_CALLS_STREAMED = frozenset(
    {"calls.index", "calls.id-once", "calls.name-once", "calls.type-streamed", "calls.joined", "calls.strict"}
)
_REASONING = frozenset({"reasoning.fields", "reasoning.apart", "reasoning.before", "reasoning.counted"})

FAULTS: tuple[Fault, ...] = (
    Fault("no object in the list of models", "models.list", other=other_list(drop_in("object"))),
    Fault("another model is listed", "models.asked", other=other_list(set_in("data", 0, "id", to="other"))),
    Fault("another model by name", "models.by-name", other=wrong_by_name),
    Fault("answers are no JSON by their type", "chat.whole", content_type=("text/plain", "text/event-stream")),
    Fault("another object", "chat.envelope", whole=always(set_in("object", to="text_completion"))),
    Fault("a time in fractions", "chat.envelope", whole=always(set_in("created", to=1.5))),
    Fault("no role", "chat.message", whole=always(drop_in("choices", 0, "message", "role"))),
    Fault("no content", "chat.message", whole=when(is_plain, drop_in("choices", 0, "message", "content"))),
    Fault(
        "the answer is reasoning",
        "chat.content",
        answer=when(is_plain, into_reasoning),
        hides=family("logprobs"),
    ),
    Fault("another finish reason", "chat.finish-reason", answer=when(is_plain, reason_is("eos"))),
    Fault(
        "calls that are none",
        "chat.finish-reason",
        answer=when(is_plain, reason_is("tool_calls")),
    ),
    Fault("a wrong total", "chat.usage", whole=always(set_in("usage", "total_tokens", to=1))),
    Fault("no usage", "chat.usage", whole=always(drop_in("usage")), hides=family("injection")),
    Fault("one id for all answers", "chat.ids", whole=always(set_in("id", to="chatcmpl-0"))),
    Fault(
        "parts of content fail",
        "chat.parts",
        valid=fails(lambda ask: any(isinstance(one.get("content"), list) for one in messages(ask))),
    ),
    Fault(
        "answers get lost",
        "chat.not-empty",
        answer=when(lambda ask: ask.text.startswith("Count") and ask.most > 100, content_is("")),
        hides=frozenset({"ends.stop", "ends.stop-streamed"}),
    ),
    Fault(
        "streams fail",
        "stream.answered",
        valid=fails(lambda ask: ask.stream and is_plain(ask)),
        hides=_STREAMED_PLAIN | {"several.n-streamed", "logprobs.streamed"},
    ),
    Fault(
        "streams are JSON by their type", "stream.content-type", content_type=("application/json", "application/json")
    ),
    Fault(
        "no empty lines",
        "stream.frames",
        wire=when(is_plain, lambda events: [*events[:-1], events[-1][:-1]]),
        hides=frozenset({"stream.done", "stream.nothing-after"}),
    ),
    Fault(
        "a line without a field",
        "stream.frames",
        wire=when(is_plain, lambda events: [*events[:2], b'{"half": \n\n', *events[2:]]),
    ),
    Fault(
        "JSON over two lines",
        "stream.frames",
        wire=when(is_plain, lambda events: [events[0].replace(b'"choices"', b'\n"choices"'), *events[1:]]),
    ),
    Fault(
        "bytes that are no UTF-8",
        "stream.frames",
        wire=when(
            is_plain,
            lambda events: [*events[:2], events[2].replace(b'"model": "', b'"model": "\xf0\x9f'), *events[3:]],
        ),
        hides=frozenset({"stream.same"}),
    ),
    Fault(
        "no end of the stream",
        "stream.done",
        wire=always(lambda events: [one for one in events if b"[DONE]" not in one]),
        hides=frozenset({"stream.nothing-after", "stream.frames"}),
    ),
    Fault(
        "usage behind the end",
        "stream.nothing-after",
        wire=always(lambda events: [*events[:-2], events[-1], events[-2]]),
    ),
    Fault("two ends", "stream.nothing-after", wire=always(lambda events: [*events, events[-1]])),
    Fault("an id for each chunk", "stream.one-envelope", chunks=always(number_chunks)),
    Fault("a time for each chunk", "stream.one-envelope", chunks=always(rising_time)),
    Fault("the model changes", "stream.one-envelope", chunks=always(swapped_model)),
    Fault(
        "no delta at the end",
        "stream.deltas",
        chunks=when(is_plain, each(choices, lambda one: delta_of(one) or one.pop("delta", None))),
    ),
    Fault(
        "no index of a choice",
        "stream.deltas",
        chunks=when(is_plain, each(choices, lambda one: one.pop("index", None))),
    ),
    Fault("the role in every chunk", "stream.role", chunks=always(each(choices, role_everywhere))),
    Fault("no role in a stream", "stream.role", chunks=always(each(choices, no_role))),
    Fault(
        "no finish reason",
        "stream.finish-once",
        chunks=when(is_plain, each(choices, no_reason)),
        hides=frozenset({"stream.finish-last", "chat.finish-reason"}),
    ),
    Fault("the finish reason twice", "stream.finish-once", chunks=when(is_plain, reason_twice)),
    Fault("text behind the finish reason", "stream.finish-last", chunks=when(is_plain, reason_early)),
    Fault(
        "arguments behind the finish reason",
        "stream.finish-last",
        chunks=when(lambda ask: ask.named is not None, reason_early),
    ),
    Fault("usage in every chunk", "stream.usage", chunks=always(usage_everywhere)),
    Fault("usage beside a choice", "stream.usage", chunks=always(usage_in_last_choice)),
    Fault("no usage in a stream", "stream.usage", chunks=always(no_usage)),
    Fault("usage that nobody asked for", "stream.usage-unasked", chunks=when(is_plain, usage_unasked)),
    Fault("a piece of a stream is lost", "stream.same", chunks=when(is_plain, lost_piece)),
    Fault(
        "required calls are not made",
        "calls.required",
        answer=when(lambda ask: is_required(ask) and not ask.stream and ask.most > 100, prose),
        hides=frozenset({"calls.parallel", "calls.content", "calls.finish-reason", "calls.strict", "calls.same"}),
    ),
    Fault(
        "required calls are not made in streams",
        "calls.required-streamed",
        answer=when(lambda ask: is_required(ask) and ask.stream and ask.most > 100, prose),
        hides=frozenset({"calls.parallel", "calls.content", "calls.finish-reason", "calls.strict", "calls.same"}),
    ),
    Fault(
        "required calls fail",
        "calls.required",
        valid=fails(lambda ask: is_required(ask) and not ask.stream),
        hides=family("calls") | {"ends.cut-calls", "reasoning.call"} | _REASONING,
    ),
    Fault(
        "another tool than the named one",
        "calls.named",
        answer=when(lambda ask: ask.named == "get_forecast", other_tool),
    ),
    Fault(
        "calls where none may be",
        "calls.none",
        valid=lambda ask, _: ask.body.update(tool_choice="required") if ask.tools and ask.choice == "none" else None,
    ),
    Fault(
        "told of calls that are not there",
        "calls.auto",
        answer=when(lambda ask: ask.choice == "auto" and bool(ask.tools), lambda one: one.calls.clear()),
    ),
    Fault("calls without an id", "calls.shape", whole=always(every_call(drop_in("id")))),
    Fault("calls without a type", "calls.shape", whole=always(every_call(drop_in("type")))),
    Fault(
        "arguments as an object",
        "calls.arguments",
        whole=always(
            every_call(lambda call: call["function"].update(arguments=json.loads(call["function"]["arguments"])))
        ),
        hides=frozenset({"calls.strict", "calls.arguments", "calls.empty-arguments", "calls.same", "ends.cut-calls"}),
    ),
    Fault(
        "arguments encoded twice",
        "calls.arguments",
        whole=always(
            every_call(lambda call: call["function"].update(arguments=json.dumps(call["function"]["arguments"])))
        ),
        hides=frozenset({"calls.strict"}),
    ),
    Fault(
        "a number as a text",
        "calls.strict",
        answer=when(
            is_required,
            calls_with(arguments='{"city": "Oslo", "days": "2"}'),
        ),
        hides=frozenset({"ends.cut-calls", "ends.cut-calls-streamed"}),
    ),
    Fault(
        "empty content beside calls",
        "calls.content",
        whole=when(is_required, empty_content_beside_calls),
    ),
    Fault(
        "no content beside calls",
        "calls.content",
        whole=when(is_required, no_content_beside_calls),
    ),
    Fault(
        "an end without calls",
        "calls.finish-reason",
        answer=when(is_required, lambda one: setattr(one, "reason", "stop") if one.reason == "tool_calls" else None),
    ),
    Fault("no index of a call", "calls.index", chunks=always(each(parts, lambda part: part.pop("index", None)))),
    Fault("calls are counted from one", "calls.index", chunks=always(each(parts, index_from_one))),
    Fault(
        "one index for all calls",
        "calls.id-once",
        chunks=always(one_index),
        hides=frozenset({"calls.index"}),
    ),
    Fault("the id in every part", "calls.id-once", chunks=always(id_again)),
    Fault("the name in every part", "calls.name-once", chunks=always(name_again)),
    Fault(
        "no type in a stream", "calls.type-streamed", chunks=always(each(parts, lambda part: part.pop("type", None)))
    ),
    Fault("the end of arguments is lost", "calls.joined", chunks=always(lost_argument)),
    Fault("the beginning of arguments comes twice", "calls.joined", chunks=always(doubled_argument)),
    Fault(
        "other arguments in a stream",
        "calls.same",
        chunks=when(lambda ask: is_required(ask) and ask.most > 100, other_days),
    ),
    Fault(
        "no arguments at all",
        "calls.empty-arguments",
        answer=when(
            lambda ask: ask.named == "get_time",
            calls_with(arguments=""),
        ),
    ),
    Fault(
        "one id for calls of an answer",
        "calls.parallel",
        answer=always(one_id),
    ),
    Fault(
        "two calls where one may be",
        "calls.single",
        valid=lambda ask, _: ask.body.pop("parallel_tool_calls", None) and None,
    ),
    Fault(
        "ids that come again",
        "calls.ids",
        answer=always(counted_ids),
    ),
    Fault("no developers", "history.developer", valid=fails(lambda ask: "developer" in ask.roles, 400)),
    Fault("one system message", "history.two-systems", valid=fails(lambda ask: ask.roles.count("system") > 1, 400)),
    Fault(
        "results in the order of calls",
        "history.results-order",
        valid=fails(lambda ask: [one.get("tool_call_id") for one in messages(ask)][-2:] == ["call_1", "call_0"], 400),
    ),
    Fault(
        "answers cannot be sent back",
        "history.sent-back",
        valid=fails(lambda ask: "tool" in ask.roles and ask.body.get("tool_choice") == "auto", 400),
    ),
    Fault("results fail", "calls.results", valid=fails(lambda ask: "tool" in ask.roles)),
    Fault(
        "results are refused",
        "calls.results",
        valid=fails(lambda ask: "tool" in ask.roles, 400),
        hides=frozenset({"injection.tool"}),
    ),
    Fault(
        "content is needed beside calls",
        "calls.history",
        valid=fails(lambda ask: any("content" not in one for one in messages(ask)), 400),
    ),
    Fault(
        "a marker is left",
        "reasoning.markers",
        answer=when(
            lambda ask: bool(ask.thinking) and not ask.tools,
            lambda one: setattr(one, "content", "</think>\n" + one.content),
        ),
    ),
    Fault("another field in streams", "reasoning.fields", chunks=always(each(choices, reasoning_elsewhere))),
    Fault(
        "reasoning comes again",
        "reasoning.apart",
        answer=when(lambda ask: bool(ask.thinking), lambda one: setattr(one, "content", one.reasoning + one.content)),
    ),
    Fault("reasoning comes last", "reasoning.before", chunks=always(reasoning_last)),
    Fault("everything is reasoning", "reasoning.off", answer=when(lambda ask: ask.thinking is False, into_reasoning)),
    Fault(
        "no call with reasoning",
        "reasoning.call",
        answer=when(lambda ask: bool(ask.thinking) and is_required(ask), prose),
    ),
    Fault(
        "reasoning is not counted",
        "reasoning.counted",
        whole=always(set_in("usage", "completion_tokens_details", to={"reasoning_tokens": 0})),
        hides=frozenset({"chat.usage"}),
    ),
    Fault(
        "schemas are not held",
        "schema.whole",
        answer=when(lambda ask: is_crew(ask) and not ask.stream, content_is(PROSE)),
    ),
    Fault(
        "schemas are not held in streams",
        "schema.streamed",
        answer=when(lambda ask: is_crew(ask) and ask.stream, content_is(PROSE)),
    ),
    Fault(
        "references are not held",
        "schema.nested",
        answer=when(lambda ask: "$defs" in (ask.schema or {}), content_is('{"crew": [{}], "berth": 1}')),
    ),
    Fault(
        "other whitespace in streams",
        "schema.same",
        answer=when(
            lambda ask: is_crew(ask) and ask.stream, lambda one: setattr(one, "content", one.content.replace(" ", ""))
        ),
    ),
    Fault(
        "a fence around JSON",
        "schema.json-object",
        answer=when(lambda ask: ask.shape["type"] == "json_object", fenced),
    ),
    Fault("letters are torn", "unicode.content", chunks=always(torn_content)),
    Fault("letters of arguments are torn", "unicode.arguments", chunks=always(torn_arguments)),
    Fault(
        "the bound on tokens is not told",
        "ends.length",
        answer=when(lambda ask: ask.text.startswith("Count"), stop_at_length),
    ),
    Fault("the newer bound is not read", "ends.max-completion-tokens", valid=unread_bound),
    Fault("cut calls are whole", "ends.cut-calls", answer=when(is_whole, whole_anyway)),
    Fault("cut calls are text", "ends.cut-calls", answer=when(is_whole, as_text)),
    Fault(
        "cut calls are whole in streams",
        "ends.cut-calls-streamed",
        answer=when(is_streamed, whole_anyway),
    ),
    Fault("cut JSON is whole", "ends.cut-schema", answer=when(is_crew, stop_at_length)),
    Fault("the stop string is there", "ends.stop", answer=lambda ask, one: None if ask.stream else with_stop(ask, one)),
    Fault(
        "the beginning of the stop string is sent",
        "ends.stop-streamed",
        answer=lambda ask, one: stop_begun(ask, one) if ask.stream else None,
    ),
    Fault(
        "one answer for several", "several.n", whole=always(lambda body: body["choices"].__delitem__(slice(1, None)))
    ),
    Fault(
        "several answers are one in streams",
        "several.n-streamed",
        chunks=when(lambda ask: ask.body.get("n") == 2, each(choices, set_in("index", to=0))),
    ),
    Fault(
        "probabilities for log-probabilities",
        "logprobs.whole",
        whole=when(
            lambda ask: bool(ask.body.get("logprobs")),
            set_in("choices", 0, "logprobs", "content", 0, "logprob", to=0.9),
        ),
    ),
    Fault(
        "no alternatives of tokens",
        "logprobs.whole",
        whole=when(
            lambda ask: bool(ask.body.get("logprobs")), drop_in("choices", 0, "logprobs", "content", 0, "top_logprobs")
        ),
    ),
    Fault(
        "no log-probabilities in streams",
        "logprobs.streamed",
        chunks=always(each(choices, lambda one: one.pop("logprobs", None))),
    ),
    Fault("users write control tokens", "injection.user", counted=as_token("user")),
    Fault("tools write control tokens", "injection.tool", counted=as_token("tool")),
    Fault("JSON is torn at markers", "injection.content", answer=split_at_closer),
    Fault("arguments are torn at markers", "injection.arguments", answer=always(cut_at_closer)),
    Fault("a call in an argument is made", "injection.arguments", answer=always(call_in_argument)),
    Fault("an echo is a call", "injection.echo", answer=call_in_echo),
    Fault("clients that leave keep their place", "connection.left", places=3, hides=family("errors")),
    Fault("half a JSON fails", "errors.json", refusal=fails_instead("no JSON")),
    Fault("no messages are taken", "errors.no-messages", refusal=accepted_if(lambda ask: "messages" not in ask.body)),
    Fault(
        "empty messages are taken",
        "errors.empty-messages",
        refusal=accepted_if(lambda ask: ask.body.get("messages") == []),
    ),
    Fault(
        "a text is taken for messages",
        "errors.messages-type",
        refusal=accepted_if(lambda ask: isinstance(ask.body.get("messages"), str) and not ask.stream),
    ),
    Fault("any role is taken", "errors.role", refusal=accepted("such role")),
    Fault(
        "any temperature is taken",
        "errors.temperature",
        refusal=accepted_if(lambda ask: ask.body.get("temperature") == "hot"),
    ),
    Fault(
        "any bound is taken", "errors.max-tokens", refusal=accepted_if(lambda ask: ask.body.get("max_tokens") == "many")
    ),
    Fault("tools of any type are taken", "errors.tools-type", refusal=accepted("tools is a list")),
    Fault("a choice without tools is taken", "errors.choice-without-tools", refusal=accepted("tools to choose")),
    Fault("an unknown tool is taken", "errors.unknown-tool", refusal=accepted("such tool")),
    Fault("any response format is taken", "errors.response-format", refusal=accepted("such response format")),
    Fault(
        "what is no schema fails",
        "errors.schema",
        refusal=lambda ask, refusal: (
            Refusal(500, "failed") if ask and '"properties": 5' in json.dumps(ask.body) else refusal
        ),
    ),
    Fault(
        "any parameters are taken",
        "errors.tool-schema",
        refusal=accepted_if(lambda ask: '"type": "nonsense"' in json.dumps(ask.body.get("tools") or [])),
    ),
    Fault(
        "a stream begins before its request is read",
        "errors.streamed",
        refusal=accepted_if(lambda ask: ask.stream),
    ),
    Fault("any model is taken", "errors.model", valid=any_model),
    Fault(
        "an unknown model is status 400",
        "errors.model",
        refusal=other_status(404, 400),
        hides=frozenset({"errors.path"}),
    ),
    Fault("every path is there", "errors.path", other=everything_there),
    Fault("a wrong key fails", "errors.key", refusal=other_status(401, 500)),
    Fault("refusals have no error object", "errors.object", refusal=told_otherwise),
    Fault(
        "a deep schema fails",
        "errors.bounded",
        refusal=fails_instead("too deep"),
    ),
    Fault("one request is the end of all", "errors.alive", valid=dies_of_depth),
)
