"""The models of `syntagma serve`, from its options, and the files that they follow."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from syntagma import backends, upstreams
from syntagma.cli.inputs import load_format, of_file
from syntagma.cli.limits_option import limits_of
from syntagma.codec import ChatCodec
from syntagma.errors import RequestError, UpstreamError
from syntagma.templates import ChatTemplate

if TYPE_CHECKING:
    from syntagma.cli.serve_options import ServeOptions
    from syntagma.serving import ServedModel

__all__ = ["codec_maker", "models_of", "watched_files"]

_log = logging.getLogger("syntagma.serving")

_SHIPPED = "embedded"
_FILE_OF_FORMAT = ".toml"


def models_of(options: ServeOptions) -> tuple[list[ServedModel], dict[str, Callable[[], ServedModel]]]:
    """The models to serve, and what loads those whose engines cannot be reached yet, by name.

    Raises:
        SyntagmaError: a model cannot be loaded, none can be reached, or options contradict each other.
    """
    return _elsewhere(options, options.upstream) if options.upstream else ([_here(options)], {})


def _told(options: ServeOptions, served: ServedModel) -> ServedModel:
    """The model, after saying how sure its format is, unless it was named.

    Raises:
        FormatError: `E-FORMAT-UNSURE`, it is less sure than `--require` says.
    """
    found = served.codec.resolution
    if found is None:
        return served
    if options.require is not None:
        found.require("proved" if options.require == "proved" else "supported")
    if found.is_unsure:
        _log.warning("%s: %s; --format NAME settles it", served.name, found.line)
    else:
        _log.info("%s: %s", served.name, found.line)
    return served


def _here(options: ServeOptions) -> ServedModel:
    """The model that runs in this process."""
    from syntagma.serving import ServedModel

    engine, codec = backends.load(options.model or _SHIPPED)
    served = ServedModel(
        engine,
        codec_maker(options, codec)(),
        name=options.name,
        history=options.history,  # type: ignore[arg-type]
    )
    return _told(options, served)


def _elsewhere(
    options: ServeOptions, addresses: list[str]
) -> tuple[list[ServedModel], dict[str, Callable[[], ServedModel]]]:
    """The models of running engines, and what loads those that cannot be reached yet, by name.

    Addresses with the same name are one model.
    """
    from syntagma.serving import ServedModel

    groups: dict[str | None, list[str]] = {}
    for text in addresses:
        named, equals, address = text.partition("=")
        # The address may contain an equals sign as well, after the colon of its kind.
        known = bool(equals) and ":" not in named
        groups.setdefault(named if known else options.name, []).append(address if known else text)

    def load(group: str | None, members: list[str]) -> ServedModel:
        engine, codec = upstreams.load(
            *members,
            model=options.model,
            chat_template=options.chat_template,
            format=None if (chosen := _named(options)) is None else load_format(chosen),
            api_key=options.upstream_key,
            timeout=options.upstream_timeout,
        )
        model = ServedModel(
            engine,
            _limited(options, codec) if options.reasoning_format is None else codec_maker(options, codec)(),
            name=group,
            unheld=options.unheld,  # type: ignore[arg-type]
            lookalikes=options.lookalikes,  # type: ignore[arg-type]
            history=options.history,  # type: ignore[arg-type]
        )
        return _told(options, model)

    served: list[ServedModel] = []
    late: dict[str, Callable[[], ServedModel]] = {}
    for number, (group, members) in enumerate(groups.items(), 1):
        try:
            served.append(load(group, members))
        except UpstreamError as error:
            # Without a name it is not known which model is missing; and one that is served must be left.
            if not error.again or group is None or (number == len(groups) and not served):
                raise
            _log.warning("%s is not served until its engine answers: %s (%s)", group, error.message, error.source)
            late[group] = partial(load, group, members)
    names = [one.name for one in served]
    if len(set(names)) < len(names):
        raise RequestError(
            "E-REQUEST-ARGUMENT",
            f"two models have the name {max(names, key=names.count)!r}",
            hint="name them: --upstream NAME=KIND:URL",
        )
    return served, late


def codec_maker(options: ServeOptions, loaded: ChatCodec) -> Callable[[], ChatCodec]:
    """A function that makes the codec from the options, under their limits, reading the files each time.

    Args:
        options: the options, with an optional template, format and reasoning format.
        loaded: the model's own codec.
    """

    def made() -> ChatCodec:
        template, codec = loaded.template, loaded
        if options.chat_template is not None:
            tokens = {} if template is None else {"bos_token": template.bos_token, "eos_token": template.eos_token}
            template = ChatTemplate.from_file(options.chat_template, **tokens)
            if _named(options) is None:
                with of_file(options.chat_template):
                    codec = ChatCodec.from_template(template)
        if (named := _named(options)) is not None:
            codec = ChatCodec.from_format(load_format(named), template)
        if options.reasoning_format is not None:
            reasoning = load_format(options.reasoning_format)
            codec = ChatCodec.from_format(codec.format.combine(reasoning=reasoning), template)
        return _limited(options, codec)

    return made


def _limited(options: ServeOptions, codec: ChatCodec) -> ChatCodec:
    """The codec under the limits of `--limits`."""
    return codec.with_limits(limits_of(options)) if options.limits else codec


def _named(options: ServeOptions) -> str | None:
    """The format that was named; None: it is found."""
    return None if options.format == "auto" else options.format


def watched_files(options: ServeOptions) -> list[Path]:
    """The files that the server reloads when they change."""
    formats = [name for name in (options.format, options.reasoning_format) if name and name.endswith(_FILE_OF_FORMAT)]
    return [Path(name) for name in (*formats, options.chat_template) if name is not None]
