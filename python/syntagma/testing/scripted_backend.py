"""A backend that generates a given text, for tests without a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from syntagma.decoding import Backend, Logits, Session
from syntagma.decoding.byte_vocabulary import byte_vocabulary
from syntagma.entry import strict_entry
from syntagma.errors import ModelError

__all__ = ["ScriptedBackend"]

# So far apart that sampling at temperature 1 takes another token less than once in 1e8 steps.
_LIKELY = 40.0
_ENDING = 20.0


class ScriptedBackend:
    """A backend that generates a given text.

    Its logits favour the next token of the script as long as the generated text follows it, and the end of the turn
    after the script or after a deviation. All other tokens are equally likely. At temperatures up to 1 it writes the
    script.

    Args:
        script: the text, or a function from the prompt to the text.
        special: texts of special tokens; the first ends a turn.
        context_length: largest number of tokens of prompt and answer together.
        on_step: called before each step with the number of tokens generated so far.
        model_name: the model's name in requests.
    """

    @strict_entry
    def __init__(
        self,
        script: str | Callable[[str], str],
        *,
        special: Sequence[str] = ("<end>",),
        context_length: int = 4096,
        on_step: Callable[[int], None] | None = None,
        model_name: str = "scripted",
    ) -> None:
        self.model_name = model_name
        self.context_length = context_length
        self.tokenizer_info = byte_vocabulary(special)
        self.prompts: list[str] = []
        """all prompts so far, oldest first"""
        self._script = script
        self._on_step = on_step

    def open(self) -> Session:
        """A new, empty sequence."""
        return _ScriptedSession(self)

    def _plan(self, prompt: str) -> list[int]:
        self.prompts.append(prompt)
        script = self._script if isinstance(self._script, str) else self._script(prompt)
        return self.tokenizer_info.encode(script)

    def _before(self, generated: int) -> None:
        if self._on_step is not None:
            self._on_step(generated)


class _ScriptedSession(Session):
    def __init__(self, backend: ScriptedBackend) -> None:
        self._backend = backend
        self._plan: list[int] = []
        self._generated = 0
        self._follows = True
        self._room = backend.context_length

    def prefill(self, token_ids: Sequence[int]) -> Logits:
        self._take(len(token_ids))
        self._plan = self._backend._plan(self._backend.tokenizer_info.decode(token_ids).decode())
        return self._logits()

    def step(self, token_id: int) -> Logits:
        self._take(1)
        self._follows = self._follows and self._plan[self._generated : self._generated + 1] == [token_id]
        self._generated += 1
        self._backend._before(self._generated)
        return self._logits()

    def _take(self, count: int) -> None:
        self._room -= count
        if self._room < 0:
            raise ModelError("E-MODEL-CONTEXT", "the context is full")

    def _logits(self) -> Logits:
        logits = np.zeros(self._backend.tokenizer_info.vocab_size, dtype=np.float32)
        logits[list(self._backend.tokenizer_info.eos_token_ids)] = _ENDING
        if self._follows and self._generated < len(self._plan):
            logits[self._plan[self._generated]] = _LIKELY
        return logits


def _is_backend(backend: ScriptedBackend) -> Backend:
    """Lets the type checker verify that the class has the interface."""
    return backend
