"""`analyze`: a template's format, derived from renders alone, with its certificate."""

from __future__ import annotations

import hashlib
import logging
import os
import sys
from collections.abc import Collection, Iterator, Mapping, MutableMapping
from typing import Any, Literal, TypeAlias

import msgspec

from syntagma.analysis.cache import RECENT, AnalysisFolder
from syntagma.analysis.certify.certificate import Certificate
from syntagma.analysis.certify.certifier import Certifier, Mentions
from syntagma.analysis.certify.outputs import TemplateOutputs
from syntagma.analysis.choice import Choice, beats, with_named_formats
from syntagma.analysis.infer.format import Inference, infer_format
from syntagma.analysis.infer.frame import Frame
from syntagma.analysis.infer.widening import widened
from syntagma.analysis.layout import GenerationPrompt, layout_of
from syntagma.analysis.locate.observations import Observations, observe
from syntagma.analysis.named import Evidence, supports
from syntagma.analysis.probe.inputs import ProbeResult, probe_inputs
from syntagma.analysis.render.turn_renderer import TurnRenderer
from syntagma.analysis.result import Analysis
from syntagma.decoding import TokenizerInfo
from syntagma.entry import entry
from syntagma.errors import ArgumentError, ArgumentTypeError
from syntagma.formats import ChatFormat
from syntagma.formats.registry import registry
from syntagma.templates import ChatTemplate

__all__ = ["Examined", "Vocabulary", "analyze", "certify_format", "examine"]

_log = logging.getLogger("syntagma.analysis")

Candidates: TypeAlias = Literal["all", "derived", "named"]
Vocabulary: TypeAlias = TokenizerInfo | Collection[str]
"""a vocabulary, or the texts of its special and added tokens"""


