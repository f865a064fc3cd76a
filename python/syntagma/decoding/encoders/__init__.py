"""Encodes text to token ids, with control tokens only in trusted ranges.

`control_tokens` finds the texts of control tokens. `sections` and `tokenizer_json` encode the text between them, the
first with any function for plain text, the second with the `tokenizers` library.
"""

from __future__ import annotations

from syntagma.decoding.encoders.control_tokens import ControlTokens, Placed, Range
from syntagma.decoding.encoders.protocol import Encoder
from syntagma.decoding.encoders.sections import SectionEncoder
from syntagma.decoding.encoders.tokenizer_json import TokenizerJsonEncoder

__all__ = ["ControlTokens", "Encoder", "Placed", "Range", "SectionEncoder", "TokenizerJsonEncoder"]
