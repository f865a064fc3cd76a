"""The pictures of the documentation. Where one shows what the library does, the library is asked while it is drawn."""

from __future__ import annotations

from collections.abc import Callable

from drawing import Drawing, matrix

import syntagma as sg
from syntagma.parsing import INLINE, MESSAGES, Transitions

__all__ = ["PICTURES"]

_LOOKS = {"template": "key", "system": "box", "user": "held", "assistant": "box", "tool": "held"}


def _shown(text: str) -> str:
    return text.replace("\n", "⏎")


def pipeline() -> str:
    """From a template to a message: the way that the guide goes."""
    drawing = Drawing(900, 330, "Template, format, prompt, grammar, stream and message, and what is made of what")
    drawing.box(24, 24, 200, 56, "Chat template", "Jinja, from the model")
    drawing.box(350, 24, 200, 56, "Format", "how a turn is written", look="key")
    drawing.box(676, 24, 200, 56, "Format file", "TOML: shipped, or yours")
    drawing.arrow((224, 52), (346, 52), words="analyze")
    drawing.arrow((676, 52), (554, 52), words="read")
    drawing.box(24, 140, 200, 56, "Prompt", "text, origins, token ids")
    drawing.box(250, 140, 200, 56, "Grammar", "a mask for each token")
    drawing.box(476, 140, 200, 56, "Stream parser", "events, never taken back")
    drawing.box(716, 140, 160, 56, "Message", "reasoning, text, calls", look="good")
    drawing.arrow((124, 80), (124, 136))
    drawing.text(150, 113, "render", "small", "start")
    drawing.arrow((410, 80), (370, 136))
    drawing.text(384, 113, "strict reading", "small", "end")
    drawing.arrow((490, 80), (560, 136))
    drawing.text(536, 113, "lenient reading", "small", "start")
    drawing.arrow((676, 168), (712, 168))
    drawing.box(24, 256, 426, 50, "Model", "any engine: yours, llama.cpp, vLLM, transformers, MLX, …")
    drawing.arrow((124, 196), (124, 252))
    drawing.text(134, 230, "what it reads", "small", "start")
    drawing.arrow((350, 196), (350, 252))
    drawing.text(360, 230, "what it may write", "small", "start")
    drawing.arrow((450, 281), (576, 281), (576, 200))
    drawing.text(586, 270, "what it did write", "small", "start")
    return drawing.svg()


def certificate() -> str:
    """How a format is derived, and what proves it."""
    drawing = Drawing(900, 300, "Probes are rendered, fields are located, the format is inferred, and then certified")
    steps = [
        ("1  Probe", "a conversation whose", "every field is unique"),
        ("2  Render", "with the template,", "as for the model"),
        ("3  Locate", "find the fields,", "cut out the markers"),
        ("4  Infer", "write the format", "that shows them"),
    ]
    for at, step in enumerate(steps):
        drawing.box(24 + 222 * at, 24, 186, 72, *step, look="key" if at == 3 else "box")
        if at:
            drawing.arrow((24 + 222 * at - 36, 60), (24 + 222 * at - 4, 60))
    drawing.text(24, 132, "a render:", "small", "start")
    cells = [("[call ", "key"), ("name-7f3a", "held"), ("](", "key"), ('{"key-c21": 41}', "held"), (")", "key")]
    drawing.cells(120, 114, cells)
    drawing.arrow((470, 127), (520, 127))
    drawing.text(530, 132, "[call {name}]({arguments})", "code", "start")
    drawing.box(24, 190, 186, 72, "5  Certify", "other messages,", "rendered anew", look="key")
    drawing.box(246, 190, 186, 72, "Read back", "whole, and cut", "at every place")
    drawing.box(468, 190, 186, 72, "Ask the grammar", "does it let a model", "write this turn?")
    drawing.box(690, 190, 186, 72, "Certificate", "each shape: works,", "fails, or is lost", look="good")
    drawing.arrow((783, 96), (783, 160), (117, 160), (117, 186))
    for x in (210, 432, 654):
        drawing.arrow((x, 226), (x + 32, 226))
    return drawing.svg()


def masks() -> str:
    """A text so far, and which tokens of a small vocabulary may come next."""
    schema = {
        "type": "object",
        "properties": {"city": {"enum": ["Oslo", "Lima"]}},
        "required": ["city"],
        "additionalProperties": False,
    }
    pieces = ["Os", "lo", "Paris", "Li", '"', '"}', "42", "\n"]
    tokens = [bytes([b]) for b in range(256)] + [b"<end>", *(piece.encode() for piece in pieces)]
    info = sg.TokenizerInfo.from_tokens(tokens, eos_token_ids=[256])
    grammar = sg.Grammar.from_json_schema(schema, whitespace="compact")
    matcher = sg.GrammarMatcher(sg.GrammarCompiler(info).compile(grammar))
    drawing = Drawing(900, 268, "The mask of a vocabulary, before and after a token")
    y, text = 44, '{"city":"'
    matcher.accept_bytes(text.encode())
    for after in ("", "Os"):
        if after:
            matcher.accept_token(257 + pieces.index(after))
        drawing.text(24, y + 18, "written:", "small", "start")
        drawing.cells(100, y, [(text + after, "box")])
        drawing.text(270, y + 18, "next:", "small", "start")
        looks = [("good" if matcher.accepts(257 + at) else "bad") for at in range(len(pieces))]
        cells = [(_shown(piece), look) for piece, look in zip(pieces, looks, strict=True)]
        places = drawing.cells(320, y, cells)
        for (begin, end), look in zip(places, looks, strict=True):
            drawing.text((begin + end) / 2, y + 46, "1" if look == "good" else "0", "code")
        drawing.text(710, y + 46, "one bit a token", "small", "start")
        y += 84
    drawing.text(24, 232, "the schema:", "small", "start")
    drawing.text(
        120, 232, '{"properties": {"city": {"enum": ["Oslo", "Lima"]}}, "required": ["city"], …}', "code", "start"
    )
    return drawing.svg()


