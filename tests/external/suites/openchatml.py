"""Transcripts, streams, calls and conversions of OpenChatML 2.2, and Harmony's renders and completions.

Streaming cases are fed at every place where they can be cut in two, byte by byte, and as the case says.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from syntagma import openchatml as ocm
from syntagma.errors import SyntagmaError
from syntagma.openchatml import harmony, interchange, response

FIELDS = ("role", "name", "recipient", "call_id", "intent", "content_type", "constrain", "body", "terminator")


def run(data: Path) -> Iterator[tuple[str, str | None]]:
    """Every case, with what is wrong or None."""
    for name, checks in (("vectors", CHECKS), ("harmony_vectors", HARMONY)):
        with (data / "openchatml" / f"{name}.jsonl").open(encoding="utf-8") as lines:
            for line in lines:
                case = json.loads(line)
                try:
                    yield case["id"], unknown(case) or checks[case.get("mode") or case["kind"]](case)
                except SyntagmaError as error:
                    yield case["id"], f"raised {error}"


ERRORS = frozenset({"messages", "messages_count", "error", "errors", "incomplete"})
READ = frozenset({"strict", "profile", "require_header", "role"})
OPTIONS = {
    "parse": READ,
    "validate": READ,
    "render": frozenset({"separator", "resume", "profile"}),
    "visibility": frozenset({"show_index", "debug", "profile", "strict"}),
    "stream": frozenset({"chunking", "role", "response", "profile", "stop", "input_b64", "interleaved", "actions"}),
    "json": frozenset({"direction", "fold_thinking", "audience", "separator", "profile", "version"}),
    "router": frozenset({"tools", "default_deadline_ms", "actions", "settle_ms", "profile", "concurrency"}),
    "harmony": frozenset({"direction", "drop_cot", "training", "for_completion", "profile", "role"}),
}
"""options of cases, by their mode"""
TOOL_OPTIONS = frozenset({"delay_ms", "returns", "echo_args", "raises", "schema", "raw_body", "ignores_cancel"})
ACTIONS = {
    "stream": frozenset({"after_bytes", "event", "reason"}),
    "router": frozenset({"at_ms", "event", "call_id", "reason"}),
}
EXPECTED = {
    "parse": ERRORS
    | {"header", "visible", "role_raw", "profile", "body_gen", "tool_error_codes", "unresolved_calls", "warnings"},
    "render": frozenset({"text", "reparse_equal", "kept", "error"}),
    "visibility": frozenset({"visible", "error"}),
    "stream": ERRORS | {"visible_text", "visible_gen", "flush_at", "public_events"},
    "json": frozenset({"json", "text", "roundtrip_equal", "error"}),
    "router": frozenset({"replies", "order", "tool_saw", "invoked", "rejected", "reply_text_prefix"})
    | {"reparse_messages", "wall_ms_max", "wall_ms_min"},
    "harmony": frozenset({"harmony_text", "segments", "messages", "visible", "roundtrip_equal", "error"}),
}
EXPECTED["validate"] = EXPECTED["parse"]
"""what cases may expect, by their mode"""


CASE = frozenset({"basis", "expected", "id", "input", "input_gen", "mode", "note", "options", "requirements"})
HARMONY_CASE = frozenset({"id", "kind", "note", "peer", "peer_version", "source"})
HARMONY_CASES = {
    "render": HARMONY_CASE | {"config", "conversation", "method"},
    "parse": HARMONY_CASE | {"input", "input_tokens", "peer_nonstrict", "robust", "role"},
    "stream": HARMONY_CASE | {"eos", "input", "input_tokens", "robust", "role"},
}
"""fields of cases of Harmony, by their kind"""
INNER = {
    "config": frozenset({"auto_drop_analysis"}),
    "robust": frozenset({"basis", "bodies", "dispatch", "error", "incomplete_body", "messages", "note", "visible"}),
}
METHODS = frozenset({"render_conversation", "render_conversation_for_completion"})
CHUNKINGS = re.compile(r"whole|all_splits(\+bytes)?|bytes:[1-9][0-9]*")


def unknown(case: dict[str, Any]) -> str | None:
    """The options and expectations of a case that are not known here: they would be passed over in silence."""
    found = _unknown_of_harmony(case) if "kind" in case else _unknown(case)
    return f"unknown: {', '.join(found)}" if found else None


def _unknown_of_harmony(case: dict[str, Any]) -> list[str]:
    kind = case["kind"]
    if kind not in HARMONY_CASES:
        return [f"kind {kind}"]
    names = sorted(case.keys() - HARMONY_CASES[kind])
    for field, known in INNER.items():
        names += sorted(f"{field} {name}" for name in case.get(field, {}).keys() - known)
    return names + ([f"method {case['method']}"] if kind == "render" and case["method"] not in METHODS else [])


def _unknown(case: dict[str, Any]) -> list[str]:
    mode, options = case["mode"], case["options"]
    if mode not in OPTIONS:
        return [f"mode {mode}"]
    names = sorted(case.keys() - CASE) + sorted(f"option {name}" for name in options.keys() - OPTIONS[mode])
    names += [f"expected {name}" for name in sorted(case["expected"].keys() - EXPECTED[mode])]
    tools = options.get("tools", {}).values() if mode == "router" else ()
    names += sorted({f"tool {name}" for tool in tools for name in tool.keys() - TOOL_OPTIONS})
    actions = options.get("actions", [])
    names += sorted({f"action {name}" for action in actions for name in action.keys() - ACTIONS.get(mode, set())})
    chunking = options.get("chunking")
    return names + ([f"chunking {chunking}"] if chunking is not None and not CHUNKINGS.fullmatch(chunking) else [])


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


def _differing_messages(messages: Sequence[ocm.Message], expected: dict[str, Any]) -> list[str | None]:
    """How messages and their number differ from what is expected of them, if anything is."""
    problems = []
    if "messages" in expected:
        problems.append(differs("messages", [plain(m) for m in messages], expected["messages"]))
    if "messages_count" in expected:
        problems.append(differs("count", len(messages), expected["messages_count"]))
    return problems


def place_of(error: SyntagmaError | ocm.Problem) -> dict[str, Any]:
    """An error as the cases write it."""
    if isinstance(error, ocm.Problem):
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
        transcript = ocm.parse(text_of(case), strict=strict, profile=options.get("profile"), role=options.get("role"))
        checked = ocm.validate(transcript, require_header=options.get("require_header", False))
        if case["mode"] == "validate" and checked.errors:
            raise checked.errors[0].exception()
    except SyntagmaError as error:
        return check_error(place_of(error), expected.get("error"))
    if "error" in expected:
        return f"no error instead of {expected['error']}"
    problems = _differing_messages(transcript.messages, expected)
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
    if "warnings" in expected:
        problems.append(differs("warnings", len(transcript.warnings), len(expected["warnings"])))
    if "incomplete" in expected:
        problems.append(check_partial(transcript.incomplete, expected["incomplete"]))
    return first(*problems)


def check_partial(found: ocm.PartialMessage | None, wanted: dict[str, Any] | None) -> str | None:
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
        messages = ocm.parse(given["text"], profile=options.get("profile")).messages
        return differs("kept", ocm.keep_for_sampling(messages), expected["kept"])
    if "text" in given:
        transcript = ocm.parse(given["text"], profile=options.get("profile"))
    else:
        header = ocm.DocumentHeader(**given["header"]) if "header" in given else None
        transcript = ocm.Transcript(messages=tuple(message_of(m) for m in given["messages"]), header=header)
    try:
        text = ocm.render(transcript, separator=options.get("separator", "\n"))
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
    transcript = ocm.parse(case["input"], profile=options.get("profile"), strict=options.get("strict", True))
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
    audience = options.get("audience")
    if audience not in (None, "user", "end_user", "developer", "debug"):
        return f"unknown: audience {audience!r}"
    end_user = audience in ("user", "end_user")
    fold = options.get("fold_thinking", False)
    reading = {name: options[name] for name in ("profile", "version") if name in options}
    try:
        if options["direction"] == "from_json":
            messages = interchange.from_json(given["json"], end_user=end_user, **reading)
            text = ocm.render(messages, separator=options.get("separator", "\n"))
            return (
                f"no error instead of {expected['error']}"
                if "error" in expected
                else differs("text", text, expected["text"])
            )
        messages = list(ocm.parse(given["text"], profile=options.get("profile")).messages)
        made = interchange.to_json(messages, fold_thinking=fold, end_user=end_user)
        if options["direction"] == "to_json":
            return (
                f"no error instead of {expected['error']}"
                if "error" in expected
                else differs("json", made, expected["json"])
            )
        if end_user:
            messages = [message for message in messages if ocm.is_visible(message)]
        again = ocm.parse(ocm.render(interchange.from_json(made, end_user=end_user, **reading))).messages
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
        return _interleaved_problem(options, expected)
    raw = base64.b64decode(options["input_b64"]) if "input_b64" in options else text_of(case).encode()
    for chunks in chunkings(raw, options["chunking"]):
        problem = _stream_problem(chunks, options, expected)
        if problem is not None:
            return f"{problem} (in {len(chunks)} pieces)"
    return None


def _interleaved_problem(options: dict[str, Any], expected: dict[str, Any]) -> str | None:
    """Several streams; what is expected of each is named by its id."""
    mixed = response.Multiplexer(response=options.get("response", False), role=options.get("role"))
    try:
        events = [event for name, text in options["interleaved"] for event in mixed.feed(name, text)]
        events += mixed.finish()
    except SyntagmaError as error:
        return check_error(place_of(error), expected.get("error"))
    if "error" in expected:
        return f"no error instead of {expected['error']}"
    problems = []
    for name, wanted in expected.get("visible_text", {}).items():
        own = [event for event in events if event.message_id == name]
        problems.append(differs("visible", _shown(own), wanted))
    for name, wanted in expected.get("messages", {}).items():
        problems.append(differs("messages", [plain(m) for m in mixed.streams[name].reader.messages], wanted))
    if "public_events" in expected:
        problems.append(differs("events", _merged(events), expected["public_events"]))
    return first(*problems)


def _shown(events: Sequence[response.ResponseEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, response.ResponseDelta))


def _stream_problem(chunks: list[bytes], options: dict[str, Any], expected: dict[str, Any]) -> str | None:
    names = ("role", "profile")
    given = {name: options[name] for name in names if name in options}
    stream = response.ResponseStream(response=options.get("response", False), **given)
    events: list[response.ResponseEvent] = []
    fed = 0
    actions = list(options.get("actions", []))
    for chunk in chunks:
        events += stream.feed(chunk)
        fed += len(chunk)
        while actions and fed >= actions[0]["after_bytes"]:
            assert actions[0]["event"] == "response.cancel"
            events += stream.cancel(actions.pop(0).get("reason", ""))
    events += stream.finish(stop=options.get("stop"))
    shown = _shown(events)
    reader = stream.reader
    found = reader.error
    problems = _differing_messages(reader.messages, expected)
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
        elif isinstance(event, response.ResponseCancel):
            merged.append({"event": "response.cancel", "reason": event.reason})
        elif isinstance(event, response.ToolCancel):
            merged.append({"event": "tool.cancel", "call_id": event.call_id, "reason": event.reason})
    return merged


def check_router(case: dict[str, Any]) -> str | None:
    """Calls, run by a router."""
    return asyncio.run(_routed(case))


async def _routed(case: dict[str, Any]) -> str | None:
    options, expected = case["options"], case["expected"]
    saw: dict[str, Any] = {}
    invoked: list[str] = []
    messages = ocm.parse(case["input"], strict=False, profile=options.get("profile")).messages

    def tool(name: str, spec: dict[str, Any]) -> ocm.RoutedTool:
        async def function(given: Any) -> Any:
            invoked.append(name)
            ids = [message.call_id for message in messages if message.is_call and message.recipient == name]
            key = ids[sum(other == name for other in invoked) - 1]
            saw[key or ""] = given
            end = time.monotonic() + spec.get("delay_ms", 0) / 1000
            while (left := end - time.monotonic()) > 0:
                try:
                    await asyncio.sleep(left)
                except asyncio.CancelledError:
                    if not spec.get("ignores_cancel"):
                        raise
            if "raises" in spec:
                raise RuntimeError(spec["raises"])
            return given if spec.get("echo_args") else spec.get("returns")

        return ocm.RoutedTool(run=function, schema=spec.get("schema"), raw_body=spec.get("raw_body", False))

    router = ocm.ToolRouter(
        {name: tool(name, spec) for name, spec in options["tools"].items()},
        default_deadline_ms=options.get("default_deadline_ms"),
        concurrency=options.get("concurrency", 64),
    )

    async def act(action: dict[str, Any]) -> None:
        await asyncio.sleep(action["at_ms"] / 1000)
        if action["event"] == "tool.cancel":
            router.cancel(action["call_id"], action.get("reason", ""))
        else:
            router.cancel_all(action.get("reason", ""))

    acting = [asyncio.ensure_future(act(action)) for action in options.get("actions", [])]
    begun = time.monotonic()
    replies = await router.run(messages)
    wall = (time.monotonic() - begun) * 1000
    await asyncio.gather(*acting)
    await asyncio.sleep(options.get("settle_ms", 0) / 1000)
    problems = [
        differs(
            "replies",
            sorted((_reply(reply) for reply in replies), key=lambda reply: reply["call_id"]),
            sorted(expected["replies"], key=lambda reply: reply["call_id"]),
        )
    ]
    texts = [ocm.render_message(reply.message()) for reply in replies]
    if "order" in expected:
        problems.append(differs("order", [reply.call_id for reply in replies], expected["order"]))
    if "tool_saw" in expected:
        problems.append(differs("arguments", saw, expected["tool_saw"]))
    if "invoked" in expected:
        problems.append(differs("invoked", invoked, expected["invoked"]))
    if "rejected" in expected:
        calls = [index for index, message in enumerate(messages) if message.terminator == "call"]
        found = [calls.index(problem.index) for problem in router.rejected if problem.index is not None]
        problems.append(differs("rejected", found, expected["rejected"]))
    if "reply_text_prefix" in expected:
        problems.append(None if texts[0].startswith(expected["reply_text_prefix"]) else f"text {texts[0]!r}")
    if "reparse_messages" in expected:
        problems.append(differs("messages", len(ocm.parse(texts[0]).messages), expected["reparse_messages"]))
    # Wall time is the machine's as well: only a hang or a wait in line shows.
    if wall > 4 * expected.get("wall_ms_max", 1e9) or wall < expected.get("wall_ms_min", 0):
        problems.append(f"{wall:.0f} ms")
    return first(*problems)


def _reply(reply: ocm.Reply) -> dict[str, Any]:
    data = {name: getattr(reply, name) for name in ("call_id", "name", "ok", "content")}
    return data | {"error_code": reply.error_code}


def check_conversion(case: dict[str, Any]) -> str | None:
    """Between transcripts and Harmony."""
    options, expected, text = case["options"], case["expected"], case["input"]
    if options["direction"] == "to_harmony":
        names = ("drop_cot", "training", "for_completion")
        given = {name: options[name] for name in names if name in options}
        messages = ocm.parse(text, profile=options.get("profile")).messages
        found = [list(segment) for segment in harmony.harmony_segments(messages, **given)]
        wrong = differs("segments", found, expected["segments"]) if "segments" in expected else None
        try:
            return wrong or differs("text", harmony.to_harmony(messages, **given), expected.get("harmony_text"))
        except SyntagmaError as error:
            return wrong or check_error(place_of(error), expected.get("error"))
    if options["direction"] == "from_harmony":
        transcript = harmony.from_harmony(text, role=options.get("role"))
        problems = [differs("messages", [plain(m) for m in transcript.messages], expected["messages"])]
        if "visible" in expected:
            problems.append(differs("visible", [shown.index for shown in ocm.visible(transcript)], expected["visible"]))
        return first(*problems)
    written = ocm.render(harmony.from_harmony(text).messages)
    again = harmony.to_harmony(ocm.parse(written, profile="harmony").messages, drop_cot=False)
    return differs("equal", again == text, expected["roundtrip_equal"])


def check_harmony_render(case: dict[str, Any]) -> str | None:
    """Conversations, rendered as openai-harmony renders them."""
    completion = "assistant" if case["method"].endswith("for_completion") else None
    drop = case["config"]["auto_drop_analysis"]
    try:
        segments = harmony.render_conversation(case["conversation"], completion=completion, auto_drop_analysis=drop)
    except SyntagmaError as error:
        return None if "error" in case["peer"] else f"raised {error}"
    if "error" in case["peer"]:
        return "no error"
    text = harmony.plain_text(segments, checked=False)
    try:
        harmony.plain_text(segments)
        plain_enough = True
    except SyntagmaError:
        plain_enough = False
    return first(
        differs("text", text, case["peer"]["text"]), differs("plain", plain_enough, case["peer"]["specials_ok"])
    )


def check_harmony_parse(case: dict[str, Any]) -> str | None:
    """Completions, however malformed, cut at every place."""
    for chunks in chunkings(case["input"].encode(), "all_splits"):
        reader = harmony.HarmonyReader(role=case["role"])
        events = [event for chunk in chunks for event in reader.feed(chunk)] + reader.finish()
        problem = _harmony_problem(case["robust"], reader, events)
        if problem is not None:
            return f"{problem} (in {len(chunks)} pieces)"
    return None


def _harmony_problem(robust: dict[str, Any], reader: harmony.HarmonyReader, events: list[Any]) -> str | None:
    result = reader.result()
    names = [*robust["messages"][0]] if robust["messages"] else []
    found = [{name: getattr(message, name) for name in names} for message in result.messages]
    deltas = [""] * len(result.messages)
    for event in events:
        if isinstance(event, ocm.BodyDelta):
            deltas[event.index] += event.text
    seen = ocm.visible(ocm.Transcript(messages=result.messages))
    return first(
        differs("messages", found, robust["messages"]),
        differs("deltas", deltas, [message.body for message in result.messages]),
        differs("dispatch", list(result.dispatch), robust["dispatch"]),
        differs("visible", [shown.index for shown in seen], robust["visible"]),
        differs("error", reader.error and reader.error.code, robust["error"]),
    )


CONTROL = {200002: "return", 200003: "constrain", 200005: "channel", 200006: "start", 200007: "end", 200008: "message"}
CONTROL[200012] = "call"
HEADERS = {173781: "assistant", 35644: "analysis", 17196: "final", 12606: "comment", 815: "ary", 316: " to", 28: "="}
HEADERS |= {46071: "browser", 16718: ".search", 3490: " code"}
PIECES = {9552: b" \xf0\x9f", 31446: b"\xf0\x9f\x92", 244: b"\x96", 135596: b"worked", 12194: b"Hi"}


def check_harmony_stream(case: dict[str, Any]) -> str | None:
    """Token ids; the bytes of ordinary tokens are those that the recorded deltas show."""
    vocabulary = {number: text.encode() for number, text in HEADERS.items()} | PIECES
    for number, delta in zip(case["input_tokens"], case["peer"]["deltas"], strict=True):
        if delta is not None and number not in PIECES:
            vocabulary[number] = delta.encode()
    for control in (CONTROL, {}):
        table = dict(vocabulary) if control else vocabulary | {n: f"<|{t}|>".encode() for n, t in CONTROL.items()}
        tokens = harmony.TokenReader(table.__getitem__, control, role=case["role"])
        events = [event for number in case["input_tokens"] for event in tokens.feed(number)] + tokens.finish()
        messages = tokens.reader.messages
        bodies = [message.body for message in messages]
        deltas = [""] * len(messages)
        for event in events:
            if isinstance(event, ocm.BodyDelta):
                deltas[event.index] += event.text
        robust = case["robust"]
        codes = {problem.code for problem in tokens.reader.errors} - {"E-PARSE-CHANNEL-MISSING"}
        if "incomplete_body" in robust:
            wanted = [robust["incomplete_body"]]
            problem = differs("terminator", messages[-1].terminator, None)
        else:
            wanted, problem = robust["bodies"], None
        problem = first(
            problem,
            differs("bodies", bodies, wanted),
            differs("deltas", deltas, wanted),
            differs("errors", codes, {robust["error"]} - {None}),
        )
        if problem is not None:
            return problem
    return None


CHECKS = {
    "parse": check_parse,
    "validate": check_parse,
    "render": check_render,
    "visibility": check_visibility,
    "json": check_json,
    "stream": check_stream,
    "router": check_router,
    "harmony": check_conversion,
}
HARMONY = {"render": check_harmony_render, "parse": check_harmony_parse, "stream": check_harmony_stream}
