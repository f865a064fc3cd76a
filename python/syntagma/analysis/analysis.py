"""`analyze`: a template's format, derived from renders alone, with its certificate."""

from __future__ import annotations

import hashlib
import logging
import os
import sys
from collections.abc import Collection, Iterator, MutableMapping
from typing import Any, Literal, TypeAlias

import msgspec

from syntagma.analysis.cache import RECENT, AnalysisFolder
from syntagma.analysis.certify.certificate import Certificate
from syntagma.analysis.certify.certifier import Certifier, Mentions
from syntagma.analysis.certify.outputs import TemplateOutputs
from syntagma.analysis.infer.format import Inference, infer_format
from syntagma.analysis.infer.frame import Frame
from syntagma.analysis.infer.widening import widened
from syntagma.analysis.layout import GenerationPrompt, layout_of
from syntagma.analysis.locate.observations import Observations, observe
from syntagma.analysis.probe.inputs import ProbeResult, probe_inputs
from syntagma.analysis.prompt_side import assumed_formats
from syntagma.analysis.render.bounded_renderer import BoundedRenderer
from syntagma.analysis.render.conversation import Sentinels
from syntagma.analysis.render.turn_renderer import TurnRenderer
from syntagma.analysis.result import Analysis
from syntagma.decoding import TokenizerInfo
from syntagma.entry import entry
from syntagma.errors import ArgumentError, ArgumentTypeError, FormatError
from syntagma.format_schema import FormatSpec, used_markers
from syntagma.formats import ChatFormat, get, names
from syntagma.formats.registry import registry
from syntagma.templates import ChatTemplate

__all__ = ["Examined", "Vocabulary", "analyze", "certify_format", "examine"]

_log = logging.getLogger("syntagma.analysis")

Candidates: TypeAlias = Literal["all", "derived", "named"]
Vocabulary: TypeAlias = TokenizerInfo | Collection[str]
"""a vocabulary, or the texts of its special and added tokens"""

_MIN_GIVE_UP_AFTER = 3
"""the least number of failing messages after which the certificate of a named format is given up"""


@entry
def analyze(
    template: ChatTemplate | str,
    *,
    certify: bool = True,
    candidates: Candidates = "all",
    cache: MutableMapping[str, Analysis] | str | os.PathLike[str] | None = None,
    seed: int = 0,
    vocabulary: Vocabulary | None = None,
) -> Analysis:
    """Derive a template's format from renders, and certify it.

    Args:
        template: the template, or its source.
        certify: whether to render messages of every shape and read them back; without it, the result is the derived
            format.
        candidates: `all`: named formats are tried if the derived one has no clean certificate; `derived`: only the
            derived one; `named`: only named ones.
        cache: keeps analyses by a hash of everything that decides the result, the registered formats included: a
            mapping, or a folder, which is made if it is missing; None: the last ones of this process, in memory.
        seed: seed of the made-up words; the result does not depend on it.
        vocabulary: the model's vocabulary, or the texts of its special and added tokens; None: it is unknown. With it,
            a format is assumed only if its calls begin with such tokens.

    Raises:
        TemplateError: `E-TEMPLATE-ANALYSIS`, no assistant's turn renders, or the renders went beyond their limits.
        ArgumentError: `E-ARGUMENT-CANDIDATES`, unknown `candidates`, or named ones without certification;
            `E-ARGUMENT-VALUE`, a folder without a name.
        ArgumentTypeError: `E-ARGUMENT-TEMPLATE`, the template is neither a template nor a string; `E-ARGUMENT-TYPE`,
            the vocabulary is none.
    """
    if isinstance(template, str):
        template = ChatTemplate(template)
    if not isinstance(template, ChatTemplate):
        raise ArgumentTypeError("E-ARGUMENT-TEMPLATE", f"expected a template, not {type(template).__name__}")
    if candidates not in ("all", "derived", "named") or (candidates == "named" and not certify):
        raise ArgumentError(
            "E-ARGUMENT-CANDIDATES",
            'candidates is "all", "derived" or "named"; "named" needs a certificate',
        )
    kept = RECENT if cache is None else AnalysisFolder(cache) if isinstance(cache, str | os.PathLike) else cache
    # The package imports this module, so its version is read late.
    version = sys.modules["syntagma"].__version__
    tokens = [template.bos_token, template.eos_token, template.special_tokens, msgspec.structs.asdict(template.limits)]
    texts = vocabulary.control_tokens if isinstance(vocabulary, TokenizerInfo) else vocabulary
    control_tokens = None if texts is None else sorted(texts)
    parts = [version, template.source, tokens, certify, candidates, seed, registry.digest(), control_tokens]
    key = hashlib.sha256(msgspec.json.encode(parts)).hexdigest()
    found = kept.get(key)
    if found is None:
        found = _analyze(template, certify=certify, candidates=candidates, seed=seed, control_tokens=control_tokens)
        kept[key] = found
    return found


