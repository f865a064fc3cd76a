"""Runs the cases of `conformance/openchatml/rules.toml`: one function a door, by its name in the cases.

A door gets the case and returns what came of it as plain data; the case names the fields of it that matter.
"""

from __future__ import annotations

import asyncio
import logging
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from syntagma import openchatml as ocm
from syntagma.errors import SyntagmaError
from syntagma.openchatml import harmony

__all__ = ["CASES", "DOORS", "result_of"]

CASES: list[dict[str, Any]] = tomllib.loads(
    (Path(__file__).parents[2] / "conformance" / "openchatml" / "rules.toml").read_text(encoding="utf-8")
)["case"]


def result_of(case: dict[str, Any]) -> dict[str, Any]:
    """What a case gives, only the fields that it names; `error` is the code of what was raised."""
    wanted = case["gives"]
    try:
        found = DOORS[case["door"]](case)
    except SyntagmaError as error:
        return {"error": error.code}
    return {name: _as_wanted(found.get(name), wanted[name]) for name in wanted}


def _as_wanted(found: Any, wanted: Any) -> Any:
    """Of messages and the like only the fields that the case names; None is written as an empty text."""
    if found is None and wanted == "":
        return ""
    if isinstance(wanted, dict) and not isinstance(found, Mapping) and found is not None:
        return {name: _as_wanted(getattr(found, name), value) for name, value in wanted.items()}
    if isinstance(wanted, list) and isinstance(found, Sequence) and len(wanted) == len(found):
        return [_as_wanted(*pair) for pair in zip(found, wanted, strict=True)]
    return list(found) if isinstance(found, tuple) else found


def _given(case: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: case[name] for name in names if name in case}


def _read(case: dict[str, Any]) -> ocm.Transcript:
    return ocm.parse(case["text"], strict=case.get("strict", True), **_given(case, "profile", "role"))


def read(case: dict[str, Any]) -> dict[str, Any]:
    """A whole text."""
    found = _read(case)
    return {
        "messages": found.messages,
        "header": found.header,
        "profile": found.profile,
        "dialect": found.dialect,
        "incomplete": found.incomplete,
        "errors": [problem.code for problem in found.errors],
        "places": [problem.place.offset for problem in found.errors if problem.place is not None],
        "warnings": [warning.code for warning in found.warnings],
    }


def check(case: dict[str, Any]) -> dict[str, Any]:
    """The requirements that a text does not meet."""
    found = ocm.validate(_read({"strict": False, **case}), **_given(case, "require_header"))
    return {
        "errors": [f"{problem.code} {problem.requirement}" for problem in found.errors],
        "warnings": [problem.requirement for problem in found.warnings],
        "open": found.unresolved_calls,
        "codes": found.tool_error_codes,
        "valid": found.valid,
    }


def write(case: dict[str, Any]) -> dict[str, Any]:
    """Messages as text, or the messages of a text."""
    header = ocm.DocumentHeader(**case["header"]) if "header" in case else None
    messages = [ocm.Message(**data) for data in case["messages"]] if "messages" in case else _read(case).messages
    return {"text": ocm.render(messages, header=header)}


def stream(case: dict[str, Any]) -> dict[str, Any]:
    """The public events of a text that comes character by character."""
    answer = ocm.ResponseStream(**_given(case, "role", "profile", "response"))
    data = case["text"].encode() if "text" in case else bytes.fromhex(case["bytes"])
    events = [event for at in range(len(data)) for event in answer.feed(data[at : at + 1])]
    events += answer.finish(**_given(case, "stop"))
    return _public(events) | {"messages": answer.reader.messages, "incomplete": answer.reader.incomplete}


def _public(events: Sequence[ocm.ResponseEvent]) -> dict[str, Any]:
    return {
        "shown": "".join(event.text for event in events if isinstance(event, ocm.ResponseDelta)),
        "stops": [event.stop for event in events if isinstance(event, ocm.ResponseDone)],
        "errors": [event.problem.code for event in events if isinstance(event, ocm.ResponseError)],
        "flushes": [event.position for event in events if isinstance(event, ocm.ResponseFlush)],
    }


