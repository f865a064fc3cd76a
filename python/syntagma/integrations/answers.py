"""`Answer`: one answer of a loaded model, for libraries that use OpenAI's names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from syntagma.codec import MessageLike
from syntagma.decoding.sampling import Sampling
from syntagma.errors import ArgumentError
from syntagma.events import to_openai
from syntagma.generation import GenerationOptions, Model
from syntagma.request import RequestOptions

__all__ = ["Answer"]

_SAMPLING = frozenset(Sampling.__struct_fields__)
_GENERATION = frozenset(GenerationOptions.__struct_fields__) - {"sampling", "logprobs"}
_REQUEST = frozenset(RequestOptions.__annotations__) | {"tools"}


class Answer:
    """One answer to a conversation. Iterating over it, which is possible once, yields OpenAI deltas.

    Closing the iterator stops the model.

    Args:
        model: the model.
        messages: the conversation: `Message` objects or OpenAI dictionaries.
        options: options by OpenAI's names, or the fields of `Sampling`, `GenerationOptions` and `RequestOptions`.
            Options that are None are ignored.

    Raises:
        ArgumentError: `E-ARGUMENT-VALUE`, an option is unknown.
        SyntagmaError: see `Model.chat`.
    """

    def __init__(self, model: Model, messages: Sequence[MessageLike], options: Mapping[str, Any]) -> None:
        given = {name: value for name, value in options.items() if value is not None}
        if "max_completion_tokens" in given:
            given["max_tokens"] = given.pop("max_completion_tokens")
        if isinstance(given.get("stop"), str):
            given["stop"] = (given["stop"],)
        unknown = sorted(set(given) - _SAMPLING - _GENERATION - _REQUEST)
        if unknown:
            raise ArgumentError(
                "E-ARGUMENT-VALUE",
                f"unknown option {unknown[0]!r}",
                hint=f"options: {', '.join(sorted(_SAMPLING | _GENERATION | _REQUEST))}",
                pointer=f"/{unknown[0]}",
            )
        asked: Any = {name: given[name] for name in _REQUEST & set(given)}
        turn = model.codec.prepare(messages, **{"tools": (), **asked})
        sampling = Sampling(**{name: given[name] for name in _SAMPLING & set(given)})
        bounds = {name: given[name] for name in _GENERATION & set(given)}
        if "stop" in bounds:
            bounds["stop"] = tuple(bounds["stop"])
        self._parser = turn.parser()
        self._markers = frozenset(turn.preserved_tokens)
        self._generation = model.start(turn, GenerationOptions(sampling=sampling, **bounds))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        with closing(self._generation) as generation:
            for _, events in generation.read(self._parser, markers=self._markers):
                delta = to_openai(events)
                if delta:
                    yield delta

    def message(self) -> dict[str, Any]:
        """The message so far, as an OpenAI dictionary."""
        return self._parser.message.to_openai()

    @property
    def finish_reason(self) -> str | None:
        """OpenAI's finish reason; None before the end."""
        return self._parser.finish_reason

    @property
    def usage(self) -> dict[str, int]:
        """Token counts so far, by OpenAI's names."""
        metrics = self._generation.metrics
        prompt, written = metrics.prompt_tokens, metrics.completion_tokens
        return {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}
