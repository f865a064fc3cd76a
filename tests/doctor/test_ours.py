"""The server of this package keeps to the protocol: on the model that ships with it, over a socket."""

from __future__ import annotations

import pytest

import syntagma as sg
from syntagma.doctor import diagnose
from syntagma.serving import Operations, ServedModel, Settings, create_app
from syntagma.serving.keys import key_of
from tests.serving.live import listening

KEY = "the-key-of-a-team"


@pytest.mark.some(1)
@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_the_shipped_model_has_no_fault(field: str) -> None:
    settings = Settings(reasoning_fields=(field,), operations=Operations(keys=(key_of(KEY),)))  # type: ignore[arg-type]
    with listening(create_app(ServedModel(*sg.backends.load("embedded")), settings)) as url:
        report = diagnose(url, api_key=KEY, timeout=60)
    verdicts = {result.id: (result.verdict, result.said) for result in report.results}
    assert report.faults == ()
    assert verdicts["reasoning.fields"] == ("held", field)
    assert {name for name, (verdict, _) in verdicts.items() if verdict != "held"} <= {"reasoning.counted"}
