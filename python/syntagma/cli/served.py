"""Which models `syntagma serve` serves, from its options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from syntagma import backends, formats, upstreams
from syntagma.codec import ChatCodec
from syntagma.errors import RequestError
from syntagma.templates import ChatTemplate

if TYPE_CHECKING:
    from syntagma.generation.remote import Lookalikes, Unheld
    from syntagma.serving import ServedModel

__all__ = ["computed_here", "written_elsewhere"]

_SHIPPED = "embedded"


def computed_here(
    model: str | None, *, name: str | None, chat_template: str | None, format: str | None
) -> list[ServedModel]:
    """The one model that runs in this process."""
    from syntagma.serving import ServedModel

    engine, codec = backends.load(model or _SHIPPED)
    template = codec.template
    if chat_template is not None:
        tokens = {} if template is None else {"bos_token": template.bos_token, "eos_token": template.eos_token}
        template = ChatTemplate.from_file(chat_template, **tokens)
    if format is not None:
        codec = ChatCodec.from_format(formats.get(format), template)
    elif chat_template is not None and template is not None:
        codec = ChatCodec.from_template(template)
    return [ServedModel(engine, codec, name=name)]


def written_elsewhere(
    addresses: Sequence[str],
    *,
    model: str | None,
    name: str | None,
    chat_template: str | None,
    format: str | None,
    unheld: Unheld,
    lookalikes: Lookalikes,
    api_key: str | None,
    timeout: float,
) -> list[ServedModel]:
    """The models of engines that run already: addresses of one name are one model.

    Raises:
        RequestError: `E-REQUEST-ARGUMENT`, two models have one name.
        UpstreamError: an engine cannot be used.
    """
    from syntagma.serving import ServedModel

    groups: dict[str | None, list[str]] = {}
    for text in addresses:
        named, equals, address = text.partition("=")
        # An address may hold an equals sign, too, behind the colon of its kind.
        known = bool(equals) and ":" not in named
        groups.setdefault(named if known else name, []).append(address if known else text)
    served = []
    for group, members in groups.items():
        engine, codec = upstreams.load(
            *members, model=model, chat_template=chat_template, format=format, api_key=api_key, timeout=timeout
        )
        served.append(ServedModel(engine, codec, name=group, unheld=unheld, lookalikes=lookalikes))
    names = [one.name for one in served]
    if len(set(names)) < len(names):
        raise RequestError(
            "E-REQUEST-ARGUMENT",
            f"two models are called {max(names, key=names.count)!r}",
            hint="name them: --upstream NAME=KIND:URL",
        )
    return served