class Examined(msgspec.Struct, frozen=True):
    """A template before certification: the results of the first four stages."""

    template: ChatTemplate
    renderer: TurnRenderer
    probed: ProbeResult
    seen: Observations
    inferred: Inference
    eos: str
    """the made-up word that stands for the end-of-sequence token"""

    def certifier(self, assumed: tuple[str, ...] = ()) -> Certifier:
        """Certifies any format for the template; `assumed`: the named formats whose prompts it renders."""
        outputs = TemplateOutputs(
            self.renderer,
            self.probed.certified_inputs,
            self.inferred.frame,
            self.seen.prompts.values(),
            eos_token=self.template.eos_token,
        )
        switched = [one for setting in self.probed.notations if (one := self._outputs_under(*setting)) is not None]
        return Certifier(outputs, self.probed.id_form, _mentions(self.probed, self.template, assumed), switched)

    def _outputs_under(self, name: str, value: Any) -> TemplateOutputs | None:
        """The template's output with a variable set; None if it then renders no prompt."""
        inputs = self.probed.certified_inputs.with_variable(name, value)
        rendered = (self.renderer.prompt(inputs, settings) for settings in ({}, inputs.settings))
        prompts = [text for text in rendered if text is not None]
        outputs = TemplateOutputs(
            self.renderer,
            inputs,
            self.inferred.frame,
            prompts,
            eos_token=self.template.eos_token,
            settings={name: value},
        )
        return outputs if prompts else None


@entry
def certify_format(template: ChatTemplate, fmt: ChatFormat) -> Certificate:
    """The certificate of any format for a template.

    Args:
        template: the template.
        fmt: the format.

    Raises:
        TemplateError: `E-TEMPLATE-ANALYSIS`, no assistant's turn renders, or the renders went beyond their limits.
        ArgumentTypeError: `E-ARGUMENT-TYPE`, an argument is not a template, or not a format.
    """
    return examine(template).certifier().certify(fmt, ())


def examine(template: ChatTemplate, seed: int = 0) -> Examined:
    """The first four stages of an analysis, in order."""
    # Conversations of made-up words, rendered within bounds. The end-of-sequence token is also a made-up word.
    sentinels = Sentinels(seed)
    eos = sentinels.word("z")
    bounded = BoundedRenderer(template.variant(bos_token="", eos_token=eos), template.limits)
    renderer = TurnRenderer(bounded, sentinels)
    # The inputs that the template needs.
    probed = probe_inputs(renderer, template.source, template.switch_values())
    _log.debug("probing: %s", probed.inputs)
    # Every shape of a turn, with the positions of the sentinels.
    seen = observe(renderer, probed)
    for located in seen.turns:
        _log.debug(
            "a turn of %s (%s), shown as %s: %r", located.turn.shape, located.context, located.shape, located.text
        )
    # A format from the comparison of all turns.
    inferred = infer_format(seen, renderer, probed, template, eos)
    for evidence in inferred.evidence:
        _log.debug("found %s: %r, from %s", evidence.what, evidence.text, evidence.seen)
    for finding in inferred.findings:
        _log.info("%s: %s", finding.code, finding.message)
    return Examined(template, renderer, probed, seen, inferred, eos)