def streaming() -> str:
    """Chunks of a text, what the parser holds back after each, and the events that it gives."""
    parser = sg.formats.get("hermes").parser(id_seed="picture")
    chunks = ["I look. <tool", "_ca", 'll>\n{"name": "weather", "argu', 'ments": {"city"', ': "Oslo"}}\n</tool_call>']
    drawing = Drawing(
        900, 90 + 44 * (len(chunks) + 1), "Chunks go in, events come out; what may be a marker is held back"
    )
    drawing.text(24, 40, "chunk that is fed", "bold", "start")
    drawing.text(330, 40, "events", "bold", "start")
    y = 56.0
    for chunk in chunks:
        drawing.cells(24, y, [(_shown(chunk), "box")])
        cells = [_event_cell(event) for event in parser.feed(chunk)]
        drawing.cells(330, y, cells or [("nothing yet: held back", "held")])
        y += 44
    drawing.text(24, y + 18, "finish()", "code", "start")
    drawing.cells(330, y, [_event_cell(event) for event in parser.finish()])
    return drawing.svg()


def _event_cell(event: sg.events.Event) -> tuple[str, str]:
    name = type(event).__name__
    told = getattr(event, "text", None) or getattr(event, "arguments", None) or getattr(event, "name", None)
    look = "good" if name.endswith("End") else "key"
    return (f"{name} {told!r}" if isinstance(told, str) else name, look)


def segments() -> str:
    """A prompt with its origins, and which of its look-alikes becomes a control token."""
    template = sg.ChatTemplate(
        "{% for m in messages %}<|user|>{{ m.content }}<|end|>{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )
    prompt = template.render([{"role": "user", "content": "What does <|end|> mean?"}])
    info = sg.testing.byte_vocabulary(["<|user|>", "<|end|>", "<|assistant|>"])
    control = {token: text for text, token in info.control_tokens.items()}
    drawing = Drawing(900, 176, "A prompt in segments: only what the template wrote becomes a control token")
    drawing.text(24, 48, "segments", "bold", "start")
    x = 130.0
    for segment in prompt.segments:
        ((begin, end),) = drawing.cells(x, 30, [(segment.text, _LOOKS[segment.origin])])
        drawing.text((begin + end) / 2, 74, segment.origin, "small")
        x = end + 3
    codec = sg.ChatCodec.from_format(sg.ChatFormat.from_toml('end_of_turn = ["<|end|>"]'), template)
    turn = codec.prepare([{"role": "user", "content": "What does <|end|> mean?"}])
    drawing.text(24, 126, "token ids", "bold", "start")
    cells: list[tuple[str, str]] = []
    for token in turn.prompt_ids(info):
        if token in control:
            cells.append((control[token], "key"))
        elif cells and cells[-1][1] == "box":
            cells[-1] = (cells[-1][0] + info.decode([token]).decode(), "box")
        else:
            cells.append((info.decode([token]).decode(), "box"))
    for (begin, end), (_, look) in zip(drawing.cells(130, 108, cells), cells, strict=True):
        drawing.text((begin + end) / 2, 152, "control" if look == "key" else "text, in plain tokens", "small")
    return drawing.svg()


def budgets() -> str:
    """A turn whose reasoning has used its budget, and one that nears the end of its tokens."""
    drawing = Drawing(900, 236, "A budget closes reasoning; near the last token, the shortest valid ending is written")
    drawing.text(24, 44, "reasoning_tokens=4", "code", "start")
    first = [("<think>", "key"), ("Let", "held"), ("me", "held"), ("see", "held"), (",", "held")]
    places = drawing.cells(
        230, 26, [*first, ("</think>", "good"), ("It", "box"), ("is", "box"), ("9", "box"), ("°", "box")]
    )
    drawing.text((places[1][0] + places[4][1]) / 2, 72, "counted: 4", "small")
    drawing.text(sum(places[5]) / 2, 72, "forced", "small")
    drawing.text((places[6][0] + places[9][1]) / 2, 72, "the answer goes on", "small")
    drawing.text(24, 144, "max_tokens", "code", "start")
    second = ['{"', "name", '":"', "Anna", '","', "note", '":"']
    places = drawing.cells(230, 126, [*((word, "box") for word in second), ('"', "good"), ("}", "good")])
    drawing.text((places[0][0] + places[6][1]) / 2, 172, "as the model likes", "small")
    drawing.text((places[7][0] + places[8][1]) / 2, 172, "the shortest valid ending", "small")
    drawing.text(
        24, 212, "Both answers are valid; the second is marked incomplete (finish_reason: length).", "small", "start"
    )
    return drawing.svg()


def _states(table: Transitions, title: str) -> str:
    states = dict.fromkeys(str(state) for row in table.rows for state in (row.source, row.target))
    sources = [state for state in states if any(str(row.source) == state for row in table.rows)]
    targets = [state for state in states if any(str(row.target) == state for row in table.rows)]
    return matrix(title, sources, targets, {(str(row.source), str(row.target)) for row in table.rows})


PICTURES: dict[str, Callable[[], str]] = {
    "budgets.svg": budgets,
    "certificate.svg": certificate,
    "masks.svg": masks,
    "pipeline.svg": pipeline,
    "segments.svg": segments,
    "states-inline.svg": lambda: _states(INLINE, "Which state leads to which, in turns with markers"),
    "states-messages.svg": lambda: _states(MESSAGES, "Which state leads to which, in turns that are messages"),
    "streaming.svg": streaming,
}
