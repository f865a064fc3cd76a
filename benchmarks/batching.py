"""Streams together: tokens per second of 1, 4 and 16, by the backend's own batch, by `Generator` and by the server.

The backend's own batch is what the library that computes offers: `generate` on a padded batch for transformers, and for
the shipped model the bare pass over a batch with the likeliest token of each row. `Generator.start_all` writes the same
number of tokens at temperature 0; the server streams them to as many clients, each over a connection of its own, from a
process of its own. `mixed`: every second stream keeps to a JSON schema. Prompts count everywhere. Rates are by seconds
of CPU of the process that computes, which other work on the machine hardly changes, and by the clock; ratios to the own
batch are medians of rounds in which all are measured one behind the other. A server's CPU seconds hold its HTTP, its
parser and its events; by the clock they may run beside the model. One thread of linear algebra. transformers runs a
Llama of 104 million random parameters with 128,256 tokens, and where there is a GPU one of 1.2 billion on it, of which
only the clock tells; there a second table has what masks and tokens cost on it, beside one plain pass over the logits.
"""

from __future__ import annotations

import os

# One thread, whatever the machine has; must be set before NumPy and torch are imported.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import asyncio
import contextlib
import json
import multiprocessing
import socket
import statistics
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np
from support.arguments import arguments
from support.tables import Table

import syntagma as sg

STREAMS = (1, 4, 16)
SCHEMA = {
    "type": "array",
    "minItems": 400,
    "items": {
        "type": "object",
        "properties": {"name": {"type": "string", "maxLength": 12}, "minutes": {"type": "integer", "maximum": 90}},
        "required": ["name", "minutes"],
        "additionalProperties": False,
    },
}
LARGE = {
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
}
"""of a Llama with 1.2 billion parameters"""
WIDTH = 128_256
"""tokens of the vocabulary"""
WORDS = "Tell me about the plan for today, and who will come to the meeting in the afternoon. "


def shipped() -> tuple[Any, sg.ChatCodec]:
    return sg.backends.load("embedded")


def small_llama() -> tuple[Any, sg.ChatCodec]:
    from in_process import load

    return random_llama(*load())


def llama_on_gpu() -> tuple[Any, sg.ChatCodec]:
    from in_process import load

    import torch

    with torch.device("cuda"):
        tokenizer, network = load(LARGE)
    return random_llama(tokenizer, network.bfloat16())


def random_llama(tokenizer: Any, network: Any) -> tuple[Any, sg.ChatCodec]:
    import torch
    from syntagma.backends.transformers import TransformersModel

    torch.set_num_threads(1)
    fmt = sg.ChatFormat.from_toml(f'end_of_turn = ["{tokenizer.eos_token}"]\n')
    codec = sg.ChatCodec.from_format(fmt, sg.ChatTemplate("{{ messages[0].content }}"))
    return TransformersModel(network, tokenizer, name="random", context_length=2048), codec


ON_GPU = "transformers, GPU"
MODELS: dict[str, Callable[[], tuple[Any, sg.ChatCodec]]] = {
    "shipped": shipped,
    "transformers": small_llama,
    ON_GPU: llama_on_gpu,
}


class Spent(NamedTuple):
    """What one measurement took."""

    tokens: int
    cpu_s: float
    clock_s: float


Clock = Callable[[], float]


def spent(work: Callable[[], int], cpu: Clock = time.process_time) -> Spent:
    """Run what gives a number of tokens."""
    before, began = cpu(), time.perf_counter()
    tokens = work()
    took = time.perf_counter() - began
    return Spent(tokens, cpu() - before, took)


def tell_cpu(asked: Connection) -> None:
    """Answer whoever asks what this process has spent."""
    with contextlib.suppress(EOFError):  # It has ended.
        while True:
            asked.recv()
            asked.send(time.process_time())


