"""Small tokenizers of the `tokenizers` library, of the kinds that models have.

All know the control tokens `<s> </s> <|im_start|> <|im_end|> [INST] <call>`, special or added, and the word `word`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

CORPUS = [
    "<|im_start|>user\nHow are you today?<|im_end|> [INST] im_end |>",
    "a b  c\n\n the end of it </s>",
    "Łódź 🙂",
] * 50


def _trained(make: Callable[[Tokenizer], Any], special: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(unk_token=None, byte_fallback=False))
    trainer = make(tokenizer)
    tokenizer.train_from_iterator(CORPUS, trainer(special))
    return tokenizer


def byte_level() -> Tokenizer:
    def make(tokenizer: Tokenizer) -> Any:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        return lambda special: trainers.BpeTrainer(vocab_size=400, special_tokens=special, initial_alphabet=alphabet)

    tokenizer = _trained(make, ["</s>", "<|im_start|>"])
    # Tokens beyond the model, some special and some not, one that eats blanks, words and blanks that are no markers.
    tokenizer.add_special_tokens([AddedToken("<|im_end|>", rstrip=True), "[INST]", "<s>"])
    tokenizer.add_tokens([AddedToken("<call>", normalized=False), "word", AddedToken("  ", normalized=False)])
    return tokenizer


def space_first() -> Tokenizer:
    """A space stands before the first word only."""
    alphabet = [f"<0x{byte:02X}>" for byte in range(256)]
    vocabulary = {
        text: number for number, text in enumerate(["<unk>", "<s>", "</s>", *alphabet, "▁", *"abcdeimnstuw<|>"])
    }
    tokenizer = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>", byte_fallback=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_special_tokens(["<unk>", "<s>", "</s>", "<|im_start|>", AddedToken("<|im_end|>", lstrip=True)])
    tokenizer.add_tokens(["[INST]", "<call>", "word"])
    return tokenizer


def unigram() -> Tokenizer:
    """The texts of control tokens are pieces of the model, too."""
    pieces = [
        "<unk>",
        "<s>",
        "</s>",
        "▁",
        *"abcdefghijklmnopqrstuvwxyzŁóź<|>[]_/ANIST🙂H?\n",
        "<call>",
        "end",
        "im_end",
        "▁the",
    ]
    tokenizer = Tokenizer(models.Unigram([(text, -float(at)) for at, text in enumerate(pieces)], 0, False))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.add_special_tokens(
        [AddedToken(text, normalized=False) for text in ("<unk>", "<s>", "</s>", "<|im_start|>")]
    )
    tokenizer.add_special_tokens([AddedToken("<|im_end|>", normalized=False, lstrip=True)])
    tokenizer.add_tokens([AddedToken("[INST]", normalized=True), AddedToken("<call>", normalized=False)])
    return tokenizer
