"""No template uses up the machine: what is too much is refused before it is made."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import bound_attacks
import pytest

from syntagma.errors import LimitError, SyntagmaError, TemplateError
from syntagma.limits import Limits
from syntagma.templates import ChatTemplate

_PROGRAM = Path(bound_attacks.__file__)
# The clock is a bound as well, and on a busy machine it may come first.
_CLOCK = "E-LIMIT-TEMPLATE-TIME"


def _limit_process() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (300, 300))


@pytest.fixture(scope="module")
def outcome() -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(_PROGRAM)], capture_output=True, text=True, check=True, preexec_fn=_limit_process
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("name", bound_attacks.ATTACKS)
def test_an_attack_ends_in_its_error(outcome: dict[str, Any], name: str) -> None:
    assert outcome["codes"][name] in (bound_attacks.ATTACKS[name][1], _CLOCK)


def test_no_attack_takes_much_memory(outcome: dict[str, Any]) -> None:
    assert outcome["memory"]["endless macro"] < 200
    assert max(outcome["memory"].values()) < 400


def test_the_clock_ends_what_steps_do_not() -> None:
    source = "{% for i in range(900000) %}{% endfor %}"
    limits = Limits(template_steps=10**9, template_seconds=0.01)
    with pytest.raises(LimitError) as raised:
        ChatTemplate(source, limits=limits).render([])
    assert raised.value.code == _CLOCK
    assert raised.value.limit == "template_seconds"


def test_the_bound_on_steps_grows_with_the_messages() -> None:
    source = "{% for one in messages %}{% for other in messages %}{% set x = other.role %}{% endfor %}{% endfor %}"
    messages = [{"role": "user", "content": "a text of some length, as people write it"}] * 1200
    patient = Limits(template_seconds=1000.0)
    assert ChatTemplate(source, limits=patient).render(messages) == ""
    for limits in (
        Limits(template_seconds=1000.0, template_steps_per_character=0),
        Limits(template_seconds=1000.0, template_steps_per_character=10),
    ):
        with pytest.raises(LimitError) as raised:
            ChatTemplate(source, limits=limits).render(messages)
        assert (raised.value.code, raised.value.limit) == ("E-LIMIT-TEMPLATE-STEPS", "template_steps")
    endless = "{% for one in range(600000) %}{% endfor %}"
    with pytest.raises(LimitError):
        ChatTemplate(endless, limits=patient).render(messages[:2])
    assert ChatTemplate(endless, limits=patient).render(messages) == ""


def test_members_are_looked_up_as_before() -> None:
    source = "{% set m = messages[0] %}{{ m.keys() | list }}{{ m.role }}{{ m.get('role') }}[{{ m.nothing }}]"
    source += "{% set ns = namespace(a=1, none_yet=none) %}{{ ns.a }}{{ ns.none_yet }}[{{ ns.b }}]"
    shown = ChatTemplate(source).render([{"role": "user", "keys": "x"}])
    assert shown == "['role', 'keys']useruser[]1None[]"
    private = "{{ messages[0].__class__ }}{{ namespace(a=1)._Namespace__attrs }}{{ messages[0]._role }}"
    assert ChatTemplate(private).render([{"role": "user"}]) == ""
    with pytest.raises(TemplateError):
        ChatTemplate("{{ messages[0].pop('role') }}").render([{"role": "user"}])


def test_limits_are_inclusive() -> None:
    limits = Limits(template_output_bytes=10, template_items=10, template_integer_bits=8, template_steps=40)
    for fine, too_much in (
        ("{{ 'x' * 10 }}", "{{ 'x' * 11 }}"),
        ("{{ 'xxxxx' ~ 'xxxxx' }}", "{{ 'xxxxx' ~ 'xxxxxx' }}"),
        ("{{ 'xxxxx' }}{{ 'xxxxx' }}", "{{ 'xxxxx' }}{{ 'xxxxxx' }}"),
        ("{{ ([1] * 10) | length }}", "{{ ([1] * 11) | length }}"),
        ("{{ range(10) | length }}", "{{ range(11) | length }}"),
        ("{{ 254 + 1 }}", "{{ 254 + 2 ** 70 }}"),
        (
            "{% for i in range(9) %}{% for j in [1, 2, 3] %}{% endfor %}{% endfor %}",
            "{% for i in range(10) %}{% for j in [1, 2, 3, 4] %}{% endfor %}{% endfor %}",
        ),
    ):
        ChatTemplate(fine, limits=limits).render([])
        with pytest.raises(LimitError):
            ChatTemplate(too_much, limits=limits).render([])


@pytest.mark.parametrize(
    ("field", "source"),
    [("template_bytes", "{{ 1 }}"), ("template_nesting", "{% if 1 %}{% if 1 %}{% endif %}{% endif %}")],
)
def test_the_source_is_bounded_at_the_limit_and_one_past_it(field: str, source: str) -> None:
    exact = len(source) if field == "template_bytes" else 2
    ChatTemplate(source, limits=Limits(**{field: exact}))
    with pytest.raises(LimitError) as raised:
        ChatTemplate(source, limits=Limits(**{field: exact - 1}))
    assert raised.value.limit == field


def test_data_that_holds_itself_is_refused() -> None:
    message: dict[str, Any] = {"role": "user"}
    message["content"] = [message]
    with pytest.raises(LimitError) as raised:
        ChatTemplate("{{ messages }}").render([message])
    assert raised.value.code == "E-LIMIT-TEMPLATE-INPUT"
    assert str(raised.value.pointer).startswith("/messages/0/content/0/content")


def test_data_is_bounded() -> None:
    limits = Limits(template_items=100)
    template = ChatTemplate("x", limits=limits)
    template.render([{"role": "user", "content": list(range(80))}])
    with pytest.raises(LimitError):
        template.render([{"role": "user", "content": list(range(120))}])


def test_a_list_that_was_made_to_hold_itself_is_refused() -> None:
    source = "{% set x = [] %}{% for i in range(9) %}{{ x.append([x, x]) or '' }}{% endfor %}"
    for use in ("{{ x }}", "{{ x | tojson }}", "{{ x == [x] }}"):
        with pytest.raises(SyntagmaError) as raised:
            ChatTemplate(source + use).variant(lenient=True).render([])
        assert isinstance(raised.value, LimitError)


def test_an_error_says_the_line() -> None:
    with pytest.raises(LimitError) as raised:
        ChatTemplate("a\nb\n{{ 'x' * 2000000000 }}\n").render([])
    assert raised.value.line == 3