@entry
def analyze(
    template: ChatTemplate | str,
    *,
    certify: bool = True,
    candidates: Candidates = "all",
    cache: MutableMapping[str, Analysis] | str | os.PathLike[str] | None = None,
    seed: int = 0,
    vocabulary: Vocabulary | None = None,
    config: Mapping[str, Any] | None = None,
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
        config: the model's configuration, as `config.json` has it; only its `model_type` is read, to break ties.

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
    parts.append((config or {}).get("model_type"))
    key = hashlib.sha256(msgspec.json.encode(parts)).hexdigest()
    found = kept.get(key)
    if found is None:
        found = _analyze(
            template, certify=certify, candidates=candidates, seed=seed, control_tokens=control_tokens, config=config
        )
        kept[key] = found
    return found


class Examined(msgspec.Struct, frozen=True):
    """A template before certification: the results of the first four stages."""

    template: ChatTemplate
    renderer: TurnRenderer
    probed: ProbeResult
    seen: Observations
    inferred: Inference

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
    # Conversations of made-up words, rendered within bounds.
    renderer = TurnRenderer(template, seed)
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
    inferred = infer_format(seen, renderer, probed, template)
    for evidence in inferred.evidence:
        _log.debug("found %s: %r, from %s", evidence.what, evidence.text, evidence.seen)
    for finding in inferred.findings:
        _log.info("%s: %s", finding.code, finding.message)
    return Examined(template, renderer, probed, seen, inferred)


def _analyze(
    template: ChatTemplate,
    *,
    certify: bool,
    candidates: Candidates,
    seed: int,
    control_tokens: Collection[str] | None,
    config: Mapping[str, Any] | None,
) -> Analysis:
    """All stages; the last one certifies, and tries named formats if the derived one has no clean certificate."""
    found = examine(template, seed)
    inferred, probed = found.inferred, found.probed
    derived = ChatFormat(inferred.spec)
    evidence = Evidence.of(found.renderer, probed, template.string_literals(), control_tokens, config)
    support = supports(evidence, inferred.spec) if certify else {}
    assumed: tuple[str, ...] = ()
    if probed.capabilities.tools and not probed.max_calls:
        support = support or supports(evidence, inferred.spec)
        best = max(one.prompt for one in support.values())
        assumed = tuple(name for name, one in support.items() if best and one.prompt == best)
    choice = Choice(name="derived", format=derived, certificate=None)
    if certify:
        certifier = found.certifier(assumed)

        def certified() -> Choice:
            return choice if candidates == "named" else _certified(found, certifier)

        if candidates == "derived":
            choice = certified()
        else:
            choice = with_named_formats(inferred.spec, certified, certifier, evidence, support)
        _log.info(
            "format %s, certificate %s", choice.name, choice.certificate.summary if choice.certificate else "none"
        )
    frame = inferred.frame.with_eos(template.eos_token)
    prompts = tuple(_generation_prompts(choice.format, found.renderer, probed, frame))
    return Analysis(
        format=choice.format,
        derived=choice.derived or derived,
        chosen=choice.name,
        capabilities=probed.capabilities,
        evidence=inferred.evidence,
        certificate=choice.certificate,
        prompts=prompts,
        layout=layout_of(choice.format, prompts, {located.shape for located in found.seen.turns}),
        assumed=assumed,
        reasons=choice.reasons,
        alternatives=choice.alternatives,
        renders=found.renderer.bounded.count,
    )


def _generation_prompts(
    fmt: ChatFormat, renderer: TurnRenderer, probed: ProbeResult, frame: Frame
) -> Iterator[GenerationPrompt]:
    """The generation prompt of each setting, without tools and then with one, if the template renders it."""
    for tools in (False, True):
        for setting in (None, *probed.switches):
            settings = {} if setting is None else {setting[0]: setting[1]}
            text = renderer.prompt(probed.inputs, settings, tools=tools)
            if text is not None:
                text = text.replace(renderer.eos, frame.eos)
                state = fmt.start_state(text, template_kwargs=settings)
                shown = text.removeprefix(frame.user_close)
                yield GenerationPrompt(settings=settings, tools=tools, text=shown, reasoning=state.reasoning)


def _mentions(probed: ProbeResult, template: ChatTemplate, assumed: tuple[str, ...]) -> Mentions:
    """What the template mentions, by its text and its variables."""
    found = probed.capabilities
    return Mentions(
        calls="tool_calls" in template.source,
        tools=found.tools,
        assumed=assumed,
        reasoning=bool(probed.thinking_variables or found.thinking_switches or found.reasoning),
    )


def _certified(found: Examined, certifier: Certifier) -> Choice:
    """The derived format with its certificate, and with what other settings write as further forms."""
    derived = ChatFormat(found.inferred.spec)
    choice = Choice(name="derived", format=derived, certificate=certifier.certify(derived, found.inferred.findings))
    for setting in found.probed.notations:
        choice = _with_setting(choice, certifier, found, setting)
    return msgspec.structs.replace(choice, derived=choice.format)


def _with_setting(best: Choice, certifier: Certifier, found: Examined, setting: tuple[str, Any]) -> Choice:
    """The derived format with the output of another setting of a variable as further forms, if nothing gets lost."""
    known = best.certificate
    if known is None or all(item.verdict != "other setting" for item in known.items):
        return best
    inputs = found.probed.inputs.with_variable(*setting)
    probed = msgspec.structs.replace(found.probed, inputs=inputs, switches=(), notations=())
    seen = observe(found.renderer, probed)
    other = infer_format(seen, found.renderer, probed, found.template)
    spec = widened(best.format.spec, other.spec)
    if spec is None or not seen.turns:
        return best
    fmt = ChatFormat(spec)
    certificate = certifier.rival(fmt, known, len(known.failing) + 1, findings=found.inferred.findings)
    _log.debug("with the notation of %s = %r: %s", *setting, "no" if certificate is None else certificate.summary)
    if certificate is None or not beats(certificate, known, in_tie=False):
        return best
    return msgspec.structs.replace(best, format=fmt, certificate=certificate)
