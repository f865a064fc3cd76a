"""A checkpoint's `response_template` (in `tokenizer_config.json`) to a format, and a format to such a template.

Source: version 1 as transformers 5.23 reads it (`utils/chat_parsing`): regions with an opener and a closer, a parser
for what stands between, and a transform into the message. A format says more (levels inside a call, what is written)
and less (no regular expressions, no free transforms); what could not be carried is listed, never dropped in silence.
"""

from __future__ import annotations

from syntagma.formats.response_template.not_carried import NotCarried
from syntagma.formats.response_template.reading import read_response_template
from syntagma.formats.response_template.writing import write_response_template

__all__ = ["NotCarried", "read_response_template", "write_response_template"]
