"""What constraints cost in process: Hugging Face transformers, random weights, 128,256 tokens, one thread.

A Llama of 104 million parameters writes the same number of tokens with a grammar and without: by our own loop over the
backend `transformers`, and by `generate` with a `Constraint` and an `EventStreamer`, for one sequence and sixteen.
`holding` is the time within masks, acceptance, the search for forced tokens and the parser, measured inside of the
constrained run, so that a busy machine does not blur it. Forced tokens are off but in the last row. Where xgrammar is
installed, it holds `generate` to the same grammar as we write it for engines: `share` is then its own. Needs torch and
transformers: `python benchmarks/run.py in_process` in an environment that has them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from support.arguments import arguments
from support.tables import Table
from support.vocabularies import SHIPPED_TOKENIZER, Vocabulary, present
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

import syntagma as sg
import torch
from syntagma.backends.transformers import TransformersModel
from syntagma.integrations.transformers import Constraint, EventStreamer

try:
    import xgrammar
    import xgrammar.contrib.hf
except ImportError:
    xgrammar = None

WIDTH = 128_256
PROMPT = "Make a list of people with their names, cities and years of birth, please. " * 4
PEOPLE = {
    "type": "array",
    "minItems": 200,
    "items": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "city": {"type": "string"}, "born": {"type": "integer"}},
        "required": ["name", "city", "born"],
        "additionalProperties": False,
    },
}


SIZES = {
    "hidden_size": 512,
    "intermediate_size": 1408,
    "num_hidden_layers": 12,
    "num_attention_heads": 8,
    "num_key_value_heads": 8,
}
"""of a Llama with 104 million parameters"""


def load(sizes: dict[str, int] = SIZES) -> tuple[Any, Any]:
    """The tokenizer, and a network whose weights are random."""
    path = Vocabulary("llama3").tokenizer if present(("llama3",)) else SHIPPED_TOKENIZER
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(path))
    end = next(token for token in ("<|eot_id|>", "<|im_end|>") if token in tokenizer.get_vocab())
    tokenizer.eos_token = tokenizer.pad_token = end
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=WIDTH,
        **sizes,
        max_position_embeddings=2048,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    return tokenizer, LlamaForCausalLM(config).eval()


class Timed:
    """Calls a function and adds up what it took."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: Any, **named: Any) -> Any:
            began = time.perf_counter()
            try:
                return call(*given, **named)
            finally:
                self.seconds += time.perf_counter() - began

        return timed


def by_loop(model: TransformersModel, turn: sg.Turn, tokens: int, rows: int = 1, *, jump: bool = False) -> list[str]:
    """Our own loop: what is neither the model nor sampling is ours."""
    asked = sg.GenerationOptions(
        sampling=sg.Sampling(seed=1), max_tokens=tokens, complete=False, jump_forward=jump, ignore_eos=True
    )
    ids = model.tokenizer_info.encode(PROMPT)
    generator = sg.Generator(model)

    def write(grammar: sg.Grammar | None) -> tuple[float, float, list[sg.Metrics]]:
        parsing, readers = Timed(), []
        began = time.perf_counter()
        generations = generator.start_all([ids] * rows, grammars=[grammar] * rows, options=asked)
        for generation in generations:
            parser = turn.parser()
            parser.feed_tokens = parsing.around(parser.feed_tokens)  # type: ignore[method-assign]
            readers.append(generation.read(parser))
        for _ in zip(*readers, strict=False):
            pass
        took = time.perf_counter() - began
        metrics = [generation.metrics for generation in generations]
        held = sum(one.grammar_per_token_s * one.completion_tokens for one in metrics)
        return took, held + parsing.seconds, metrics

    write(turn.grammar)
    free, _, _ = write(None)
    held, ours, metrics = write(turn.grammar)
    generator.close()
    saved = 1 - sum(one.forward_passes for one in metrics) / sum(one.completion_tokens for one in metrics)
    return [*_row(rows * tokens, free, held, ours, tokens), f"{saved:.0%}" if jump else ""]


