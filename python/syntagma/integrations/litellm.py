"""LiteLLM: a provider that uses loaded models, in this process or on running engines.

litellm.custom_provider_map = [{"provider": "syntagma", "custom_handler": handler(sg.load("embedded"))}]
litellm.completion(model="syntagma/embedded", messages=messages, tools=tools)
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from syntagma.entry import check_argument
from syntagma.errors import ArgumentError
from syntagma.generation import Model
from syntagma.integrations.answers import Answer

__all__ = ["handler"]


def handler(models: Model | Mapping[str, Model]) -> Any:
    """A `litellm.CustomLLM` with `completion`, `acompletion`, `streaming` and `astreaming`.

    Args:
        models: one model for all names; or several models by name, which is the part of `model=` after the provider.

    Raises:
        ArgumentTypeError: `E-ARGUMENT-TYPE`, `models` is neither.
    """
    check_argument("models", models, Model | Mapping[str, Model])
    return _handler_class()(models)


@functools.cache
def _handler_class() -> Any:
    """The class, which is defined when LiteLLM is first needed."""
    from litellm import CustomLLM, ModelResponse
    from litellm.types.utils import Delta, ModelResponseStream, StreamingChoices, Usage

    class Handler(CustomLLM):  # type: ignore[misc,unused-ignore]
        """A provider that answers with models of Syntagma."""

        def __init__(self, models: Model | Mapping[str, Model]) -> None:
            super().__init__()
            self._models = models

        def completion(self, *_: Any, **call: Any) -> Any:
            """The whole answer."""
            answer = self._answer(call)
            for _delta in answer:
                pass
            choice = {"index": 0, "finish_reason": answer.finish_reason, "message": answer.message()}
            return ModelResponse(model=call["model"], choices=[choice], usage=Usage(**answer.usage))

        def streaming(self, *_: Any, **call: Any) -> Iterator[Any]:
            """The answer in pieces."""
            answer = self._answer(call)
            for delta in answer:
                yield ModelResponseStream(choices=[StreamingChoices(delta=Delta(**delta))])
            last = StreamingChoices(delta=Delta(), finish_reason=answer.finish_reason)
            yield ModelResponseStream(choices=[last], usage=Usage(**answer.usage))

        async def acompletion(self, *_: Any, **call: Any) -> Any:
            """The whole answer, generated in a thread."""
            return await asyncio.to_thread(self.completion, **call)

        async def astreaming(self, *_: Any, **call: Any) -> AsyncIterator[Any]:
            """The answer in pieces, each generated in a thread."""
            pieces = self.streaming(**call)
            try:
                while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
                    yield piece
            finally:
                pieces.close()  # type: ignore[attr-defined]

        def _answer(self, call: Mapping[str, Any]) -> Answer:
            options = dict(call.get("optional_params") or {})
            # These options are LiteLLM's own.
            for name in ("stream", "stream_options", "extra_body", "max_retries"):
                extra = options.pop(name, None)
                options |= extra if name == "extra_body" and extra else {}
            return Answer(self._model(call["model"]), call["messages"], options)

        def _model(self, name: str) -> Model:
            if isinstance(self._models, Model):
                return self._models
            try:
                return self._models[name]
            except KeyError:
                raise ArgumentError(
                    "E-ARGUMENT-VALUE", f"there is no model {name!r}", hint=f"models: {', '.join(self._models)}"
                ) from None

    return Handler
