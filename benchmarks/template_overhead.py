"""What the bounds on templates cost: our renders against plain jinja2 in the same configuration, in the same run.

The templates are those of `../shared/data/templates` where they are at hand, and the shipped model's.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

import syntagma as sg

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = ROOT / "python" / "syntagma" / "embedded" / "data" / "chat_template.jinja"
CORPUS = ROOT.parent / "shared" / "data" / "templates"
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "What is the weather in Oslo?"},
    {"role": "assistant", "content": "It rains."},
    {"role": "user", "content": "And tomorrow?"},
]


def plain(source: str) -> Callable[[], str]:
    """The template in jinja2 alone, with what most templates call."""

    def refuse(message: str) -> str:
        raise ValueError(message)

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
    environment.globals.update(raise_exception=refuse, strftime_now=lambda _: "2026-01-15")
    template = environment.from_string(source)
    return lambda: template.render(
        messages=MESSAGES, tools=None, documents=None, add_generation_prompt=True, bos_token="", eos_token=""
    )


def microseconds(call: Callable[[], str]) -> float:
    """Median CPU time of a render."""
    times = []
    for _ in range(60):
        began = time.thread_time_ns()
        call()
        times.append((time.thread_time_ns() - began) / 1e3)
    return statistics.median(times)


def main() -> None:
    ratios, ours_us, plain_us, left_out = [], [], [], 0
    for path in [SHIPPED, *sorted(CORPUS.glob("*.jinja"))]:
        source = path.read_text(encoding="utf-8")
        template = sg.ChatTemplate(source)
        try:
            expected = plain(source)
            expected()
            template.render(MESSAGES)
        except Exception:  # the corpus has templates that refuse this conversation, or need more than jinja2 alone
            left_out += 1
            continue
        ours_us.append(microseconds(lambda template=template: template.render(MESSAGES)))
        plain_us.append(microseconds(expected))
        ratios.append(ours_us[-1] / plain_us[-1])
    print("| templates | left out | ours, median µs | plain jinja2, median µs | ratio p50 | ratio p90 |")
    print("|--:|--:|--:|--:|--:|--:|")
    p90 = statistics.quantiles(ratios, n=10)[-1] if len(ratios) > 1 else ratios[0]
    print(
        f"| {len(ratios)} | {left_out} | {statistics.median(ours_us):.0f} | {statistics.median(plain_us):.0f} "
        f"| {statistics.median(ratios):.2f} | {p90:.2f} |"
    )


if __name__ == "__main__":
    main()