def serve(name: str, ready: Connection) -> None:
    """A server in this process."""
    from syntagma.limits import Limits
    from syntagma.serving import ServedModel, create_app
    from syntagma.serving.listening import serve as listen

    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        app = create_app(ServedModel(*MODELS[name](), name="m"))
        ready.send(listener.getsockname()[1])
        threading.Thread(target=tell_cpu, args=(ready,), daemon=True).start()
        listen(app, listener, limits=Limits(), shutdown_s=10)


async def ask(port: int, text: str, tokens: int, *, held: bool) -> int:
    """Tokens of one stream, as its usage says."""
    asked = {
        "model": "m",
        "messages": [{"role": "user", "content": text}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0,
        "max_tokens": tokens,
        "ignore_eos": True,
    }
    if held:
        asked["response_format"] = {"type": "json_schema", "json_schema": {"name": "list", "schema": SCHEMA}}
    body = json.dumps(asked).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {len(body)}\r\n"
    head += "content-type: application/json\r\n\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    writer.write(head.encode() + body)
    answered = await reader.read(-1)
    writer.close()
    usage = next(line for line in reversed(answered.split(b"\n")) if b'"completion_tokens"' in line)
    return int(json.loads(usage.removeprefix(b"data: "))["usage"]["completion_tokens"])


def by_server(port: int, texts: list[str], tokens: int, *, mixed: bool) -> int:
    async def every() -> list[int]:
        asked = (ask(port, text, tokens, held=mixed and at % 2 == 1) for at, text in enumerate(texts))
        return await asyncio.gather(*asked)

    return sum(asyncio.run(every()))


def by_generator(model: sg.Model, prompts: list[list[int]], tokens: int, *, mixed: bool) -> int:
    wanted = {"type": "json_schema", "json_schema": {"name": "list", "schema": SCHEMA}}
    turn = model.codec.prepare([{"role": "user", "content": WORDS}], response_format=wanted)
    grammars = [turn.grammar if mixed and at % 2 else None for at in range(len(prompts))]
    options = sg.GenerationOptions(sampling=sg.Sampling(temperature=0), max_tokens=tokens, ignore_eos=True)
    running = model.generator.start_all(prompts, grammars=grammars, options=options)
    return sum(sum(1 for _ in one) for one in running)


def by_batch(backend: Any, prompts: list[list[int]], tokens: int) -> int:
    """The backend's own batch."""
    if hasattr(backend.network, "generate"):
        return by_generate(backend, prompts, tokens)
    batch = backend.open_batch()
    logits = batch.prefill(dict(enumerate(prompts)))
    for _ in range(tokens - 1):
        logits = batch.extend({row: [int(np.argmax(one))] for row, one in enumerate(logits)})
    return tokens * len(prompts)


def by_generate(backend: Any, prompts: list[list[int]], tokens: int) -> int:
    import torch

    longest = max(map(len, prompts))
    device = backend.network.device
    ids = torch.tensor([[0] * (longest - len(one)) + one for one in prompts], device=device)
    seen = torch.tensor([[0] * (longest - len(one)) + [1] * len(one) for one in prompts], device=device)
    backend.network.generate(
        input_ids=ids, attention_mask=seen, max_new_tokens=tokens, min_new_tokens=tokens, do_sample=False
    )
    return tokens * len(prompts)


def ways(model: sg.Model, port: int, streams: int, tokens: int) -> dict[str, Callable[[], int]]:
    """What is measured of so many streams: each gives the tokens that were written."""
    info = model.backend.tokenizer_info
    texts = [WORDS * (1 + at % 3) for at in range(streams)]
    prompts = [model.codec.prepare([{"role": "user", "content": text}]).prompt_ids(info) for text in texts]
    return {
        "batch": lambda: by_batch(model.backend, prompts, tokens),
        "generator": lambda: by_generator(model, prompts, tokens, mixed=False),
        "generator, mixed": lambda: by_generator(model, prompts, tokens, mixed=True),
        "server": lambda: by_server(port, texts, tokens, mixed=False),
        "server, mixed": lambda: by_server(port, texts, tokens, mixed=True),
    }


def measure(name: str, tokens: int, rounds: int) -> list[list[Any]]:
    """The rows of a model: by CPU, then by the clock."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(target=serve, args=(name, theirs), daemon=True)
    server.start()
    model = sg.Model(*MODELS[name]())
    port = ours.recv()

    def cpu_of_server() -> float:
        ours.send(None)
        return float(ours.recv())

    rows = []
    for streams in STREAMS:
        measured = ways(model, port, streams, tokens)
        for way in measured.values():
            way()
        found = [
            [spent(way, cpu_of_server if "server" in name else time.process_time) for name, way in measured.items()]
            for _ in range(rounds)
        ]
        for by in ("clock_s",) if name == ON_GPU else ("cpu_s", "clock_s"):
            rates = [[one.tokens / getattr(one, by) for one in of] for of in found]
            medians = [statistics.median(of) for of in zip(*rates, strict=True)]
            ratios = [statistics.median(of) for of in zip(*([one / of[0] for one in of] for of in rates), strict=True)]
            cells = [f"{rate:,.0f} ({ratio:.2f})" for rate, ratio in zip(medians[1:], ratios[1:], strict=True)]
            rows.append([name, by.removesuffix("_s"), streams, f"{medians[0]:,.0f}", *cells])
    server.terminate()
    server.join()
    model.close()
    return rows


def on_device(device: str, rows: int) -> list[Any]:
    """Microseconds for bfloat16 logits of so many rows: every second mask allows few tokens, the others deny few."""
    import torch
    from syntagma.decoding.bitmask.torch_rows import mask_torch
    from syntagma.decoding.device_sampling import draw_together
    from syntagma.decoding.sampling import Draw, Sampler

    random = np.random.default_rng(0)
    bits = random.random((rows, WIDTH)) < np.where(np.arange(rows) % 2, 0.001, 0.999)[:, None]
    words = np.packbits(bits, axis=1, bitorder="little").view("<i4")
    there = torch.from_numpy(words).to(device)
    logits = torch.randn(rows, WIDTH, device=device, dtype=torch.bfloat16)

    def draw(**asked: Any) -> None:
        samplers = [Sampler(sg.Sampling(seed=row, **asked)) for row in range(rows)]
        draw_together([*logits], [Draw(sampler=one, mask=mask) for one, mask in zip(samplers, words, strict=True)])

    def median_us(work: Callable[[], Any]) -> float:
        took = []
        for _ in range(30):
            began = time.perf_counter()
            work()
            if device != "cpu":
                torch.accelerator.synchronize()
            took.append(time.perf_counter() - began)
        return statistics.median(took[5:]) * 1e6

    works: list[Callable[[], Any]] = [
        logits.neg_,
        lambda: mask_torch(logits, there, None),
        lambda: mask_torch(logits, torch.from_numpy(words), None),
        lambda: draw(temperature=0),
        lambda: draw(temperature=0.7),
        lambda: draw(temperature=0.7, top_p=0.9),
    ]
    return [rows, *(f"{median_us(work):,.0f}" for work in works)]


def main() -> None:
    import torch

    quick = arguments(__doc__).quick
    table = Table(
        ["model", "by", "streams", "own batch", "generator", "generator, mixed", "server", "server, mixed"], texts=2
    )
    measured = [("shipped", 128, 3 if quick else 7), ("transformers", 32, 1 if quick else 2)]
    if torch.cuda.is_available():
        measured.append((ON_GPU, 128, 1 if quick else 3))
    for name, tokens, rounds in measured:
        for row in measure(name, tokens, rounds):
            table.row(*row)
    if torch.cuda.is_available():
        print()
        table = Table(
            ["rows", "plain pass us", "mask there", "mask from the host", "likeliest", "sampled", "sampled, top_p"],
        )
        for rows in (16, 64, 256):
            table.row(*on_device("cuda", rows))


if __name__ == "__main__":
    main()
