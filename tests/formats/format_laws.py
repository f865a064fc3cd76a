"""What holds for every format, whatever its signs; the long run over formats drawn at random.

    python -m tests.formats.format_laws [COUNT] [--from SEED] [--cuts N]

draws COUNT formats and prints what goes wrong, the share that is refused when it is loaded, and why it is.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from syntagma.errors import FormatError
from syntagma.events import ContentDelta, Event, ReasoningDelta, ToolCallDelta
from syntagma.format_schema import Markers
from syntagma.format_schema.facts import interrupts
from syntagma.formats import ChatFormat
from syntagma.messages import Message
from syntagma.parsing import StreamParser
from syntagma.parsing.compiled_format import compiled_format
from tests.formats.format_draws import TOOLS, Draw, DrawMessages, damaged, literals
from tests.formats.json_prefix import is_beginning_of_object

__all__ = ["loaded", "problems"]

_MESSAGES = 3
_MAX_CUTS = 40

_IDS = ("id7", *(f"call_{n}" for n in range(9)))
"""the ids of calls in messages that are drawn, and those of calls without one"""


def loaded(toml: str) -> ChatFormat | FormatError:
    """The format, ready to read; or why it is refused."""
    try:
        fmt = ChatFormat.from_toml(toml)
        fmt.parser()
    except FormatError as error:
        return error
    return fmt


def problems(seed: int, counts: Counter[str], *, cuts: int = _MAX_CUTS) -> Iterator[str]:
    """What is wrong with one drawn format. `counts` says what was looked at; `cuts`: places to cut each text at."""
    toml = Draw(random.Random(seed)).toml()
    fmt = loaded(toml)
    if isinstance(fmt, FormatError):
        counts["refused"] += 1
        counts[f"refused: {fmt.code} {fmt.message}"] += 1
        return
    counts["accepted"] += 1
    rng = random.Random(seed)
    draw = DrawMessages(fmt, rng)
    plain = draw.plain()
    texts = []
    for message in (plain, *(draw.message() for _ in range(_MESSAGES))):
        try:
            text = fmt.write(message, TOOLS)
        except FormatError as error:
            counts["unwritable plain" if message is plain else "unwritable"] += 1
            if error.code not in ("E-FORMAT-UNWRITABLE", "E-FORMAT-UNSUPPORTED"):
                yield f"writing raises {error!r}"
            continue
        counts["written"] += 1
        if _meaning(fmt.parse(text, TOOLS)) != _meaning(message):
            yield f"{text!r} does not read back"
        texts.append(text)
        yield from _ends(fmt, text, rng, cuts)
    if texts:
        yield from _disorder(fmt, texts[0], rng, cuts)
    for text in texts[:3]:
        yield from _cuts(fmt, text, rng, cuts)
        yield from _cuts(fmt, damaged(text, rng), rng, cuts // 4)
        yield from _cuts(fmt, draw.junk(text), rng, cuts // 4)


def _meaning(message: Message) -> Any:
    calls = [(call.name, json.loads(call.arguments), call.complete) for call in message.tool_calls]
    return message.content or "", message.reasoning_content or "", calls


def _disorder(fmt: ChatFormat, text: str, rng: random.Random, cuts: int) -> Iterator[str]:
    """A call in disorder: see `tests/parsing/test_disorder.py`. `text`: a message that ends with a call."""
    compiled, wanted = compiled_format(fmt.spec), fmt.parse(text, TOOLS)
    if not wanted.tool_calls:
        return
    ends = {text for texts in fmt.spec.turn_ends for text in texts}
    # A closer of the answer that also closes a section may have closed the answer.
    sections = tuple(op.text for _, each, _ in compiled.forms for one in each for op in one.closer[:1])
    shared = any(one.closer.startswith(sections) for one in compiled.wrappers)
    separators = {form.separator for form, _, _ in compiled.forms}  # a further call may follow one
    for stray in (op.text for op in compiled.strays if not shared and op.text not in {*ends, *separators}):
        message = fmt.parse(text + stray, TOOLS)
        if _meaning(message) != _meaning(wanted) or _codes(message) - _codes(wanted) != {"E-PARSE-STRAY"}:
            yield f"{text + stray!r}: the closer is not removed, and told"
        yield from _cuts(fmt, text + stray + "\n" + stray, rng, cuts // 8)
    for opener in compiled.misspellings.openers:
        spelled = opener.swapcase()
        yield from _cuts(fmt, spelled + text.replace(opener, spelled), rng, cuts // 8)
    if not (wanted.tool_calls[0].span and fmt.spec.reasoning_blocks):
        return
    begin, block = wanted.tool_calls[0].span[0], fmt.spec.reasoning_blocks[0]
    call = text[begin:]
    if block.opener.strip() and compiled.openings and call.startswith(tuple(filter(None, interrupts(fmt.spec)))):
        message = fmt.parse(f"{block.opener}Hm. {call}", TOOLS)
        closers = [*ends, *(one.closer.strip() for one in fmt.spec.reasoning_blocks)]
        if len(message.tool_calls) != len(wanted.tool_calls) and not any(closer in call for closer in closers):
            yield f"{block.opener}Hm. {call!r}: the call does not interrupt the reasoning"
        yield from _cuts(fmt, f"{block.opener}Hm. {call}{block.closer}So.", rng, cuts // 8)


def _codes(message: Message) -> set[str]:
    return {one.code for one in message.diagnostics}


def _told(fmt: ChatFormat, text: str, events: Iterable[Event], message: Message) -> Iterator[str]:
    """Every marker that stays in the answer or in reasoning is told, once."""
    if fmt.spec.reasoning is not None and fmt.spec.reasoning.to == "content":
        return
    told = compiled_format(fmt.spec).told.texts
    pieces: list[str] = []
    last: tuple[type, int] | None = None
    for event in events:
        if isinstance(event, ContentDelta | ReasoningDelta):
            if last != (type(event), event.span[0]):
                pieces.append("")
            pieces[-1] += event.text
            last = type(event), event.span[1]
    found = sum(len(re.findall("|".join(map(re.escape, told)), piece)) for piece in pieces) if told else 0
    if found != sum(one.code == "E-PARSE-MARKER" for one in message.diagnostics):
        yield f"{text!r}: not every marker is told, or some are without being there: {pieces}"


def _places(text: str, rng: random.Random, cuts: int) -> list[int]:
    places = range(1, len(text))
    return list(places) if len(places) <= cuts else sorted(rng.sample(places, cuts))


def _parser(fmt: ChatFormat) -> StreamParser:
    return fmt.parser(TOOLS, id_seed="s")


def _read(fmt: ChatFormat, chunks: Iterable[str]) -> list[Event]:
    parser = _parser(fmt)
    events: list[Event] = []
    for chunk in chunks:
        events += parser.feed(chunk)
    return events + parser.finish()


def _joined(events: Iterable[Event]) -> list[Any]:
    """The events as plain data, adjacent deltas of the same kind in one."""
    out: list[Any] = []
    for event in events:
        if isinstance(event, ContentDelta | ReasoningDelta):
            piece = [type(event).__name__, "", event.text, *event.span]
        elif isinstance(event, ToolCallDelta):
            piece = [type(event).__name__, event.index, event.arguments, *event.span]
        else:
            out.append(repr(event))
            continue
        if out and isinstance(out[-1], list) and out[-1][:2] == piece[:2]:
            out[-1][2] += piece[2]
            out[-1][4] = piece[4]
        else:
            out.append(piece)
    return out


def _cuts(fmt: ChatFormat, text: str, rng: random.Random, cuts: int) -> Iterator[str]:
    """However a text is cut, the events are the same."""
    whole = _joined(_read(fmt, [text]))
    ways = [list(text)]
    ways += [[text[:at], text[at:]] for at in _places(text, rng, cuts)]
    for _ in range(4):
        places = sorted(rng.sample(range(len(text) + 1), min(len(text), rng.randint(2, 9))))
        ways.append([text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)])
    for chunks in ways:
        found = _joined(_read(fmt, chunks))
        if found != whole:
            yield f"{text!r} cut as {chunks if len(chunks) < 4 else '…'} reads\n      {found}\n not  {whole}"
            return


def _ends(fmt: ChatFormat, text: str, rng: random.Random, cuts: int) -> Iterator[str]:
    """An answer may end at any character."""
    for at in _places(text, rng, cuts):
        begun = text[:at]
        parser = _parser(fmt)
        events = parser.feed(begun)
        events += parser.finish()
        message = parser.message
        yield from _nothing_is_lost(fmt, begun, events, message)
        yield from _told(fmt, begun, events, message)
        for call in message.tool_calls:
            if call.complete:
                try:
                    whole = isinstance(json.loads(call.arguments), dict)
                except ValueError:
                    whole = False
                if not whole:
                    yield f"{begun!r}: complete with {call.arguments!r}"
                    return
            elif not is_beginning_of_object(call.arguments):
                yield f"{begun!r}: arguments {call.arguments!r} of an incomplete call"
                return


def _nothing_is_lost(fmt: ChatFormat, text: str, events: list[Event], message: Message) -> Iterator[str]:
    """Every character is in the answer, in reasoning or in a call, or it is a marker or whitespace beside one."""
    covered = [call.span for call in message.tool_calls]
    for event in events:
        if isinstance(event, ContentDelta | ReasoningDelta):
            start, end = event.span
            if text[start:end] != event.text and not (fmt.spec.reasoning and fmt.spec.reasoning.to == "content"):
                yield f"{text!r}: {event} is not at its place"
            covered.append(event.span)
    at = 0
    for start, end in [*sorted(covered), (len(text), len(text))]:
        between = text[at:start]
        if between.strip() and not _is_markers(between, _structure(fmt), is_end=start == len(text)):
            yield f"{text!r}: {between!r} is lost"
        at = max(at, end)


def _structure(fmt: ChatFormat) -> frozenset[str]:
    """Every word of a format's own, and those of headers and of the rest of an object that are no text."""
    # Closers are read piece by piece, brackets for themselves; an answer may end between two of them.
    found = {*literals(fmt), *"()[]{}"}
    found.update(text.strip().strip("()[]{}") for text in tuple(found))
    found.update(piece.text for text in tuple(found) for piece in Markers(fmt.spec.markers).pieces(text))
    messages = fmt.spec.messages
    if messages is not None:
        found.update(tool["function"]["name"] for tool in TOOLS)
        found.update(_IDS)
        for sign in (*messages.fields, messages.body):
            found.update(part for text in tuple(found) for part in text.split(sign.strip()))
        # The end of a message is read for itself where a closer ends with it.
        found.update(text.removesuffix(end.strip()) for text in tuple(found) for end in messages.end)
    if fmt.spec.tools is not None and any(form.envelope for form in fmt.spec.tools.forms):
        names = [tool["function"]["name"] for tool in TOOLS]
        found.update(('"', *"{}:,0123456789", *names, *_IDS))
    return frozenset(word for text in found for word in text.split())


def _is_markers(text: str, words: frozenset[str], *, is_end: bool) -> bool:
    """Whether a text consists of these words and whitespace; at the end of an answer the last may be cut."""
    reached = [True] + [False] * len(text)
    for at in range(len(text)):
        if not reached[at]:
            continue
        if text[at].isspace():
            reached[at + 1] = True
        for word in words:
            if text.startswith(word, at):
                reached[at + len(word)] = True
            elif is_end and word.startswith(text[at:]):
                return True
    return reached[-1]


def main() -> int:
    """The long run."""
    parser = argparse.ArgumentParser(description="check what holds for every format, for formats drawn at random")
    parser.add_argument("count", type=int, nargs="?", default=1_500)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--cuts", type=int, default=_MAX_CUTS)
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    wrong = 0
    for seed in range(options.first, options.first + options.count):
        found = list(problems(seed, counts, cuts=options.cuts))
        if found:
            wrong += 1
            print(f"seed {seed}\n{Draw(random.Random(seed)).toml()}")
            for problem in found:
                print(f"   - {problem}")
    for what, number in counts.most_common():
        print(f"{number:8} {what}")
    print(f"{options.count} formats, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
