"""A network of transformers that computes in a thread of its own."""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

from syntagma.decoding.backend import Logits
from syntagma.decoding.device_sampling import samples_on
from syntagma.forks import ForkSafeLock

__all__ = ["CausalNetwork"]


class CausalNetwork:
    """Computes logits, always in the same thread, whoever asks. Safe for several threads.

    torch and the libraries below it keep handles, workspaces and plans for each thread. If each sequence's thread
    computed, each would make its own.

    Args:
        network: a causal language model of transformers, in evaluation mode.

    Attributes:
        config: its configuration.
    """

    def __init__(self, network: Any) -> None:
        self.config = network.config
        self._network = network
        self._guard = ForkSafeLock(lambda: None)
        self._thread: ThreadPoolExecutor | None = None
        self._process = 0
        told = inspect.signature(network.forward).parameters
        self._options = {"logits_to_keep": 1} if "logits_to_keep" in told else {}
        self._keeps = samples_on(network.device)

    @property
    def device(self) -> Any:
        """The device of its weights, as torch has it."""
        return self._network.device

    def read(self, token_ids: Sequence[Sequence[int]], cache: Any, **inputs: Any) -> tuple[Sequence[Logits], Any]:
        """Read the same number of tokens in each row.

        An exception that interrupts the wait, such as `KeyboardInterrupt`, is raised when the pass has ended.

        Args:
            token_ids: [rows][tokens].
            cache: keys and values of the tokens before, changed in place; None: there are none.
            **inputs: what else the network shall be given.

        Returns:
            The logits after the last tokens, [rows][vocab_size], on the device if tokens can be chosen there; and the
            cache.
        """
        thread = self._thread_here()
        try:
            return thread.submit(self._compute, token_ids, cache, inputs).result()
        except BaseException:
            _await_all(thread)
            raise

    def _thread_here(self) -> ThreadPoolExecutor:
        """The thread, started at first use. A forked child starts its own, because threads do not survive a fork."""
        with self._guard.lock:
            if self._thread is None or self._process != os.getpid():
                thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="syntagma-network")
                # A start that is interrupted would be followed by a second thread, so it is not kept.
                _await_all(thread)
                self._thread, self._process = thread, os.getpid()
            return self._thread

    def _compute(self, token_ids: Sequence[Sequence[int]], cache: Any, inputs: dict[str, Any]) -> tuple[Any, Any]:
        import torch

        with torch.inference_mode(), _attention(self.device.type):
            ids = torch.tensor(token_ids, device=self.device)
            made = self._network(input_ids=ids, past_key_values=cache, use_cache=True, **inputs, **self._options)
            logits = made.logits[:, -1]
            if not self._keeps:
                return [*logits.to("cpu", torch.float32, copy=True).numpy()], made.past_key_values
            logits = logits.contiguous()  # a view would keep the logits of a whole prompt
            if self.device.type != "cpu":
                # Whoever waits for the pass also waits for the device: times and errors belong to the pass.
                torch.accelerator.synchronize(self.device)
            return [*logits.unbind()], made.past_key_values


def _await_all(thread: ThreadPoolExecutor) -> None:
    """Wait until everything has ended that was submitted to a thread before."""
    wait([thread.submit(lambda: None)])


def _attention(device: str) -> contextlib.AbstractContextManager[None]:
    """On CUDA: without cuDNN's attention, which plans anew for each number of rows and columns.

    A batch has others in each pass, and such a plan takes longer than the pass of a small network.
    """
    if device != "cuda":
        return contextlib.nullcontext()
    from torch.nn.attention import SDPBackend, sdpa_kernel

    backends = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
    plain: contextlib.AbstractContextManager[None] = sdpa_kernel(backends)
    return plain