def streams(case: dict[str, Any]) -> dict[str, Any]:
    """Several answers in one transport."""
    mixed = ocm.Multiplexer()
    events = [event for name, text in case["pieces"] for event in mixed.feed(name or None, text)]
    if "cancel" in case:
        events += mixed.cancel(case["cancel"])
    events += [event for name, text in case.get("then", []) for event in mixed.feed(name or None, text)]
    events += mixed.finish()
    names = dict.fromkeys(event.message_id for event in events)
    shown = {name or "": _public([event for event in events if event.message_id == name])["shown"] for name in names}
    return {"shown": shown, "errors": _public(events)["errors"]}


def cancel(case: dict[str, Any]) -> dict[str, Any]:
    """An answer that is cancelled after a text, twice, and goes on with another."""
    answer = ocm.ResponseStream()
    answer.feed(case["text"])
    events = [*answer.cancel("why"), *answer.cancel("again"), *answer.feed(case.get("then", "")), *answer.finish()]
    calls = [event.call_id for event in events if isinstance(event, ocm.ToolCancel)]
    return {"count": len(events), "calls": calls, "reasons": sorted({getattr(event, "reason", "") for event in events})}


def show(case: dict[str, Any]) -> dict[str, Any]:
    """What an end user sees."""
    transcript = _read(case)
    if "index" in case:
        return {"shown": [ocm.show(transcript, case["index"], **_given(case, "debug"))]}
    return {"shown": [shown.text for shown in ocm.visible(transcript, **_given(case, "debug"))]}


def to_json(case: dict[str, Any]) -> dict[str, Any]:
    """The messages of a text as JSON, and whether they come back equal."""
    messages = _read(case).messages
    made = ocm.to_json(messages, **_given(case, "fold_thinking", "end_user"))
    back = ocm.from_json(made, **_given(case, "version", "profile"))
    pairs = zip(back, messages, strict=False)
    equal = len(back) == len(messages) and all(_same(*pair) for pair in pairs)
    return {"json": made, "equal": equal}


def _same(one: ocm.Message, two: ocm.Message) -> bool:
    return one.to_dict() == {k: v for k, v in two.to_dict().items() if k not in ("offset", "line", "end", "role_raw")}


def from_json(case: dict[str, Any]) -> dict[str, Any]:
    """JSON as messages."""
    return {"messages": ocm.from_json(case["json"], **_given(case, "end_user", "version", "profile"))}


def from_openai(case: dict[str, Any]) -> dict[str, Any]:
    """OpenAI's form as messages."""
    return {"messages": ocm.from_openai(case["json"])[0]}


def run(case: dict[str, Any]) -> dict[str, Any]:
    """The calls of a text."""
    return asyncio.run(_run(case))


