"""What tests of hooks share: libraries' methods that we override or call, with the signature that we rely on."""

from __future__ import annotations

import inspect

__all__ = ["signature_of"]


def signature_of(owner: type, name: str) -> str:
    """The parameters of a method, without annotations; a sentence where it is gone."""
    function = getattr(owner, name, None)
    if function is None:
        return "nothing: it is gone"
    signature = inspect.signature(function)
    parameters = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    return str(inspect.Signature(parameters))
