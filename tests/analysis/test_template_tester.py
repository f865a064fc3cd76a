"""`TemplateTester`: what holds passes, and every kind of slip is found."""

from __future__ import annotations

from pathlib import Path

import pytest

import syntagma as sg
from syntagma.errors import TemplateTestError
from syntagma.testing import TemplateTester

from .cases import TEMPLATES, template

pytest_plugins = ["pytester"]

TOOL = {"name": "brew", "parameters": {"type": "object", "properties": {"leaf": {"type": "string"}}}}
CALL = {"id": "", "type": "function", "function": {"name": "brew", "arguments": {"leaf": "mint"}}}
ANSWER = {"role": "assistant", "reasoning_content": "Hm.", "content": "It is.", "tool_calls": [CALL]}
RAW = '<muse>\nHm.\n</muse>\n\nIt is.\n<invoke>\n{"name": "brew", "arguments": {"leaf": "mint"}}\n</invoke>'


def _tester(name: str = "tags-json") -> TemplateTester:
    return TemplateTester(template(name)).tools([TOOL])


def test_what_the_template_renders_comes_back() -> None:
    read = _tester().expect(ANSWER).check()
    assert read.content == "It is."
    assert read.tool_calls[0].name == "brew"


def test_an_output_is_read() -> None:
    assert _tester().output(RAW).check().reasoning_content == "Hm."
    _tester().output(RAW + "<|stop|>\n").expect(ANSWER).check()


def test_settings_of_the_request_count() -> None:
    tester = _tester("forced-open")
    opened = tester.request(template_kwargs={"enable_thinking": True})
    assert opened.output("Hm.\n</think>\n\nYes.").without_grammar().check().reasoning_content is not None
    closed = tester.request(template_kwargs={"enable_thinking": False})
    assert closed.output("Yes.").check().content == "Yes."
    assert opened.request(reasoning_format="none").output("Yes.").without_grammar().check().reasoning_content is None


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"content": "It was."}, "content: 'It is.' instead of 'It was.'"),
        ({"reasoning_content": "Ah."}, "reasoning_content"),
        ({"tool_calls": []}, "the number of calls"),
        ({"tool_calls": [{**CALL, "function": {"name": "boil", "arguments": {"leaf": "mint"}}}]}, "the name of call 0"),
        ({"tool_calls": [{**CALL, "function": {"name": "brew", "arguments": {"leaf": 1}}}]}, "the arguments of call 0"),
        ({"tool_calls": [{**CALL, "id": "abc"}]}, "the id of call 0"),
    ],
)
def test_other_messages_are_told(changed: dict[str, object], said: str) -> None:
    with pytest.raises(TemplateTestError, match=said):
        _tester().output(RAW).expect({**ANSWER, **changed}).check()


def test_the_grammar_is_asked() -> None:
    wrong = RAW.replace('"brew"', '"boil"')
    with pytest.raises(AssertionError, match="the grammar rejects the output after"):
        _tester().output(wrong).check()
    assert _tester().output(wrong).without_grammar().check().tool_calls
    with pytest.raises(TemplateTestError, match="does not allow the output to end here"):
        _tester().output(RAW.removesuffix("</invoke>")).check()


def test_a_template_that_does_not_continue_its_prompt() -> None:
    source = template("tags-json").source.replace("{{ '<|bot|>' }}{% endif %}", "{{ '<|boot|>' }}{% endif %}")
    with pytest.raises(TemplateTestError, match=r"does not begin with the prompt"):
        TemplateTester(source).expect({"role": "assistant", "content": "Yes."}).check()


def test_a_format_may_be_given() -> None:
    fmt = sg.ChatFormat.from_toml('[tools]\ncall = "<c>{name} {arguments}</c>"\n')
    tester = TemplateTester(template("plain"), fmt).tools([TOOL])
    assert tester.output('<c>brew {"leaf": "mint"}</c>').check().tool_calls[0].name == "brew"


def test_testers_do_not_change() -> None:
    first = _tester()
    first.output("Yes.")
    with pytest.raises(sg.ArgumentError, match="nothing to check"):
        first.check()


def test_the_fixture(pytester: pytest.Pytester) -> None:
    path = Path(TEMPLATES / "tags-json.jinja")
    pytester.makeconftest('pytest_plugins = ["syntagma.testing.pytest_plugin"]')
    pytester.makepyfile(
        f"""
        def test_answer(template_tester):
            tester = template_tester({str(path)!r}, eos_token="</s>")
            assert template_tester({str(path)!r}, eos_token="</s>") is tester
            tester.expect({{"role": "assistant", "content": "Yes."}}).check()

        def test_wrong(template_tester):
            template_tester({str(path)!r}).output("No.").expect({{"role": "assistant", "content": "Yes."}}).check()
        """
    )
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=1, failed=1)
