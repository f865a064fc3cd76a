"""`analyze`: a template's format, derived from renders alone, with its certificate."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, MutableMapping
from typing import Any, Literal

import msgspec

from syntagma.analysis.capabilities import Capabilities
from syntagma.analysis.certificate import Certificate, Certifier, Mentions
from syntagma.analysis.expectations import covers
from syntagma.analysis.inference import Evidence, Finding, Inference, infer
from syntagma.analysis.probes import Probed, probe
from syntagma.analysis.renders import Renders
from syntagma.analysis.scene import Scene
from syntagma.analysis.sentinels import Sentinels
from syntagma.analysis.survey import Survey, survey
from syntagma.errors import ArgumentError, ArgumentTypeError, FormatError
from syntagma.format_schema import FormatSpec, Notation, write_toml
from syntagma.formats import ChatFormat, get, names
from syntagma.templates import ChatTemplate

__all__ = ["Analysis", "analyze"]

_GIVE_UP_AFTER = 3


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about a template.

    Attributes:
        format: the format to use: the derived one, or the named one whose certificate is better.
        derived: the format that was derived from renders.
        chosen: `derived`, or the name of a registered format.
        capabilities: what the template shows and wants.
        evidence: what every part of the derived format was seen in.
        certificate: what is proved about `format`; None without certification.
        renders: how many renders were made.
    """

    format: ChatFormat
    derived: ChatFormat
    chosen: str
    capabilities: Capabilities
    evidence: tuple[Evidence, ...]
    certificate: Certificate | None
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
            "renders": self.renders,
        }
        return dict(msgspec.json.decode(msgspec.json.encode(record)))


def analyze(
    template: ChatTemplate | str,
    *,
    certify: bool = True,
    candidates: Literal["all", "derived", "named"] = "all",
    cache: MutableMapping[str, Analysis] | None = None,
    seed: int = 0,
) -> Analysis:
    """Derive a template's format from renders, and prove it.

    Args:
        template: the template, or its source.
        certify: render messages of every shape and read them back; without it, nothing but `derived` is offered.
        candidates: `all`: named formats are tried where the derived one does not certify; `derived`: only that one;
            `named`: only registered ones.
        cache: remembers analyses; the key is a hash of everything that decides the result.
        seed: of the made-up words; the result does not depend on it.

    Raises:
        TemplateError: `E-TEMPLATE-ANALYSIS`, no assistant's turn renders, or the renders went beyond their limits.
        ArgumentError: `E-ARGUMENT-CANDIDATES`, unknown `candidates`, or named ones without certification.
        ArgumentTypeError: `E-ARGUMENT-TEMPLATE`, neither template nor text.
    """
    if isinstance(template, str):
        template = ChatTemplate(template)
    if not isinstance(template, ChatTemplate):
        raise ArgumentTypeError("E-ARGUMENT-TEMPLATE", f"a template is expected, not {type(template).__name__}")
    if candidates not in ("all", "derived", "named") or (candidates == "named" and not certify):
        raise ArgumentError(
            "E-ARGUMENT-CANDIDATES",
            'candidates is "all", "derived" or "named"; "named" needs a certificate',
        )
    parts = [template.source, template.eos_token, certify, candidates, seed, names() if certify else ()]
    key = hashlib.sha256(msgspec.json.encode(parts)).hexdigest()
    if cache is not None and key in cache:
        return cache[key]
    found = _analyze(template, certify=certify, candidates=candidates, seed=seed)
    if cache is not None:
        cache[key] = found
    return found


def _analyze(
    template: ChatTemplate, *, certify: bool, candidates: Literal["all", "derived", "named"], seed: int
) -> Analysis:
    words = Sentinels(seed)
    whole = words.word("z")
    renders = Renders(template.variant(bos_token="", eos_token=whole), template.limits)
    scene = Scene(renders, words)
    probed = probe(scene, template.source, template.undeclared_variables())
    seen = survey(scene, probed, whole)
    inferred = _readable(infer(seen, scene, probed, template.string_literals(), template.eos_token))
    derived = ChatFormat(inferred.spec)
    chosen, fmt, certificate = "derived", derived, None
    if certify:
        certifier = Certifier(
            scene,
            probed.inputs,
            inferred.frame,
            seen.prompts,
            id_form=probed.id_form,
            eos_token=template.eos_token,
            mentions=_mentions(probed, template),
        )
        if candidates != "named":
            findings = (*inferred.findings, *_findings(inferred, seen, words))
            certificate = certifier.certify(derived, findings)
        if candidates == "named" or (candidates == "all" and certificate is not None and not certificate.clean):
            chosen, fmt, certificate = _named(certifier, inferred, certificate, derived)
    return Analysis(
        format=fmt,
        derived=derived,
        chosen=chosen,
        capabilities=probed.capabilities,
        evidence=inferred.evidence,
        certificate=certificate,
        renders=renders.count,
    )


