"""Outlines: a logits processor for its generators over transformers and mlx-lm.

generate = outlines.Generator(model, processor=processor_for(model, turn))
text = generate(str(turn.prompt), max_new_tokens=200)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from syntagma.errors import ArgumentTypeError
from syntagma.integrations import mlx, transformers
from syntagma.integrations.constraints import Constrained
from syntagma.templates import Prompt

__all__ = ["processor_for"]


def processor_for(
    model: Any, constraint: Constrained | Sequence[Constrained]
) -> transformers.Constraint | mlx.Constraint:
    """What `outlines.Generator` takes as `processor` to hold a model to turns or grammars.

    From then on Outlines takes a `Prompt` as it is. Other text it makes a user's message of, by the chat template.

    Args:
        model: as `outlines.from_transformers` or `outlines.from_mlxlm` returns it.
        constraint: a turn, a grammar or a compiled grammar; with transformers also a list, one for each prompt of
            `batch`.

    Raises:
        ArgumentTypeError: `E-ARGUMENT-TYPE`, another model, or no turn and no grammar.
        FormatError, GrammarError, LimitError, VocabularyError: as `Turn.grammar` and `GrammarCompiler.compile`.
    """
    from outlines.models.mlxlm import MLXLM
    from outlines.models.transformers import Transformers

    if isinstance(model, Transformers | MLXLM):
        type(model.type_adapter).format_input.register(Prompt, _as_it_is)
    if isinstance(model, Transformers):
        ends = model.model.generation_config.eos_token_id
        return transformers.Constraint(constraint, model.hf_tokenizer, eos_token_ids=ends)
    if isinstance(model, MLXLM):
        return mlx.Constraint(constraint, model.mlx_tokenizer)  # type: ignore[arg-type]  # it checks
    raise ArgumentTypeError(
        "E-ARGUMENT-TYPE",
        f"model is a model of transformers or mlx-lm in Outlines, not a {type(model).__name__}",
        hint="sg.load runs GGUF files, and stands in front of engines that run already",
        pointer="/model",
    )


def _as_it_is(_adapter: Any, prompt: Prompt) -> str:
    """The text of a prompt that is rendered already."""
    return str(prompt)
