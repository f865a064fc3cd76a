"""The choice between the derived format and named ones, by certificates and by what else template and model show."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

import msgspec

from syntagma.analysis.certify.certificate import Certificate
from syntagma.analysis.certify.certifier import Certifier, Told
from syntagma.analysis.infer.widening import widened
from syntagma.analysis.named import Evidence, Support, call_markers, framed, reasoning_told
from syntagma.format_schema import FormatSpec
from syntagma.formats import ChatFormat, get

__all__ = ["Choice", "beats", "with_named_formats"]

_log = logging.getLogger("syntagma.analysis")

_MIN_GIVE_UP_AFTER = 3
"""the least number of failing messages after which the certificate of a named format is given up"""
_MOST_BESIDE = 5
"""the most further formats that are read beside the first one"""
_MOST_CERTIFIED = 3
"""the most named formats that are certified, those with the best evidence first"""


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """A format, its name, its certificate (None: it has none yet), and what speaks for it beside the certificate.

    Attributes:
        name: `derived`, or the name of a named format.
        format: the format.
        certificate: its certificate.
        derived: the derived format, with what other settings write; None: a named one won.
        reasons: the evidence, in words.
        alternatives: the names of other formats for which as much speaks.
    """

    name: str
    format: ChatFormat
    certificate: Certificate | None
    derived: ChatFormat | None = None
    reasons: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()


class _Candidate(msgspec.Struct, frozen=True):
    """A named format in the frame of the template, and how much speaks for it."""

    support: Support
    format: ChatFormat
    told: Told
    weight: tuple[int, ...]


def with_named_formats(
    derived: FormatSpec,
    certified: Callable[[], Choice],
    certifier: Certifier,
    evidence: Evidence,
    found: Mapping[str, Support],
) -> Choice:
    """The named format that fits better than the derived one, or the derived one.

    The one for which most speaks comes first: where nothing is left that the derived one could read better, that one
    needs no certificate.

    Args:
        derived: the derived format.
        certified: makes the choice of the derived format, with its certificate; without one, only named formats are
            compared.
        certifier: certifies formats for the template.
        evidence: what template and model show beside turns.
        found: what of it speaks for each named format.
    """
    shows_calls = certifier.shows_calls
    rated = [
        candidate
        for support in found.values()
        if (certifier.looks_alike(get(support.name)) if shows_calls else support.tells_calls)
        for candidate in _candidates(support, certifier, derived, evidence, shows_calls=shows_calls)
    ]
    rated.sort(key=lambda one: (one.weight, -one.support.unseen), reverse=True)
    if not shows_calls and rated and certifier.expects_calls:
        return _told(rated, certifier)
    own: Certificate | None = None
    if shows_calls and rated and not rated[0].told.around:
        own = certifier.certify(rated[0].format, told=rated[0].told)
        ties = not reads_ids(derived) or reads_ids(rated[0].format.spec)
        if ties and own.clean and own.covers("T") and not _may_read_more(ChatFormat(derived), own, certifier):
            return _chosen(rated[0], own, rated)
    best = certified()
    if derived.reasoning is None and derived.messages is None:
        best = _with_told_reasoning(best, certifier, evidence)
    if not shows_calls:
        return best
    known = best.certificate
    # One certificate more is enough where the first is clean.
    for candidate in rated[: 1 if known is not None and known.clean else _MOST_CERTIFIED]:
        known = best.certificate
        if best.name != "derived" and known is not None and known.clean:
            break
        around = candidate.told.around
        if known is not None and around and (known.clean or best.name != "derived"):
            continue
        give_up_after = max(_MIN_GIVE_UP_AFTER, len(known.failing) + 1 if known is not None else 0)
        certificate = own if candidate is rated[0] else None
        if certificate is None:
            bar = None if around else known
            certificate = certifier.rival(candidate.format, bar, give_up_after, told=candidate.told)
        _log.debug(
            "named format %s: %s",
            candidate.support.name,
            "no better" if certificate is None else certificate.summary,
        )
        if certificate is None or not certificate.covers("T") or len(certificate.failing) >= give_up_after:
            continue
        in_tie = best.name == "derived" and (not reads_ids(derived) or reads_ids(candidate.format.spec))
        if known is None or around or beats(certificate, known, in_tie=in_tie):
            best = _chosen(candidate, certificate, rated)
    return best


def _may_read_more(derived: ChatFormat, known: Certificate, certifier: Certifier) -> bool:
    """Whether the derived format may read what a named one with a clean certificate does not."""
    unread = {item.name for item in known.items if item.verdict in ("ambiguous", "other context")}
    if certifier.reads_any(derived, unread):
        return True
    # What another setting writes may become a further form of the derived format, unless that fails already.
    settings = any(item.verdict == "other setting" for item in known.items)
    return settings and certifier.rival(derived, None, 1) is not None


def _chosen(candidate: _Candidate, certificate: Certificate, rated: list[_Candidate]) -> Choice:
    return Choice(
        name=candidate.support.name,
        format=candidate.format,
        certificate=certificate,
        reasons=candidate.support.reasons,
        alternatives=tuple(
            one.support.name
            for one in rated
            if one.weight == candidate.weight and one.support.name != candidate.support.name
        ),
    )


def _candidates(
    support: Support, certifier: Certifier, derived: FormatSpec, evidence: Evidence, *, shows_calls: bool
) -> list[_Candidate]:
    """The first way in which a named format reads what the template shows; none if it does not."""
    named = get(support.name)
    for spec in framed(named.spec, derived, reasoning_told(evidence, named.spec.reasoning)):
        fmt = ChatFormat(spec, name=named.name)
        untold = derived.reasoning is None and spec.reasoning is not None and spec.messages is None
        told = Told(reasoning="models that write the format do" if untold and certifier.expects_reasoning else "")
        if not shows_calls:
            told = msgspec.structs.replace(told, calls="; ".join(support.reasons))
            return [_Candidate(support, fmt, told, support.weight)]
        reads = certifier.reads_calls(fmt)
        if reads != "no":
            told = msgspec.structs.replace(told, around=reads == "around")
            seen = certifier.shown_in_calls(call_markers(spec))
            if reads == "around" and not (seen or support.end):
                continue
            weight = (reads == "whole", seen, certifier.writes_calls(fmt), *support.weight, support.kin)
            return [_Candidate(support, fmt, told, weight)]
    return []


def _with_told_reasoning(best: Choice, certifier: Certifier, evidence: Evidence) -> Choice:
    """The derived format with reasoning that no render shows, if the template or the model names its markers."""
    reasoning = reasoning_told(evidence, None)
    if reasoning is None or best.certificate is None:
        return best
    for spec in framed(best.format.spec, best.format.spec, reasoning):
        fmt, told = ChatFormat(spec), Told(reasoning="its markers are the template's or the model's")
        certificate = certifier.certify(fmt, told=told)
        if spec.reasoning is not None and len(certificate.failing) <= len(best.certificate.failing):
            findings = {*best.certificate.findings} - {
                one for one in best.certificate.findings if "thinking" in one.code
            }
            certificate = msgspec.structs.replace(
                certificate, findings=tuple(dict.fromkeys((*findings, *certificate.findings)))
            )
            return msgspec.structs.replace(best, format=fmt, certificate=certificate)
    return best


def _told(rated: list[_Candidate], certifier: Certifier) -> Choice:
    """The named format for whose calls most speaks, where the template shows none."""
    equal = [one for one in rated if one.weight == rated[0].weight]
    kin = [one for one in equal if one.support.kin]
    first, *others = kin or equal
    fmt = first.format
    for other in others[:_MOST_BESIDE]:
        # Nothing tells them apart, so all are read; the first is written.
        spec = widened(fmt.spec, msgspec.structs.replace(fmt.spec, tools=other.format.spec.tools, markers=()))
        fmt = fmt if spec is None else ChatFormat(spec, name=fmt.name)
    return Choice(
        name=first.support.name,
        format=fmt,
        certificate=certifier.certify(fmt, told=first.told),
        reasons=first.support.reasons,
        alternatives=tuple(one.support.name for one in others),
    )


def reads_ids(spec: FormatSpec) -> bool:
    """Whether calls have an id in the format."""
    patterns = [one for form in spec.forms for one in (*form.call, *(envelope.pattern for envelope in form.envelope))]
    return any("id" in pattern.placeholders for pattern in patterns)


def beats(one: Certificate, other: Certificate, *, in_tie: bool) -> bool:
    """Whether a certificate is better than another: it loses no message, and more come back or fewer fail.

    Findings do not count: they are objections to the derivation of a format, and a named one was not derived.
    `in_tie`: it is also better if as many come back and as many fail.
    """
    tried = {item.name for item in one.items}
    if (other.read_back & tried) - one.read_back or sum(one.coverage.values()) < sum(other.coverage.values()):
        return False
    gain, relief = len(one.read_back - other.read_back), len(other.failing) - len(one.failing)
    return relief >= 0 and (gain > 0 or relief > 0 or in_tie)
