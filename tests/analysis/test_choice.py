"""The choice between the derived format and named ones: cheaper than all certificates, and the same as with them."""

from __future__ import annotations

import pytest

from syntagma import formats
from syntagma.analysis import analyze
from syntagma.analysis.analysis import examine
from syntagma.templates import ChatTemplate
from tests.analysis.generated import template_of

NAMES = [name for name in formats.names() if formats.get(name).spec.tools is not None]


@pytest.mark.some(10)
@pytest.mark.parametrize("name", NAMES)
def test_a_named_format_loses_nothing_that_the_derived_one_reads(name: str) -> None:
    template = ChatTemplate(template_of(formats.get(name).spec, "loop"))
    found = analyze(template)
    assert found.certificate is not None
    examined = examine(template)
    derived = examined.certifier().certify(found.derived, examined.inferred.findings)
    if found.chosen == "derived":
        assert found.certificate.coverage == derived.coverage
        return
    tried = {item.name for item in found.certificate.items}
    assert derived.read_back & tried <= found.certificate.read_back or derived.failing
    assert len(found.certificate.failing) <= len(derived.failing)


@pytest.mark.parametrize("name", NAMES)
def test_a_format_looks_like_the_calls_of_its_own_templates(name: str) -> None:
    examined = examine(ChatTemplate(template_of(formats.get(name).spec, "loop")))
    certifier = examined.certifier()
    if certifier.shows_calls:
        assert certifier.looks_alike(formats.get(name))
