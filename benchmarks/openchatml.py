"""Transcripts: milliseconds to read a whole one, microseconds for a four-character chunk, and how both grow.

The text is a completion with reasoning, a call and an answer. openai-harmony, where it is installed and finds its
vocabulary, reads the same completion from tokens (plus the time to encode it) and renders the same 50 messages.

Run: `python benchmarks/openchatml.py`.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from syntagma import openchatml
from syntagma.openchatml import harmony

KIB = 1024
SIZES = (5 * KIB, 20 * KIB, 80 * KIB, 320 * KIB)
CHUNK = 4
RUNS = 9
PROSE = 'Lorem ipsum < dolor <b> sit | amet {"k": 1} consectetur, adipiscing elit.\n'


def prose(size: int) -> str:
    return (PROSE * (size // len(PROSE) + 1))[:size]


def completion(size: int) -> str:
    half = prose(size // 2)
    return (
        f"<|channel|>analysis<|message|>{half}<|end|>"
        '<|start|>assistant<|channel|>commentary to=functions.f<|constrain|>json<|message|>{"a":1}<|call|>'
        f"<|start|>assistant<|channel|>final<|message|>{half}<|return|>"
    )


def seconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(RUNS):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return statistics.median(times)


def stream(reader: openchatml.StreamReader | harmony.HarmonyReader, chunks: list[str]) -> None:
    for chunk in chunks:
        reader.feed(chunk)
    reader.finish()


def main() -> None:
    print("| what | " + " | ".join(f"{size // KIB} KiB" for size in SIZES) + " |")
    print("|---|" + "---:|" * len(SIZES))
    texts = [completion(size) for size in SIZES]
    cut = [[text[at : at + CHUNK] for at in range(0, len(text), CHUNK)] for text in texts]
    row("parse, strict, ms", [seconds(lambda t=t: openchatml.parse(t, role="assistant")) * 1e3 for t in texts])
    row("parse Harmony, ms", [seconds(lambda t=t: harmony.parse_completion(t)) * 1e3 for t in texts])
    streams = [seconds(lambda c=c: stream(openchatml.StreamReader(role="assistant"), c)) / len(c) * 1e6 for c in cut]
    row("stream, µs a chunk", streams)
    streams = [seconds(lambda c=c: stream(harmony.HarmonyReader(), c)) / len(c) * 1e6 for c in cut]
    row("stream Harmony, µs a chunk", streams)
    messages = openchatml.parse(completion(20 * KIB), role="assistant").messages
    spoken = [openchatml.Message(role="user" if at % 2 else "assistant", body=prose(318)) for at in range(50)]
    print(f"\nrender 50 messages: {seconds(lambda: openchatml.render(spoken)) * 1e3:.2f} ms; ", end="")
    print(f"as Harmony: {seconds(lambda: harmony.to_harmony(spoken)) * 1e3:.2f} ms")
    peer([message.body for message in messages], spoken)


def row(name: str, values: list[float]) -> None:
    print(f"| {name} | " + " | ".join(f"{value:.2f}" for value in values) + " |")


def peer(bodies: list[str], spoken: list[openchatml.Message]) -> None:
    try:
        import openai_harmony as other

        encoding = other.load_harmony_encoding(other.HarmonyEncodingName.HARMONY_GPT_OSS)
    except Exception as error:
        print(f"\nopenai-harmony was not measured: {type(error).__name__}")
        return
    text = completion(20 * KIB)
    tokens = encoding.encode(text, allowed_special="all")
    role = other.Role.ASSISTANT
    assert len(encoding.parse_messages_from_completion_tokens(tokens, role)) == len(bodies)
    parse = seconds(lambda: encoding.parse_messages_from_completion_tokens(tokens, role))
    encode = seconds(lambda: encoding.encode(text, allowed_special="all"))
    conversation = other.Conversation.from_messages(
        [other.Message.from_role_and_content(other.Role(message.role), message.body) for message in spoken]
    )
    render = seconds(lambda: encoding.render_conversation(conversation))
    print(f"\nopenai-harmony, 20 KiB: parse {parse * 1e3:.2f} ms, encode {encode * 1e3:.2f} ms; ", end="")
    print(f"render 50 messages {render * 1e3:.2f} ms")


if __name__ == "__main__":
    main()
