"""How fast the shipped model computes on one core: tokens per second of decoding, and of reading a prompt."""

from __future__ import annotations

import os

# One core, whatever the machine has; must be set before NumPy is imported.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import statistics
import time

import numpy as np

from syntagma import embedded

PROMPT, STEPS, ROUNDS = 200, 200, 5


def main() -> None:
    model = embedded.load()
    ids = [int(i) for i in np.random.default_rng(0).integers(100, 900, PROMPT)]
    prefill, decode = [], []
    for _ in range(ROUNDS):
        session = model.open()
        began = time.thread_time()
        logits = session.prefill(ids)
        prefill.append(PROMPT / (time.thread_time() - began))
        began = time.thread_time()
        for _ in range(STEPS):
            logits = session.step(int(logits.argmax()))
        decode.append(STEPS / (time.thread_time() - began))
    print("| | tokens per second of CPU |\n|:--|--:|")
    print(f"| prompt of {PROMPT} | {statistics.median(prefill):,.0f} |")
    print(f"| decoding behind it | {statistics.median(decode):,.0f} |")


if __name__ == "__main__":
    main()
