"""Trains the shipped model on dialogues that are made as it goes.

    python train.py [OUT] --seconds 5400   train for that long (wall time), in all; run again to go on after a stop
    python train.py OUT --smoke            a short run on a smaller network whose loss must fall below a bound

OUT holds `tokenizer.json` (made when missing), `checkpoint.pt` and `log.jsonl`. The learning rate depends on how much
of the time is spent. Dialogues follow from the seed; the number of steps in a given time does not.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from torch.nn import functional

import torch
from generator import Dialogue, dialogue
from model import Llama, Muon, Shape
from rendering import segments
from tokenizer import train as train_tokenizer
from torch import Tensor

SMOKE_STEPS = 150

SMOKE_BOUND = 3.2
"""Loss on the assistant's text that the smoke run must get below; an untrained network stands at 6.9."""

Encoded = tuple[list[int], list[bool]]
Batch = tuple[Tensor, Tensor]


def encode(tokenizer: Tokenizer, made: Dialogue) -> Encoded:
    """Token ids of a dialogue, and which of them the assistant wrote."""
    ids: list[int] = []
    learned: list[bool] = []
    for text, target in segments(made):
        piece = tokenizer.encode(text, add_special_tokens=False).ids
        ids += piece
        learned += [target] * len(piece)
    return ids, learned


def batches(pool: list[Encoded], tokens: int) -> list[Batch]:
    """Pairs of ids and learned flags, each (rows, time), padded with id 0; rows of like length stand together."""
    made: list[Batch] = []
    rows: list[Encoded] = []
    for row in [*sorted(pool, key=lambda row: len(row[0])), None]:
        if rows and (row is None or len(row[0]) * (len(rows) + 1) > tokens):
            width = len(rows[-1][0])
            ids = torch.tensor([r[0] + [0] * (width - len(r[0])) for r in rows])
            learned = torch.tensor([r[1] + [False] * (width - len(r[1])) for r in rows])
            made.append((ids, learned))
            rows = []
        if row is not None:
            rows.append(row)
    return made


def endless(tokenizer: Tokenizer, rng: random.Random, tokens: int, drills: Any, longest: int) -> Iterator[Batch]:
    """Batches of fresh dialogues without end. drills: a function that gives the present share of copying drills."""
    while True:
        pool = [encode(tokenizer, dialogue(rng, drills=drills())) for _ in range(320)]
        made = batches([row for row in pool if len(row[0]) <= longest], tokens)
        rng.shuffle(made)
        yield from made


def losses(model: Llama, batch: Batch, prompt_weight: float) -> tuple[Tensor, Tensor]:
    """The loss to minimise, and the mean loss in nats of the assistant's tokens alone.

    Of the prompt's tokens a random quarter is looked at, with four times the weight: the output layer is a good part of
    the work of a network this small.
    """
    ids, learned = batch
    # Id 0 is the padding; the text itself never holds it.
    seen = learned[:, 1:] | ((torch.rand(ids.shape[0], ids.shape[1] - 1) < 0.25) & (ids[:, 1:] != 0))
    hidden = model.hidden(ids[:, :-1])[seen]
    logits = functional.linear(hidden, model.embed_tokens.weight)
    each = functional.cross_entropy(logits, ids[:, 1:][seen], reduction="none").float()
    mine = learned[:, 1:][seen].float()
    weight = mine + 4 * prompt_weight * (1 - mine)
    return (each * weight).sum() / weight.sum(), (each * mine).sum() / mine.sum()


@torch.no_grad()
def exactness(model: Llama, groups: dict[str, list[Batch]]) -> dict[str, float]:
    """Share of dialogues whose every learned token is the most likely one: what greedy decoding would write exactly."""
    shares: dict[str, float] = {}
    for name, made in groups.items():
        right = total = 0
        for ids, learned in made:
            best = model(ids[:, :-1]).argmax(-1)
            missed = (best != ids[:, 1:]) & learned[:, 1:]
            right += int((~missed.any(1)).sum())
            total += ids.shape[0]
        shares[name] = round(right / total, 3)
    return shares


def examination(tokenizer: Tokenizer, count: int, seed: int = 99) -> dict[str, list[Batch]]:
    """Dialogues to measure `exactness` on, by kind; `held` uses tools that training never shows."""
    groups: dict[str, list[Batch]] = {}
    for name in ("call", "held", "natural", "json", "parallel", "result", "talk"):
        rng = random.Random(f"{seed} {name}")
        kind = "call" if name == "held" else name
        made = [dialogue(rng, kind=kind, held_out=name == "held", thinking=False) for _ in range(count)]
        groups[name] = batches([encode(tokenizer, d) for d in made], 8192)
    return groups


def rate(spent: float) -> float:
    """The factor on the learning rates at a share of the time, 0 to 1: up, level, then down to nearly nothing."""
    if spent < 0.01:
        return max(0.05, spent / 0.01)
    return 1.0 if spent < 0.25 else max(0.02, (1 - spent) / 0.75)


