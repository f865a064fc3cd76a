"""The decode loop: a backend computes logits, a grammar says which tokens may follow, a sampler chooses.

`Model` answers conversations; `load` finds one. `Generator` runs single generations on a backend; a `Generation` is
one of them, token by token.

The grammar compiles in a thread of its own (the engine releases the GIL) while the prompt is read, and a matcher is
reset and used again when the same grammar comes back. Each step fills the bitmask, applies it to the logits, samples
and lets the matcher accept the token. A token that the matcher refuses after the mask allowed it is a fault of the
engine: it raises an error and is never skipped.

Where the number of tokens is limited, a text with a grammar is brought to a valid ending in time. The matcher knows, at
any point, a shortest list of tokens that completes the text. If after a token that list is longer than what is left,
the token is taken back, and the list found before is written instead.
"""

from __future__ import annotations

from syntagma.generation.field_report import BentStep, FieldReport, FieldStats
from syntagma.generation.generator import Generator
from syntagma.generation.loop import Generation
from syntagma.generation.model import ChatOptions, Model, load
from syntagma.generation.remote import RemoteGeneration
from syntagma.generation.values import GenerationOptions, Metrics, Step, Written

__all__ = [
    "BentStep",
    "ChatOptions",
    "FieldReport",
    "FieldStats",
    "Generation",
    "GenerationOptions",
    "Generator",
    "Metrics",
    "Model",
    "RemoteGeneration",
    "Step",
    "Written",
    "load",
]
