"""Translates a checkpoint's `response_template` (in `tokenizer_config.json`) to a format, and back.

Source: version 1 as transformers 5.23 reads it (`utils/chat_parsing`): regions with an opener and a closer, a parser
for the text between them, and a transform into the message. A format can express more (levels inside a call, how calls
are written) and less (no regular expressions, no free transforms). `NotCarried` lists what cannot be translated.
"""

from __future__ import annotations

from syntagma.formats.response_template.from_template import read_response_template
from syntagma.formats.response_template.not_carried import NotCarried
from syntagma.formats.response_template.to_template import write_response_template

__all__ = ["NotCarried", "read_response_template", "write_response_template"]
