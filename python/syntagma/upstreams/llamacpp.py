"""llama.cpp's server: `POST /completion` with GBNF. `/props` has the chat template."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from syntagma.decoding.upstream import Completion, EngineFacts, Piece, TextLogprob
from syntagma.upstreams.http import HttpUpstream, Reader, Request
from syntagma.upstreams.options import Forms, spelled

__all__ = ["LlamaCpp"]

_SEEDS = 2**32 - 1
"""number of usable seeds; the largest 32-bit number means a random seed"""
_NAMES = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "min_p": "min_p",
    "frequency_penalty": "frequency_penalty",
    "presence_penalty": "presence_penalty",
    "repetition_penalty": "repeat_penalty",
    "logit_bias": "logit_bias",
    "seed": "seed",
    "ignore_eos": "ignore_eos",
}
_FORMS: Forms = {
    "logit_bias": lambda bias: [list(one) for one in bias.items()],
    "seed": lambda seed: seed % _SEEDS,
}
_PENALTIES = {"frequency_penalty": 0, "presence_penalty": 0, "repeat_penalty": 1}
"""llama.cpp's names of penalties, and the values without effect"""
_WHOLE = -1
"""no bound but the context"""


class LlamaCpp(HttpUpstream):
    """`llama-server`, or another program with its HTTP interface."""

    languages: ClassVar[tuple[str, ...]] = ("gbnf",)
    takes_ids: ClassVar[bool] = True

    _added_bos = ""
    """the text of the token that the engine adds before a prompt"""

    _context: int | None = None

    async def describe(self) -> EngineFacts:
        """The template, its tokens and the context of one sequence, from `/props`; see `Upstream.describe`."""
        props = await self.ask("GET", "/props")
        added = await self.ask("POST", "/tokenize", {"content": "", "add_special": True})
        bos = str(props.get("bos_token") or "")
        self._added_bos = bos if added["tokens"] else ""
        alias = str(props.get("model_alias") or props.get("model_path") or "model")
        self.model = self.model or alias.replace("\\", "/").rpartition("/")[2].removesuffix(".gguf")
        self._context = props["default_generation_settings"]["n_ctx"]
        return EngineFacts(
            model_name=self.model,
            chat_template=props.get("chat_template") or None,
            bos_token=bos,
            eos_token=str(props.get("eos_token") or ""),
            context_length=self._context,
        )

    def tokenizing(self, text: str) -> Request:
        """The body of `/tokenize`."""
        return Request("/tokenize", {"content": text, "add_special": False, "parse_special": True})

    def request(self, asked: Completion) -> Request:
        """The body of `/completion`."""
        prompt = asked.prompt
        if isinstance(prompt, str):
            # The template already writes the first token, and the engine adds it, too.
            prompt = prompt.removeprefix(self._added_bos)
        body: dict[str, Any] = {
            "prompt": prompt,
            "stream": True,
            "n_predict": _WHOLE if asked.max_tokens is None else asked.max_tokens,
            **spelled(asked, _NAMES, _FORMS),
            "stop": asked.stop,
            "preserved_tokens": asked.preserved_tokens,
            "return_tokens": True,
            "cache_prompt": True,
        }
        if self._context is not None and any(body[name] != off for name, off in _PENALTIES.items()):
            # By default, llama.cpp's penalties count only the last 64 tokens.
            body["repeat_last_n"] = self._context
        if asked.logprobs is not None:
            # Zero would return no log-probabilities at all.
            body["n_probs"] = max(1, asked.logprobs)
        if asked.constraint is not None:
            body["grammar"] = asked.constraint.source
        return Request("/completion", body)

    def reader(self, asked: Completion) -> Reader:
        """Reads the chunks of `/completion`."""
        top = asked.logprobs or 0

        def read(chunk: Any) -> Iterator[Piece]:
            reason = None
            if chunk["stop"]:
                reason = "length" if chunk.get("stop_type") == "limit" else "stop"
            yield Piece(
                text=chunk["content"],
                tokens=len(chunk.get("tokens", ())),
                logprobs=tuple(_logprob(one, top) for one in chunk.get("completion_probabilities", ())),
                finish_reason=reason,  # type: ignore[arg-type]
                prompt_tokens=chunk.get("tokens_evaluated"),
                completion_tokens=chunk.get("tokens_predicted"),
            )

        return read


def _logprob(one: dict[str, Any], top: int) -> TextLogprob:
    likeliest = one["top_logprobs"][:top]
    return TextLogprob(
        data=bytes(one["bytes"]),
        logprob=one["logprob"],
        top=tuple((bytes(other["bytes"]), other["logprob"]) for other in likeliest),
    )