def _analyze(
    template: ChatTemplate,
    *,
    certify: bool,
    candidates: Candidates,
    seed: int,
    control_tokens: Collection[str] | None,
) -> Analysis:
    """All stages; the last one certifies, and tries named formats if the derived one has no clean certificate."""
    found = examine(template, seed)
    inferred, probed = found.inferred, found.probed
    derived = ChatFormat(inferred.spec)
    assumed: tuple[str, ...] = ()
    if probed.capabilities.tools and not probed.max_calls:
        assumed = assumed_formats(found.renderer, probed, control_tokens)
    choice = _Choice(name="derived", format=derived, certificate=None)
    if certify:
        certifier = found.certifier(assumed)
        if candidates != "named":
            choice = _Choice("derived", derived, certifier.certify(derived, inferred.findings))
            for setting in probed.notations:
                choice = _with_setting(choice, certifier, found, setting)
            derived = choice.format
        if candidates != "derived":
            choice = _with_named_formats(choice, certifier, inferred.spec)
        _log.info(
            "format %s, certificate %s", choice.name, choice.certificate.summary if choice.certificate else "none"
        )
    prompts = tuple(
        _generation_prompts(
            choice.format, found.renderer, probed, inferred.frame.with_eos(template.eos_token), found.eos
        )
    )
    return Analysis(
        format=choice.format,
        derived=derived,
        chosen=choice.name,
        capabilities=probed.capabilities,
        evidence=inferred.evidence,
        certificate=choice.certificate,
        prompts=prompts,
        layout=layout_of(choice.format, prompts, {located.shape for located in found.seen.turns}),
        assumed=assumed,
        renders=found.renderer.bounded.count,
    )


def _generation_prompts(
    fmt: ChatFormat, renderer: TurnRenderer, probed: ProbeResult, frame: Frame, eos: str
) -> Iterator[GenerationPrompt]:
    """The generation prompt of each setting, without tools and then with one, if the template renders it."""
    for tools in (False, True):
        for setting in (None, *probed.switches):
            settings = {} if setting is None else {setting[0]: setting[1]}
            text = renderer.prompt(probed.inputs, settings, tools=tools)
            if text is not None:
                text = text.replace(eos, frame.eos)
                state = fmt.start_state(text, template_kwargs=settings)
                shown = text.removeprefix(frame.user_close)
                yield GenerationPrompt(settings=settings, tools=tools, text=shown, reasoning=state.reasoning)


class _Choice(msgspec.Struct, frozen=True):
    """A format, its name, and its certificate; None: it has none yet."""

    name: str
    format: ChatFormat
    certificate: Certificate | None


def _mentions(probed: ProbeResult, template: ChatTemplate, assumed: tuple[str, ...]) -> Mentions:
    """What the template mentions, by its text and its variables."""
    found = probed.capabilities
    return Mentions(
        calls="tool_calls" in template.source,
        tools=found.tools,
        assumed=assumed,
        reasoning=bool(probed.thinking_variables or found.thinking_switches or found.reasoning),
    )


def _with_setting(best: _Choice, certifier: Certifier, found: Examined, setting: tuple[str, Any]) -> _Choice:
    """The derived format with the output of another setting of a variable as further forms, if nothing gets lost."""
    known = best.certificate
    if known is None or all(item.verdict != "other setting" for item in known.items):
        return best
    inputs = found.probed.inputs.with_variable(*setting)
    probed = msgspec.structs.replace(found.probed, inputs=inputs, switches=(), notations=())
    seen = observe(found.renderer, probed)
    other = infer_format(seen, found.renderer, probed, found.template, found.eos)
    spec = widened(best.format.spec, other.spec)
    if spec is None or not seen.turns:
        return best
    fmt = ChatFormat(spec)
    certificate = certifier.certify(fmt, found.inferred.findings)
    _log.debug("with the notation of %s = %r: %s", *setting, certificate.summary)
    return _Choice(best.name, fmt, certificate) if _beats(certificate, known, in_tie=False) else best


