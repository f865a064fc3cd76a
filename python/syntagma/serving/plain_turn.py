"""The turn of a prompt that was not rendered from a conversation; its answer is plain text."""

from __future__ import annotations

from typing import Any, Final, TypeVar

from syntagma.codec import Turn
from syntagma.formats import ChatFormat
from syntagma.parsing import ReadingOptions
from syntagma.request import ResolvedRequest
from syntagma.serving.body import bad_field
from syntagma.serving.model import ServedModel
from syntagma.serving.token_endpoints import vocabulary_of
from syntagma.templates import Prompt, Segment

__all__ = ["plain_turn"]

T = TypeVar("T", bound=Prompt)
_PLAIN: Final = ChatFormat.from_toml("")
"""the format of plain text"""


class _EncodedPrompt(Prompt):
    """A prompt that was given as token ids."""

    __slots__ = ("given",)

    given: tuple[int, ...]

    def ids(self, info: Any) -> list[int]:  # noqa: ARG002 - they are known already
        """See `Prompt`."""
        return list(self.given)


def plain_turn(
    served: ServedModel, prompt: str | tuple[int, ...], request: ResolvedRequest, reading: ReadingOptions
) -> Turn:
    """The turn. In the prompt, the text of a special token becomes that token.

    Args:
        served: the model.
        prompt: text or token ids, not empty.
        request: the resolved request.
        reading: options of the parser.

    Raises:
        RequestError: `E-REQUEST-FIELD`, a token is not in the vocabulary; `E-REQUEST-UNSUPPORTED`, token ids for an
            engine whose vocabulary is unknown here.
    """
    if isinstance(prompt, str):
        return Turn(_trusted(Prompt, prompt), _PLAIN, request, reading)
    info = vocabulary_of(served)
    for index, token in enumerate(prompt):
        if not 0 <= token < info.vocab_size:
            raise bad_field(f"/prompt/{index}", f"the vocabulary has {info.vocab_size} tokens, and no {token}")
    encoded = _trusted(_EncodedPrompt, info.decode(prompt).decode("utf-8", "replace"))
    encoded.given = prompt
    return Turn(encoded, _PLAIN, request, reading)


def _trusted(kind: type[T], text: str) -> T:
    return kind(text, len(text), (Segment(text, "template"),))