class Run:
    """One training run with everything that a checkpoint must bring back."""

    def __init__(self, out: Path, shape: Shape, seed: int, *, lr: float, decay: float = 0.995) -> None:
        torch.manual_seed(seed)
        self.out = out
        self.rng = random.Random(seed)
        self.model = Llama(shape)
        self.average = copy.deepcopy(self.model).requires_grad_(False)
        self.decay = decay
        matrices = [p for name, p in self.model.named_parameters() if p.ndim == 2 and "embed" not in name]
        others = [p for name, p in self.model.named_parameters() if p.ndim != 2 or "embed" in name]
        self.optimizers: list[torch.optim.Optimizer] = [
            Muon(matrices, lr=lr),
            torch.optim.AdamW(others, lr=0.2 * lr, betas=(0.9, 0.95), weight_decay=0.0),
        ]
        self.base = [lr, 0.2 * lr]
        self.seconds = 0.0
        self.steps = 0
        self.tokens = 0

    def save(self) -> None:
        """Write the checkpoint, whole or not at all."""
        state = {
            "shape": self.model.shape,
            "model": self.model.state_dict(),
            "average": self.average.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "rng": self.rng.getstate(),
            "progress": (self.seconds, self.steps, self.tokens),
        }
        torch.save(state, self.out / "checkpoint.part")
        (self.out / "checkpoint.part").replace(self.out / "checkpoint.pt")

    def load(self) -> bool:
        """Go on from the checkpoint, if there is one."""
        path = self.out / "checkpoint.pt"
        if not path.exists():
            return False
        state = torch.load(path, weights_only=False)
        self.model.load_state_dict(state["model"])
        self.average.load_state_dict(state["average"])
        for optimizer, held in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(held)
        self.rng.setstate(state["rng"])
        self.seconds, self.steps, self.tokens = state["progress"]
        return True

    def step(self, batch: Batch, factor: float, prompt_weight: float) -> float:
        """One step of both optimizers. Returns the mean loss of the assistant's tokens."""
        for optimizer, base in zip(self.optimizers, self.base, strict=True):
            for group in optimizer.param_groups:
                group["lr"] = base * factor
        with torch.autocast("cpu", torch.bfloat16):
            loss, mine = losses(self.model, batch, prompt_weight)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        decay = min(self.decay, 1 - 1 / (self.steps + 1))
        with torch.no_grad():
            for slow, fast in zip(self.average.parameters(), self.model.parameters(), strict=True):
                slow.lerp_(fast, 1 - decay)
        self.steps += 1
        self.tokens += batch[0].numel()
        return float(mine.detach())


@dataclass(frozen=True)
class Budget:
    """How long to train in all: seconds of wall time, or steps, which do not depend on how busy the machine is."""

    seconds: float | None = None
    steps: int = 1

    def spent(self, run: Run) -> float:
        """The share that a run has used, from 0 to 1 and beyond."""
        return run.steps / self.steps if self.seconds is None else run.seconds / self.seconds


def train(
    run: Run,
    tokenizer: Tokenizer,
    budget: Budget,
    *,
    tokens: int,
    prompt_weight: float = 0.15,
    every: float = 300.0,
    examined: int = 40,
) -> float:
    """Train until the budget is spent; save and measure every `every` seconds and at the end.

    examined: dialogues of each kind to measure on. Returns the mean loss of the last fifty steps.
    """
    exam = examination(tokenizer, examined)

    def drills() -> float:
        # Copying is learned first, from the plainest examples; then it is put to use.
        return max(0.04, 0.5 * (1 - budget.spent(run) / 0.06))

    source = endless(tokenizer, run.rng, tokens, drills, run.model.shape.max_position_embeddings)
    recent: list[float] = []
    last: deque[float] = deque(maxlen=50)
    before, marked = time.monotonic(), run.seconds
    while budget.spent(run) < 1:
        recent.append(run.step(next(source), rate(budget.spent(run)), prompt_weight))
        last.append(recent[-1])
        now = time.monotonic()
        run.seconds += now - before
        before = now
        if run.seconds - marked >= every or budget.spent(run) >= 1:
            mean = sum(recent) / len(recent)
            entry = {"seconds": round(run.seconds), "steps": run.steps, "tokens": run.tokens, "loss": round(mean, 4)}
            with torch.autocast("cpu", torch.bfloat16):
                entry |= {"exact": exactness(run.average, exam)}
            with (run.out / "log.jsonl").open("a") as log:
                log.write(json.dumps(entry) + "\n")
            print(entry, flush=True)
            run.save()
            recent, marked = [], run.seconds
    return sum(last) / max(1, len(last))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, nargs="?", default=Path("build/training"))
    parser.add_argument("--seconds", type=float, default=5400.0)
    parser.add_argument("--every", type=float, default=300.0, help="seconds between checkpoints")
    parser.add_argument("--tokens", type=int, default=4096, help="tokens in a batch")
    parser.add_argument("--lr", type=float, default=0.012, help="learning rate of the matrices")
    parser.add_argument("--prompt-weight", type=float, default=0.15, help="weight of the loss on prompt tokens")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--smoke", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    if not (out / "tokenizer.json").exists():
        train_tokenizer(1024, 3_000 if arguments.smoke else 12_000, arguments.seed).save(str(out / "tokenizer.json"))
    tokenizer = Tokenizer.from_file(str(out / "tokenizer.json"))
    if arguments.smoke:
        small = Shape(hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=2)
        run = Run(out, small, arguments.seed, lr=arguments.lr)
        loss = train(run, tokenizer, Budget(steps=SMOKE_STEPS), tokens=2048, examined=4)
        print(f"loss {loss:.2f}, at most {SMOKE_BOUND} allowed")
        if loss > SMOKE_BOUND:
            raise SystemExit(f"loss {loss:.2f} is above {SMOKE_BOUND}")
        return
    run = Run(out, Shape(vocab_size=tokenizer.get_vocab_size()), arguments.seed, lr=arguments.lr)
    run.load()
    print(f"{sum(p.numel() for p in run.model.parameters()):,} parameters, from step {run.steps}", flush=True)
    train(
        run,
        tokenizer,
        Budget(seconds=arguments.seconds),
        tokens=arguments.tokens,
        prompt_weight=arguments.prompt_weight,
        every=arguments.every,
    )


if __name__ == "__main__":
    main()