async def _run(case: dict[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    messages = _read({"strict": False, **case}).messages

    def tool(name: str, spec: dict[str, Any]) -> ocm.RoutedTool:
        async def work(arguments: Any) -> Any:
            given[name] = arguments
            await asyncio.sleep(spec.get("seconds", 0))
            if "raises" in spec:
                raise RuntimeError(spec["raises"])
            return spec.get("returns")

        return ocm.RoutedTool(run=work, schema=spec.get("schema"), raw_body=spec.get("raw_body", False))

    tools = {name: tool(name, spec) for name, spec in case["tools"].items()}
    router = ocm.ToolRouter(tools, **_given(case, "ids_needed"))
    pending = asyncio.ensure_future(router.run(messages))
    await asyncio.sleep(0.01)
    cancelled = [router.cancel(name, "why") for name in case.get("cancel", [])]
    replies = await pending
    return {
        "replies": [f"{reply.call_id} {reply.error_code or 'ok'}" for reply in replies],
        "contents": [reply.content for reply in replies],
        "errors": [reply.error for reply in replies],
        "texts": [ocm.render_message(reply.message()) for reply in replies],
        "given": given,
        "rejected": [problem.index for problem in router.rejected],
        "cancelled": cancelled,
    }


def completion(case: dict[str, Any]) -> dict[str, Any]:
    """What a Harmony model wrote."""
    result = harmony.parse_completion(case["text"], **_given(case, "role", "stop"))
    return _of_harmony(result.messages) | {
        "dispatch": result.dispatch,
        "errors": [problem.code for problem in result.errors],
    }


def from_harmony(case: dict[str, Any]) -> dict[str, Any]:
    """Harmony text as a transcript."""
    transcript = harmony.from_harmony(case["text"], **_given(case, "role"))
    return _of_harmony(transcript.messages) | {"errors": [problem.code for problem in transcript.errors]}


def _of_harmony(messages: tuple[ocm.Message, ...]) -> dict[str, Any]:
    shown = [shown.text for shown in ocm.visible(ocm.Transcript(messages=messages))]
    return {"messages": messages, "shown": shown}


def to_harmony(case: dict[str, Any]) -> dict[str, Any]:
    """A transcript as Harmony text."""
    messages = [ocm.Message(**data) for data in case["messages"]] if "messages" in case else _read(case).messages
    options = _given(case, "drop_cot", "training", "for_completion")
    return {"text": harmony.to_harmony(messages, **options)}


def segments(case: dict[str, Any]) -> dict[str, Any]:
    """A transcript as Harmony segments."""
    return {"segments": [list(one) for one in harmony.harmony_segments(_read(case).messages)]}


def keep(case: dict[str, Any]) -> dict[str, Any]:
    """Which messages stay when sampling goes on."""
    return {"kept": ocm.keep_for_sampling(_read(case).messages)}


def tool_input(case: dict[str, Any]) -> dict[str, Any]:
    """What a tool gets of message `index`."""
    return {"input": ocm.tool_input(_read(case).messages[case["index"]])}


def capabilities(case: dict[str, Any]) -> dict[str, Any]:
    """What two sides can do."""
    return {"shared": ocm.shared_capabilities(case["ours"], case["theirs"])}


def tokens(case: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    """The control tokens."""
    return {"tokens": ocm.CONTROL_TOKENS}


def reasoning(case: dict[str, Any]) -> dict[str, Any]:
    """Private reasoning by its markers."""
    return {"parts": [[part.kind or "", part.text] for part in ocm.split_reasoning(case["text"])]}


def outranks(case: dict[str, Any]) -> dict[str, Any]:
    """The instruction hierarchy."""
    return {"outranks": ocm.outranks(*case["roles"])}


def log(case: dict[str, Any]) -> dict[str, Any]:
    """The codes that are logged when a text is read leniently, and what a user may be told."""
    records: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: records.append(record.code)  # type: ignore[attr-defined, method-assign]
    logger = logging.getLogger("syntagma.openchatml")
    logger.addHandler(handler)
    try:
        errors = _read({**case, "strict": False}).errors
    finally:
        logger.removeHandler(handler)
    return {"logged": records, "summaries": [ocm.user_summary(problem.code) for problem in errors]}


DOORS: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "read": read,
    "validate": check,
    "write": write,
    "stream": stream,
    "several streams": streams,
    "cancel": cancel,
    "show": show,
    "JSON out": to_json,
    "JSON in": from_json,
    "OpenAI in": from_openai,
    "router": run,
    "completion": completion,
    "from Harmony": from_harmony,
    "to Harmony": to_harmony,
    "segments": segments,
    "sampling": keep,
    "tool input": tool_input,
    "capabilities": capabilities,
    "tokens": tokens,
    "reasoning": reasoning,
    "hierarchy": outranks,
    "log": log,
}
