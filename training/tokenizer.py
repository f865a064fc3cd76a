"""Trains the tokenizer: byte-level BPE over generated dialogues.

    python tokenizer.py OUT/tokenizer.json [--vocabulary 1024] [--dialogues 12000] [--seed 1]

While merges are learned, a space is cut off from the word behind it and digits stand alone. No merge then joins a
space with letters, so that a word has the same tokens in a sentence, in quotes and in a name: to copy it is to copy
tokens. The finished tokenizer uses the plain byte-level pre-tokenizer, which every engine knows; without such merges
the result is the same.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from generator import dialogue
from rendering import segments

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
ADDED = ("<tool_call>", "</tool_call>", "<think>", "</think>", "<tool_response>", "</tool_response>")


def _texts(count: int, seed: int) -> Iterator[str]:
    rng = random.Random(seed)
    for _ in range(count):
        text = "".join(part for part, _ in segments(dialogue(rng, drills=0.02)))
        for marker in SPECIAL + ADDED:
            text = text.replace(marker, "\n")
        yield text


def train(vocabulary: int, dialogues: int, seed: int) -> Tokenizer:
    """A tokenizer of `vocabulary` tokens in all; the markers have the first ids."""
    tokenizer = Tokenizer(models.BPE())
    cut = Regex(r" ?[^\s\p{L}\p{N}]+|\p{L}+|\p{N}|\s")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(cut, "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[AddedToken(text, special=True, normalized=False) for text in SPECIAL + ADDED],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_texts(dialogues, seed), trainer)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    description = json.loads(tokenizer.to_str())
    for token in description["added_tokens"]:
        token["special"] = token["content"] in SPECIAL
    return Tokenizer.from_str(json.dumps(description))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--vocabulary", type=int, default=1024)
    parser.add_argument("--dialogues", type=int, default=12_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    tokenizer = train(arguments.vocabulary, arguments.dialogues, arguments.seed)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(arguments.out))
    lengths = [len(tokenizer.encode(text).ids) for text in _texts(500, arguments.seed + 1)]
    mean = sum(lengths) / len(lengths)
    print(f"{tokenizer.get_vocab_size()} tokens; {mean:.0f} tokens a dialogue, {max(lengths)} at most")


if __name__ == "__main__":
    main()
