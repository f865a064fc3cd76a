"""Every conversation on every collected template: each text stands in the prompt; what is whole as it is stays so."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from syntagma.analysis import Capabilities, analyze
from syntagma.codec import ChatCodec
from syntagma.errors import SyntagmaError
from syntagma.templates import ChatTemplate

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.codec.conversations import CONVERSATIONS, Conversation, disordered, missing
from tests.codec.plain import FORMAT, NOW, plain_render


def run(data: Path) -> Iterator[tuple[str, str | None]]:
    """Every conversation with every template, by a codec of its analysis and by one of a format alone."""
    for path in sorted([*(data / "auto" / "templates").glob("*.jinja"), *(data / "templates").glob("*.jinja")]):
        template = ChatTemplate.from_file(path)
        analysis = analyze(template, certify=False, candidates="derived")
        codecs = {
            "analysed": (ChatCodec.from_template(template, analysis), analysis.capabilities),
            "named": (ChatCodec.from_format(FORMAT, template), Capabilities()),
        }
        for kind, conversation in CONVERSATIONS.items():
            for way, (codec, wants) in codecs.items():
                yield f"{way}/{path.stem}/{kind}", _problem(codec, wants, kind, conversation)


def _problem(codec: ChatCodec, wants: Capabilities, kind: str, conversation: Conversation) -> str | None:
    try:
        prompt = str(codec.render(conversation.messages, tools=conversation.tools, now=NOW))
    except SyntagmaError as error:
        return None if error.code == "E-MESSAGE-PART" and kind == "image" else f"{error.code}: {error.message}"
    lost = missing(conversation, prompt) or disordered(conversation, prompt)
    if lost:
        return f"lost: {', '.join(lost)}"
    assert codec.template is not None
    plain = plain_render(codec.template, wants, conversation)
    if plain is None or missing(conversation, plain) or disordered(conversation, plain) or plain == prompt:
        return None
    # Texts do not tell whether an image, reasoning or the name of a tool is lost.
    untold = kind in ("image", "call without arguments") or any("reasoning_content" in m for m in conversation.messages)
    return None if untold else "the template shows it as it is, and the codec changes it"