def _readable(inferred: Inference) -> Inference:
    """The inference as far as the library reads it: what no reader knows is left out, and that is a finding."""
    why: FormatError | None = None
    for spec, code in _weaker(inferred.spec):
        try:
            ChatFormat(spec).parser()
        except FormatError as error:
            why = error
            continue
        findings = inferred.findings if why is None else (*inferred.findings, Finding(code, why.message))
        return msgspec.structs.replace(inferred, spec=spec, findings=findings)
    return inferred


def _weaker(spec: FormatSpec) -> Iterator[tuple[FormatSpec, str]]:
    """The format, and what is left of it without its notation of values, then without calls."""
    yield spec, ""
    if spec.tools is not None:
        if spec.tools.values == "text" and not spec.tools.literals.is_json:
            plain = msgspec.structs.replace(spec.tools, literals=Notation())
            yield msgspec.structs.replace(spec, tools=plain), "notation-unsupported"
        yield msgspec.structs.replace(spec, tools=None), "calls-unsupported"


def _findings(inferred: Inference, seen: Survey, words: Sentinels) -> Iterator[Finding]:
    """What speaks against the derived format without any message being rendered."""
    default = seen.prompts.get(None)
    if default is not None and seen.extra(default) is None:
        yield Finding("header-disagrees", "the default generation prompt does not hold the header of rendered turns")
    text = write_toml(inferred.spec)
    if any(word in text for word in words.given):
        yield Finding("leak", "the derived format holds text that only the probes put in")


def _mentions(probed: Probed, template: ChatTemplate) -> Mentions:
    """What the template speaks of, so that a format that knows nothing of it cannot be the whole truth."""
    named = {"enable_thinking", "thinking"} & template.undeclared_variables()
    return Mentions(
        calls="tool_calls" in template.source,
        thoughts=bool(named or probed.capabilities.thinking_switches or probed.capabilities.reasoning),
    )


def _named(
    certifier: Certifier, inferred: Inference, best: Certificate | None, derived: ChatFormat
) -> tuple[str, ChatFormat, Certificate | None]:
    """The registered format with the best certificate, if it beats the derived one."""
    chosen, fmt = "derived", derived
    tried = {_text_of(derived)} if best is not None else set()
    for name in names():
        for candidate in _candidates(get(name), inferred.spec):
            text = _text_of(candidate)
            if text in tried:
                continue
            tried.add(text)
            # What cannot read a call where the best one can is no rival, whatever else it reads.
            if best is not None and covers(best.coverage, "T") and not certifier.reads_calls(candidate):
                continue
            most = max(_GIVE_UP_AFTER, len(best.failing) + 1 if best is not None else 0)
            certificate = certifier.certify(candidate, (), give_up_after=most)
            if len(certificate.failing) < most and (best is None or _beats(certificate, best)):
                chosen, fmt, best = name, candidate, certificate
    return chosen, fmt, best


def _text_of(fmt: ChatFormat) -> str:
    """What tells formats apart; two that say the same need one certificate."""
    return write_toml(msgspec.structs.replace(fmt.spec, aliases=()))


def _beats(one: Certificate, other: Certificate) -> bool:
    if one.clean:
        return not other.clean and sum(one.coverage.values()) >= sum(other.coverage.values())
    return not other.clean and one.rank > other.rank


def _candidates(named: ChatFormat, derived: FormatSpec) -> Iterator[ChatFormat]:
    """A named format in the derived frame, and its tools with the derived thoughts."""
    framed = named.spec
    if framed.messages is None:
        framed = msgspec.structs.replace(framed, anchor=derived.anchor, end_of_turn=derived.end_of_turn)
    yield ChatFormat(framed, name=named.name)
    if derived.reasoning is not None and framed.tools is not None and framed.messages is None:
        try:
            yield ChatFormat(framed).combine(reasoning=ChatFormat(derived))
        except FormatError:
            return
