"""Text to token ids, with control tokens only where the caller says that there are some.

`control_tokens` knows the texts that are control tokens and finds them; `sections` and `tokenizer_json` encode the text
between them, the one with any function for plain text, the other with the `tokenizers` library.
"""

from __future__ import annotations

from syntagma.decoding.encoders.control_tokens import ControlTokens, Placed, Range
from syntagma.decoding.encoders.protocol import Encoder
from syntagma.decoding.encoders.sections import SectionEncoder
from syntagma.decoding.encoders.tokenizer_json import TokenizerJsonEncoder

__all__ = ["ControlTokens", "Encoder", "Placed", "Range", "SectionEncoder", "TokenizerJsonEncoder"]
