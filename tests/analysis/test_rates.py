"""Certificates are judged by messages that they do not know: none is clean where one of these does not come back."""

from __future__ import annotations

import pytest

from . import rates
from .invented import NAMES, derived, template
from .truth import problems


@pytest.mark.some(20)
@pytest.mark.parametrize("name", NAMES)
def test_no_certificate_of_an_invented_family_is_falsely_clean(name: str) -> None:
    certificate = derived(name).certificate
    assert certificate is not None
    assert not certificate.clean or list(problems(template(name), derived(name))) == []


@pytest.mark.long
def test_no_certificate_of_a_further_shape_is_falsely_clean() -> None:
    judged = list(rates.of_shapes())
    assert [one.name for one in judged if one.clean and one.problems] == []
    assert len([one for one in judged if one.problems]) >= 3