def _with_named_formats(best: _Choice, certifier: Certifier, derived: FormatSpec) -> _Choice:
    """The registered format with the best certificate, if it beats the derived one."""
    tried = [_without_aliases(best.format)] if best.certificate is not None else []
    for name in names():
        named = get(name)
        # A template shows only some headers of messages; a format that knows all reads more than the renders show.
        in_tie = best.name == "derived" and _has_headers_of(named.spec, derived)
        if best.certificate is not None and best.certificate.clean and not in_tie:
            continue
        # A template cannot certify a format whose calls it never shows. Most formats do not even look alike.
        if best.certificate is not None and not certifier.looks_alike(named):
            continue
        for candidate in _candidates(named, derived):
            spec = _without_aliases(candidate)
            if spec in tried:
                continue
            tried.append(spec)
            known = best.certificate
            if known is not None and candidate.spec.tools is not None and not certifier.reads_calls(candidate):
                continue
            give_up_after = max(_MIN_GIVE_UP_AFTER, len(known.failing) + 1 if known is not None else 0)
            certificate = certifier.rival(candidate, known, give_up_after)
            _log.debug("named format %s: %s", name, "no better" if certificate is None else certificate.summary)
            if certificate is None:
                continue
            proved = candidate.spec.tools is None or certificate.covers("T")
            if known is None or (proved and _beats(certificate, known, in_tie=in_tie)):
                best = _Choice(name, candidate, certificate)
    return best


def _has_headers_of(named: FormatSpec, derived: FormatSpec) -> bool:
    """Whether the derived format writes turns in messages with the headers that the named one knows."""
    known, shown = named.messages, derived.messages
    return known is not None and shown is not None and (known.body, set(known.start)) == (shown.body, set(shown.start))


def _without_aliases(fmt: ChatFormat) -> FormatSpec:
    """The format without its names and its prompt: formats that are then equal share one certificate."""
    named = fmt.spec.aliases or fmt.spec.families or fmt.spec.prompt is not None
    return msgspec.structs.replace(fmt.spec, aliases=(), families=(), prompt=None) if named else fmt.spec


def _beats(one: Certificate, other: Certificate, *, in_tie: bool) -> bool:
    """Whether a certificate is better than another: it loses no message, and more come back or fewer fail.

    Findings do not count: they are objections to the derivation of a format, and a named one was not derived.
    `in_tie`: it is also better if as many come back and as many fail.
    """
    tried = {item.name for item in one.items}
    if (other.read_back & tried) - one.read_back or sum(one.coverage.values()) < sum(other.coverage.values()):
        return False
    gain, relief = len(one.read_back - other.read_back), len(other.failing) - len(one.failing)
    return relief >= 0 and (gain > 0 or relief > 0 or in_tie)


def _candidates(named: ChatFormat, derived: FormatSpec) -> Iterator[ChatFormat]:
    """A named format with the frame of the derived one, and then also with its reasoning."""
    framed = named.spec
    if framed.messages is None:
        framed = msgspec.structs.replace(framed, anchor=derived.anchor, end_of_turn=derived.end_of_turn, markers=())
        framed = msgspec.structs.replace(framed, markers=used_markers(framed, named.spec.markers))
    yield ChatFormat(framed, name=named.name)
    if derived.reasoning is not None and framed.tools is not None and framed.messages is None:
        try:
            yield ChatFormat(framed).combine(reasoning=ChatFormat(derived))
        except FormatError:
            return
