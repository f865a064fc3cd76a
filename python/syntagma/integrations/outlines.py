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
    """The argument `processor` of `outlines.Generator` that constrains a model to turns or grammars.

    After this call, Outlines passes a `Prompt` to the model unchanged. It renders other text as a user message with the
    chat template.

    Args:
        model: a model from `outlines.from_transformers` or `outlines.from_mlxlm`.
        constraint: a turn, a grammar or a compiled grammar; with transformers also a list with one for each prompt of
            `batch`.

    Raises:
        ArgumentTypeError: `E-ARGUMENT-TYPE`, the model is of another kind, or a constraint is neither a turn nor a
            grammar.
        FormatError, GrammarError, LimitError, VocabularyError: see `Turn.grammar` and `GrammarCompiler.compile`.
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
        f"model must be an Outlines model of transformers or mlx-lm, not a {type(model).__name__}",
        hint="for GGUF files and running engines, use sg.load",
        pointer="/model",
    )


def _as_it_is(_adapter: Any, prompt: Prompt) -> str:
    """The text of a rendered prompt, unchanged."""
    return str(prompt)
