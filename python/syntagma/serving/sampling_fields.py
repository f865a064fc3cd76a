"""The sampling fields that all endpoints have, and the generation options that they ask for."""

from __future__ import annotations

from typing import Final

import msgspec

from syntagma.decoding.sampling import Sampling
from syntagma.errors import ArgumentError
from syntagma.generation import GenerationOptions
from syntagma.limits import Limits
from syntagma.serving.body import bad_field, over_limit
from syntagma.serving.settings import Settings

__all__ = ["OPTION_PLACES", "SamplingFields", "generation_options"]

OPTION_PLACES: Final = {"/excluded": "/bad_words"}
"""pointers of generation options → pointers in requests"""


class SamplingFields(msgspec.Struct, kw_only=True):
    """OpenAI's sampling fields, and those that vLLM, SGLang and llama.cpp have made common; null counts as absent."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    repetition_penalty: float | None = None
    logit_bias: dict[str, float] | None = None
    allowed_token_ids: list[int] | None = None
    bad_words: list[str] | None = None
    seed: int | None = None
    stop: str | list[str] | None = None
    stop_token_ids: list[int] | None = None
    ignore_eos: bool | None = None
    min_tokens: int | None = None


def generation_options(
    fields: SamplingFields,
    settings: Settings,
    *,
    max_tokens: int | None,
    logprobs: int | None = None,
    stop: str = "stop",
    explain: bool | None = None,
) -> GenerationOptions:
    """The generation options that the fields ask for.

    Args:
        fields: the fields of the request.
        settings: the settings of the server.
        max_tokens: the request's limit; None: it has none.
        logprobs: see `GenerationOptions`.
        stop: the name of the field with the stop strings.
        explain: see `GenerationOptions`; None: False.

    Raises:
        RequestError: `E-REQUEST-FIELD`, `E-REQUEST-LIMIT`, with the pointer of the field.
    """
    temperature = _given(fields.temperature, 1.0)
    if not 0 <= temperature <= 2:
        raise bad_field("/temperature", f"must be from 0 to 2, not {temperature:g}")
    allowed = fields.allowed_token_ids
    try:
        sampling = Sampling(
            temperature=temperature,
            top_p=_given(fields.top_p, 1.0),
            # In vLLM, -1 means no bound.
            top_k=0 if fields.top_k in (None, -1) else fields.top_k,
            min_p=_given(fields.min_p, 0.0),
            frequency_penalty=_penalty("frequency_penalty", fields.frequency_penalty),
            presence_penalty=_penalty("presence_penalty", fields.presence_penalty),
            repetition_penalty=_given(fields.repetition_penalty, 1.0),
            logit_bias=_bias(fields.logit_bias),
            allowed_token_ids=None if allowed is None else tuple(allowed),
            seed=fields.seed,
        )
        return GenerationOptions(
            sampling=sampling,
            max_tokens=settings.max_tokens if max_tokens is None else max_tokens,
            complete=settings.complete,
            stop=_texts(stop, getattr(fields, stop), settings.limits),
            logprobs=logprobs,
            explain=explain is True,
            min_tokens=fields.min_tokens or 0,
            ignore_eos=fields.ignore_eos is True,
            stop_token_ids=tuple(fields.stop_token_ids or ()),
            excluded=_texts("bad_words", fields.bad_words, settings.limits),
        )
    except ArgumentError as error:
        raise bad_field(error.pointer or "", error.message) from error


def _given(value: float | None, default: float) -> float:
    return default if value is None else value


def _penalty(name: str, value: float | None) -> float:
    if value is not None and not -2 <= value <= 2:
        raise bad_field(f"/{name}", f"must be from -2 to 2, not {value:g}")
    return _given(value, 0.0)


def _bias(given: dict[str, float] | None) -> dict[int, float]:
    for token, bias in (given or {}).items():
        if not token.isdecimal():
            raise bad_field("/logit_bias", f"its keys must be token ids, which are numbers, not {token!r}")
        if not -100 <= bias <= 100:
            raise bad_field(f"/logit_bias/{token}", f"must be from -100 to 100, not {bias:g}")
    return {int(token): bias for token, bias in (given or {}).items()}


def _texts(name: str, given: str | list[str] | None, limits: Limits) -> tuple[str, ...]:
    """Stop strings, or texts that may not appear."""
    texts = (given,) if isinstance(given, str) else tuple(given or ())
    if len(texts) > limits.server_stop:
        raise over_limit(f"/{name}", len(texts), limits.server_stop, "texts")
    for index, text in enumerate(texts):
        pointer = f"/{name}" if isinstance(given, str) else f"/{name}/{index}"
        if not text:
            raise bad_field(pointer, "must not be empty")
        if (size := len(text.encode())) > limits.server_stop_bytes:
            raise over_limit(pointer, size, limits.server_stop_bytes, "bytes")
    return texts
