"""The names of xgrammar 0.2, implemented with this library: `import syntagma.compat.xgrammar as xgr`.

What differs in substance: a special token never matches text; a schema is enforced, or its report says where it is
not; masks are exact for every grammar; and compiling does not look at the vocabulary. Names and arguments that are not
supported raise `NotImplementedError`; `docs/reference/compat-xgrammar.md` lists them. Bitmasks are torch tensors if
torch is installed, else NumPy arrays.
"""

from __future__ import annotations

from syntagma.compat.xgrammar import exception, structural_tag, testing
from syntagma.compat.xgrammar.bitmask import (
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
    get_bitmask_shape,
    reset_token_bitmask,
)
from syntagma.compat.xgrammar.compiler import CompiledGrammar, GrammarCompiler
from syntagma.compat.xgrammar.config import (
    get_max_recursion_depth,
    get_serialization_version,
    max_recursion_depth,
    set_max_recursion_depth,
)
from syntagma.compat.xgrammar.contrib import hf
from syntagma.compat.xgrammar.exception import (
    DeserializeFormatError,
    DeserializeVersionError,
    InvalidJSONError,
    InvalidStructuralTagError,
)
from syntagma.compat.xgrammar.grammar import Grammar
from syntagma.compat.xgrammar.matcher import BatchGrammarMatcher, GrammarMatcher
from syntagma.compat.xgrammar.models import (
    get_builtin_structural_tag,
    get_model_structural_tag,
    normalize_tool_choice,
    register_model_structural_tag,
)
from syntagma.compat.xgrammar.structural_tag import StructuralTag, StructuralTagItem
from syntagma.compat.xgrammar.support import bitmask_dtype_of
from syntagma.compat.xgrammar.tokenizer_info import TokenizerInfo, VocabType

__all__ = [
    "BatchGrammarMatcher",
    "CompiledGrammar",
    "DeserializeFormatError",
    "DeserializeVersionError",
    "Grammar",
    "GrammarCompiler",
    "GrammarMatcher",
    "InvalidJSONError",
    "InvalidStructuralTagError",
    "StructuralTag",
    "StructuralTagItem",
    "TokenizerInfo",
    "VocabType",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "bitmask_dtype",
    "exception",
    "get_bitmask_shape",
    "get_builtin_structural_tag",
    "get_max_recursion_depth",
    "get_model_structural_tag",
    "get_serialization_version",
    "hf",
    "max_recursion_depth",
    "normalize_tool_choice",
    "register_model_structural_tag",
    "reset_token_bitmask",
    "set_max_recursion_depth",
    "structural_tag",
    "testing",
]


__getattr__ = bitmask_dtype_of(__name__)
