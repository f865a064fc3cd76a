"""`Analysis`: the result of analysing a template, also as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from syntagma.analysis.certify.certificate import Certificate
from syntagma.analysis.infer.format import Evidence
from syntagma.analysis.layout import GenerationPrompt, TurnLayout
from syntagma.analysis.probe.capabilities import Capabilities
from syntagma.errors import ArgumentError, ArgumentTypeError, SyntagmaError
from syntagma.formats import ChatFormat, FormatTexts
from syntagma.typed import as_type

__all__ = ["Analysis"]


class Analysis(FormatTexts, msgspec.Struct, frozen=True, kw_only=True):
    """The result of analysing a template.

    Attributes:
        format: the format to use: the derived one, or a named one that fits at least as well.
        derived: the format that was derived from renders.
        chosen: `derived`, or the name of a named format.
        capabilities: what the template shows and needs.
        evidence: for every part of the derived format, the renders that show it.
        certificate: the certificate of `format`; None without certification.
        prompts: the generation prompt for every setting that changes it, the default first; then with a declared tool.
        layout: modes, kinds and markers of `format`.
        assumed: names of formats that the template may be for, by how its prompts list tools and show results, if it
            writes no calls itself.
        reasons: what speaks for `format` beside its certificate, if it is a named one.
        alternatives: the names of other formats for which as much speaks.
        renders: the number of renders.
    """

    format: ChatFormat
    derived: ChatFormat
    chosen: str
    capabilities: Capabilities
    evidence: tuple[Evidence, ...]
    certificate: Certificate | None
    prompts: tuple[GenerationPrompt, ...]
    layout: TurnLayout
    assumed: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    renders: int

    def to_dict(self) -> dict[str, Any]:
        """The analysis as plain JSON data."""
        record = {
            "chosen": self.chosen,
            "format": self.format.to_toml(),
            "derived": self.derived.to_toml(),
            "capabilities": self.capabilities,
            "evidence": self.evidence,
            "certificate": None if self.certificate is None else self.certificate.to_dict(),
            "prompts": self.prompts,
            "layout": self.layout,
            "preserved_tokens": self.preserved_tokens,
            "triggers": self.triggers,
            "stop_strings": self.stop_strings,
            "assumed": self.assumed,
            "reasons": self.reasons,
            "alternatives": self.alternatives,
            "renders": self.renders,
        }
        return dict(msgspec.json.decode(msgspec.json.encode(record)))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Analysis:
        """The analysis from the data of `to_dict`.

        Raises:
            ArgumentError: `E-ARGUMENT-VALUE`, it is not such data.
            ArgumentTypeError: `E-ARGUMENT-TYPE`, it is not a dictionary.
        """
        if not isinstance(data, Mapping):
            message = f"an analysis is a dictionary, not {type(data).__name__}"
            raise ArgumentTypeError("E-ARGUMENT-TYPE", message, pointer="/data")
        try:
            return cls(**_fields_of(data))
        except (SyntagmaError, KeyError, TypeError, ValueError) as error:
            message = f"no analysis is told by this: {error}"
            raise ArgumentError("E-ARGUMENT-VALUE", message, pointer="/data") from error


def _fields_of(data: Mapping[str, Any]) -> dict[str, Any]:
    chosen, stored = str(data["chosen"]), data["certificate"]
    certificate = None
    if stored is not None:
        fields = ("items", "findings", "grammar_checked")
        certificate = as_type({field: stored[field] for field in fields}, Certificate)
    name = None if chosen == "derived" else chosen
    return {
        "format": ChatFormat(ChatFormat.from_toml(data["format"]).spec, name=name),
        "derived": ChatFormat.from_toml(data["derived"]),
        "chosen": chosen,
        "capabilities": as_type(data["capabilities"], Capabilities),
        "evidence": as_type(data["evidence"], tuple[Evidence, ...]),
        "certificate": certificate,
        "prompts": as_type(data["prompts"], tuple[GenerationPrompt, ...]),
        "layout": as_type(data["layout"], TurnLayout),
        **{name: as_type(data[name], tuple[str, ...]) for name in ("assumed", "reasons", "alternatives")},
        "renders": int(data["renders"]),
    }