def by_generate(
    tokenizer: Any, network: Any, turn: sg.Turn, tokens: int, *, rows: int, processor: Callable[[], Any] | None = None
) -> list[str]:
    """`generate`: what our two objects take; with a processor of another library, what that takes."""
    inputs = tokenizer([PROMPT] * rows, return_tensors="pt", add_special_tokens=False)
    info = sg.TokenizerInfo.from_huggingface(tokenizer, vocab_size=WIDTH)
    given = {"max_new_tokens": tokens, "min_new_tokens": tokens, "do_sample": True, "top_k": 0}

    def write(*, held: bool) -> tuple[float, float]:
        ours, extra = Timed(), {}
        if held and processor is not None:
            extra = {"logits_processor": [ours.around(processor())]}
        elif held:
            constraint, streamer = Constraint(turn, info), EventStreamer(turn, info)
            streamer.put = ours.around(streamer.put)  # type: ignore[method-assign]
            extra = {"logits_processor": [ours.around(constraint)], "streamer": streamer}
        began = time.perf_counter()
        network.generate(**inputs, **given, **extra)
        return time.perf_counter() - began, ours.seconds

    write(held=True)
    free, _ = write(held=False)
    held, ours = write(held=True)
    return [*_row(rows * tokens, free, held, ours, tokens), ""]


def _row(written: int, free: float, held: float, ours: float, steps: int) -> list[str]:
    """Tokens per second without and with a grammar, and what holding took."""
    return [f"{written / free:.1f}", f"{written / held:.1f}", f"{ours / steps * 1e6:,.0f}", f"{ours / held:.2%}"]


def by_xgrammar(tokenizer: Any, turn: sg.Turn) -> Callable[[], Any]:
    """Makes processors of xgrammar, which vLLM and SGLang hold grammars with, for the grammar that we write for it."""
    info = xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=WIDTH)
    assert turn.grammar is not None
    written = turn.grammar.exports(languages=["xgrammar"])["xgrammar"]
    assert written.status == "exact"
    compiled = xgrammar.GrammarCompiler(info).compile_grammar(written.source)
    return lambda: xgrammar.contrib.hf.LogitsProcessor(compiled)


def main() -> None:
    quick = arguments(__doc__).quick
    torch.set_num_threads(1)
    tokenizer, network = load()
    weights = sum(one.numel() for one in network.parameters())
    print(f"torch {torch.__version__}, {weights / 1e6:.0f} million parameters, float32.\n")
    fmt = sg.ChatFormat.from_toml(f'end_of_turn = ["{tokenizer.eos_token}"]\n')
    codec = sg.ChatCodec.from_format(fmt, sg.ChatTemplate("{{ messages[0].content }}"))
    wanted = {"type": "json_schema", "json_schema": {"name": "people", "schema": PEOPLE}}
    turn = codec.prepare([{"role": "user", "content": PROMPT}], response_format=wanted)
    model = TransformersModel(network, tokenizer, name="random", context_length=2048)
    tokens = 16 if quick else 32
    table = Table(
        ["by", "sequences", "tokens/s free", "tokens/s held", "holding, µs a step", "share", "passes saved"], texts=1
    )
    for rows in (1, 16):
        table.row("our loop", rows, *by_loop(model, turn, tokens, rows))
    for rows in (1, 16):
        table.row("generate", rows, *by_generate(tokenizer, network, turn, tokens, rows=rows))
    if xgrammar is not None:
        processor = by_xgrammar(tokenizer, turn)
        for rows in (1, 16):
            by_theirs = by_generate(tokenizer, network, turn, tokens, rows=rows, processor=processor)
            table.row("generate, our grammar by xgrammar", rows, *by_theirs)
    table.row("our loop, forced tokens", 1, *by_loop(model, turn, tokens, jump=True))


if __name__ == "__main__":
    main()
