"""Transcripts, streams, calls and conversions of OpenChatML 2.2, and Harmony's renders and completions.

Streaming cases are fed at every place where they can be cut in two, byte by byte, and as the case says.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from syntagma import openchatml as ocm
from syntagma.errors import SyntagmaError
from syntagma.openchatml import interchange, response

FIELDS = ("role", "name", "recipient", "call_id", "intent", "content_type", "constrain", "body", "terminator")


def run(data: Path) -> Iterator[tuple[str, str | None]]:
    """Every case, with what is wrong or None."""
    for name, checks in (("vectors", CHECKS), ("harmony_vectors", HARMONY)):
        with (data / "openchatml" / f"{name}.jsonl").open(encoding="utf-8") as lines:
            for line in lines:
                case = json.loads(line)
                check = checks.get(case.get("mode") or case["kind"], lambda _: "not checked")
                try:
                    yield case["id"], check(case)
                except SyntagmaError as error:
                    yield case["id"], f"raised {error}"


def plain(message: ocm.Message) -> dict[str, Any]:
    """A message as the cases write it."""
    data = {name: getattr(message, name) for name in FIELDS}
    return data | {"channel": message.effective_channel, "channel_explicit": message.channel is not None}


def text_of(case: dict[str, Any]) -> str:
    """The input, which may be described instead of written."""
    made = case.get("input_gen")
    return _made(made) if made else case["input"]


def _made(made: dict[str, Any]) -> str:
    return made["prefix"] + made["repeat"] * made["times"] + made["suffix"]


def differs(what: str, found: Any, wanted: Any) -> str | None:
    """A complaint, or None when both are equal."""
    return None if found == wanted else f"{what}: {str(found)[:300]!r} instead of {str(wanted)[:300]!r}"


def first(*problems: str | None) -> str | None:
    """The first complaint."""
    return next((problem for problem in problems if problem is not None), None)


def place_of(error: SyntagmaError | ocm.Report) -> dict[str, Any]:
    """An error as the cases write it."""
    if isinstance(error, ocm.Report):
        data = error.to_dict()
        return {name: data.get(name) for name in ("code", "offset", "line")}
    return {"code": error.code, "offset": error.offset, "line": error.line}


def check_error(found: dict[str, Any] | None, wanted: dict[str, Any] | None) -> str | None:
    """Compare an error in the fields that the case names."""
    if found is None or wanted is None:
        return differs("error", found, wanted)
    return differs("error", {name: found.get(name) for name in wanted}, wanted)


def check_parse(case: dict[str, Any]) -> str | None:
    """Reading, and validating where the case asks for it."""
    options, expected = case["options"], case["expected"]
    strict = options.get("strict", True)
    try:
        transcript = ocm.parse(text_of(case), strict=strict, profile=options.get("profile"))
        checked = ocm.validate(transcript, require_header=options.get("require_header", False))
        if case["mode"] == "validate" and checked.errors:
            raise checked.errors[0].exception()
    except SyntagmaError as error:
        return check_error(place_of(error), expected.get("error"))
    if "error" in expected:
        return f"no error instead of {expected['error']}"
    problems = []
    if "messages" in expected:
        problems.append(differs("messages", [plain(m) for m in transcript.messages], expected["messages"]))
    if "messages_count" in expected:
        problems.append(differs("count", len(transcript.messages), expected["messages_count"]))
    if "body_gen" in expected:
        problems.append(differs("body", transcript.messages[0].body, _made(expected["body_gen"])))
    if "header" in expected:
        header = transcript.header
        found = {name: getattr(header, name, None) for name in expected["header"]}
        problems.append(differs("header", found, expected["header"]))
    if "visible" in expected:
        problems.append(differs("visible", [shown.index for shown in ocm.visible(transcript)], expected["visible"]))
    if "role_raw" in expected:
        problems.append(differs("role", [m.role_raw or m.role for m in transcript.messages], expected["role_raw"]))
    if "profile" in expected:
        problems.append(differs("profile", transcript.profile, expected["profile"]))
    if "tool_error_codes" in expected:
        problems.append(differs("codes", checked.tool_error_codes, expected["tool_error_codes"]))
    if "unresolved_calls" in expected:
        problems.append(differs("calls", list(checked.unresolved_calls), expected["unresolved_calls"]))
    if "errors" in expected:
        problems.append(differs("errors", [place_of(error) for error in transcript.errors], expected["errors"]))
    if "incomplete" in expected:
        problems.append(check_partial(transcript.incomplete, expected["incomplete"]))
    return first(*problems)


def check_partial(found: ocm.Partial | None, wanted: dict[str, Any] | None) -> str | None:
    """Compare an incomplete message."""
    made = None if found is None else {"role": found.role, "channel": found.channel, "body": found.body}
    return differs("incomplete", made, wanted)


def message_of(data: dict[str, Any]) -> ocm.Message:
    """A message from a case that sets only some fields."""
    return ocm.Message(**data)


def check_render(case: dict[str, Any]) -> str | None:
    """Writing, and reading it back."""
    given, options, expected = case["input"], case["options"], case["expected"]
    if options.get("resume"):
        return differs("kept", ocm.keep_for_sampling(ocm.parse(given["text"]).messages), expected["kept"])
    if "text" in given:
        transcript = ocm.parse(given["text"])
    else:
        header = ocm.Header(**given["header"]) if "header" in given else None
        transcript = ocm.Transcript(messages=tuple(message_of(m) for m in given["messages"]), header=header)
    try:
        text = ocm.render(transcript, separator=options["separator"])
    except SyntagmaError as error:
        return check_error(place_of(error), expected.get("error"))
    if "error" in expected:
        return f"no error instead of {expected['error']}"
    again = ocm.parse(text)
    pairs = zip(transcript.messages, again.messages, strict=True)
    return first(
        differs("text", text, expected["text"]),
        None if all(one.same(two) for one, two in pairs) else "does not read back equal",
    )


def check_visibility(case: dict[str, Any]) -> str | None:
    """What an end user sees."""
    options, expected = case["options"], case["expected"]
    transcript = ocm.parse(case["input"])
    try:
        if "show_index" in options:
            ocm.show(transcript, options["show_index"], debug=options.get("debug", False))
        seen = ocm.visible(transcript, debug=options.get("debug", False))
    except SyntagmaError as error:
        return check_error(place_of(error), expected.get("error"))
    if "error" in expected:
        return f"no error instead of {expected['error']}"
    return differs("visible", [{"index": shown.index, "text": shown.text} for shown in seen], expected["visible"])


def check_json(case: dict[str, Any]) -> str | None:
    """The JSON form."""
    options, expected, given = case["options"], case["expected"], case["input"]
    try:
        if options["direction"] == "to_json":
            messages = ocm.parse(given["text"]).messages
            end_user = options.get("audience") == "user"
            found = interchange.to_json(messages, fold_thinking=options.get("fold_thinking", False), end_user=end_user)
            return differs("json", found, expected["json"])
        if options["direction"] == "from_json":
            text = ocm.render(interchange.from_json(given["json"]), separator=options.get("separator", "\n"))
            return (
                f"no error instead of {expected['error']}"
                if "error" in expected
                else differs("text", text, expected["text"])
            )
        messages = ocm.parse(given["text"]).messages
        again = ocm.parse(ocm.render(interchange.from_json(interchange.to_json(messages)))).messages
        said = [[plain(m) | {"channel_explicit": None} for m in side] for side in (messages, again)]
        return differs("equal", said[0] == said[1], expected["roundtrip_equal"])
    except SyntagmaError as error:
        return check_error(place_of(error), expected.get("error"))


def chunkings(raw: bytes, how: str) -> Iterator[list[bytes]]:
    """The ways in which a case is cut."""
    yield [raw]
    if how.startswith("all_splits"):
        for place in range(1, len(raw)):
            yield [raw[:place], raw[place:]]
        yield [raw[at : at + 3] for at in range(0, len(raw), 3)]
        yield [raw[at : at + 1] for at in range(len(raw))]
    if how.startswith("bytes:"):
        size = int(how.removeprefix("bytes:"))
        yield [raw[at : at + size] for at in range(0, len(raw), size)]


def check_stream(case: dict[str, Any]) -> str | None:
    """Streams, in every chunking."""
    options, expected = case["options"], case["expected"]
    if "interleaved" in options:
        mixed = response.Multiplexer()
        try:
            for name, text in options["interleaved"]:
                mixed.feed(name, text)
        except SyntagmaError as error:
            return check_error(place_of(error), expected["error"])
        return "no error"
    raw = base64.b64decode(options["input_b64"]) if "input_b64" in options else text_of(case).encode()
    for chunks in chunkings(raw, options["chunking"]):
        problem = _stream_problem(chunks, options, expected)
        if problem is not None:
            return f"{problem} (in {len(chunks)} pieces)"
    return None


def _stream_problem(chunks: list[bytes], options: dict[str, Any], expected: dict[str, Any]) -> str | None:
    stream = response.ResponseStream(response=options.get("response", False), role=options.get("role"))
    events = [event for chunk in chunks for event in stream.feed(chunk)]
    events += stream.finish()
    shown = "".join(event.text for event in events if isinstance(event, response.ResponseDelta))
    reader = stream.reader
    found = reader.error
    problems = []
    if "messages" in expected:
        problems.append(differs("messages", [plain(m) for m in reader.messages], expected["messages"]))
    if "messages_count" in expected:
        problems.append(differs("count", len(reader.messages), expected["messages_count"]))
    if "visible_text" in expected:
        problems.append(differs("visible", shown, expected["visible_text"]))
    if "visible_gen" in expected:
        problems.append(differs("visible", shown, _made(expected["visible_gen"])))
    if "incomplete" in expected:
        problems.append(check_partial(reader.incomplete, expected["incomplete"]))
    if "error" in expected:
        problems.append(check_error(None if found is None else place_of(found), expected["error"]))
    if "flush_at" in expected:
        places = [event.position for event in events if isinstance(event, response.ResponseFlush)]
        problems.append(differs("flush", places, expected["flush_at"]))
    if "public_events" in expected:
        problems.append(differs("events", _merged(events), expected["public_events"]))
    return first(*problems)


def _merged(events: list[response.ResponseEvent]) -> list[dict[str, Any]]:
    merged: list[dict[str, Any]] = []
    for event in events:
        if isinstance(event, response.ResponseDelta):
            if merged and merged[-1].get("index") == event.index:
                merged[-1]["text"] += event.text
            else:
                merged.append({"event": "response.delta", "index": event.index, "text": event.text})
        elif isinstance(event, response.ResponseDone):
            merged.append({"event": "response.done", "stop": event.stop})
    return merged


CHECKS = {
    "parse": check_parse,
    "validate": check_parse,
    "render": check_render,
    "visibility": check_visibility,
    "json": check_json,
    "stream": check_stream,
}
HARMONY: dict[str, Any] = {}
