"""The decode loop: a backend computes logits, a grammar says which tokens may follow, a sampler chooses.

The grammar compiles in a thread of its own (the engine releases the GIL) while the prompt is prefilled, and a matcher
is reset and used again when the same grammar comes back. Each step fills the bitmask, applies it to the logits, samples
and lets the matcher accept the token. A token that the matcher refuses after the mask allowed it is a fault of the
engine: it raises, it is never skipped.

Where the number of tokens is limited, a text that a grammar holds is brought to a legal end in time: the matcher knows
a shortest way to one from every place, and a token from which that way is too long is taken back, and the way is gone.
"""

from __future__ import annotations

from syntagma.generation.generator import Generator
from syntagma.generation.loop import Generation
from syntagma.generation.values import GenerationOptions, Metrics, Step

__all__ = ["Generation", "GenerationOptions", "Generator", "Metrics", "Step"]
