"""What goes wrong in a template is said with a code, a line and, where it helps, the place."""

from __future__ import annotations

import pickle
import threading
from datetime import date, datetime
from typing import Any

import pytest

from syntagma.errors import ArgumentTypeError, TemplateError
from syntagma.limits import Limits
from syntagma.messages import Message, Tool, ToolCall
from syntagma.templates import ChatTemplate

USER = [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("source", "line", "column"),
    [
        ("a\n{% if x %}\nb", 3, None),
        ("a\n{{ 1 + }}", 2, None),
        ("{% nonsense %}", 1, 4),
        ("x\n\n{{ a | unheard_of }}", 3, 8),
        ("{% for %}", 1, None),
        ("{{ 'x }}", 1, None),
        ("{% break %}", None, None),
    ],
)
def test_a_template_that_cannot_be_read(source: str, line: int | None, column: int | None) -> None:
    with pytest.raises(TemplateError) as raised:
        ChatTemplate(source, name="broken")
    assert raised.value.code == "E-TEMPLATE-SYNTAX"
    assert (raised.value.line, raised.value.column) == (line, column)
    assert raised.value.source == "broken"
    if column is not None:
        row, caret = str(raised.value.excerpt).split("\n")
        assert caret.index("^") == column - 1
        assert row in source


@pytest.mark.parametrize(
    ("expression", "code", "message"),
    [
        ("raise_exception('Roles must alternate!')", "E-TEMPLATE-RAISED", "Roles must alternate!"),
        ("nothing.at.all", "E-TEMPLATE-UNDEFINED", "'nothing' is undefined"),
        ("messages[0].nothing.more", "E-TEMPLATE-UNDEFINED", "'dict object' has no attribute 'nothing'"),
        ("1 + 'a'", "E-TEMPLATE-TYPE", "unsupported operand type(s) for +: 'int' and 'str'"),
        ("''.__class__.__mro__", "E-TEMPLATE-SECURITY", "access to attribute '__class__' of 'str' object is unsafe."),
        ("messages.append(1)", "E-TEMPLATE-SECURITY", "access to attribute 'append' of 'list' object is unsafe."),
        ("messages.__len__()", "E-TEMPLATE-SECURITY", "access to attribute '__len__' of 'list' object is unsafe."),
        ("1 // 0", "E-TEMPLATE-RUNTIME", "ZeroDivisionError: integer division or modulo by zero"),
    ],
)
def test_a_template_that_fails(expression: str, code: str, message: str) -> None:
    source = "first\n{% for m in messages %}\n  {% if true %}\n  {{ " + expression + " }}\n{% endif %}{% endfor %}"
    with pytest.raises(TemplateError) as raised:
        ChatTemplate(source).render(USER)
    assert (raised.value.code, raised.value.message, raised.value.line) == (code, message, 4)


def test_the_line_is_that_of_the_macro_that_failed() -> None:
    source = "{% macro m() %}\n\n{{ nothing.x }}{% endmacro %}\n\n\n{{ m() }}"
    with pytest.raises(TemplateError) as raised:
        ChatTemplate(source).render(USER)
    assert raised.value.line == 3


@pytest.mark.parametrize(
    "attack",
    [
        "{{ ().__class__.__bases__[0].__subclasses__() }}",
        "{{ ''['__class__'] ~ ''['__class__'].x }}",
        "{{ '{0.__class__.x}'.format('') }}",
        "{{ '{a.__class__.x}'.format_map({'a': ''}) }}",
        "{{ ('{0.__class__.x}' | attr('format'))('') }}",
        "{{ ['{0.__class__.x}'] | map(attribute='format') | first | attr('__wrapped__') | attr('x') }}",
        "{{ namespace.__init__.__globals__ }}",
        "{{ range.__self__.x }}",
        "{{ raise_exception.__globals__.x }}",
        "{{ strftime_now.__call__.x }}",
        "{{ strftime_now._now.x }}",
        "{{ self._TemplateReference__context.x }}",
        "{{ joiner.__init__.__globals__.x }}",
        "{{ (messages | map('upper')).gi_frame.x }}",
        "{% macro m() %}{% endmacro %}{{ m._func.x }}",
        "{{ messages | map(attribute='__class__.x') | list }}",
        "{% set messages[0] = 1 %}",
        "{{ {}.keys().mapping.x }}",
    ],
)
def test_nothing_gets_out_of_the_sandbox(attack: str) -> None:
    with pytest.raises(TemplateError) as raised:
        ChatTemplate(attack).render(USER)
    assert raised.value.code in {"E-TEMPLATE-SECURITY", "E-TEMPLATE-UNDEFINED", "E-TEMPLATE-SYNTAX"}


@pytest.mark.parametrize(
    "name",
    [
        *(
            "messages",
            "tools",
            "documents",
            "add_generation_prompt",
            "continue_final_message",
            "bos_token",
            "eos_token",
        ),
        *("raise_exception", "strftime_now", "tojson", "namespace", "range", "pad_token"),
    ],
)
def test_reserved_names(name: str) -> None:
    template = ChatTemplate("{{ x }}", special_tokens={"pad_token": "<pad>"})
    with pytest.raises(TemplateError) as raised:
        template.render(USER, template_kwargs={name: 1})
    assert raised.value.code == "E-TEMPLATE-RESERVED"
    assert raised.value.pointer == f"/template_kwargs/{name}"
    assert template.render(USER, template_kwargs={"x": 1}) == "1"


def test_arguments_that_are_no_data() -> None:
    template = ChatTemplate("{{ messages }}")
    with pytest.raises(ArgumentTypeError) as raised:
        template.render([{"role": "user", "content": [{"a/b": object()}]}])
    assert (raised.value.code, raised.value.pointer) == ("E-TEMPLATE-VALUE", "/messages/0/content/0/a~1b")
    for wrong in ("text", {"role": "user"}, 7):
        with pytest.raises(ArgumentTypeError):
            template.render(wrong)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError):
        template.render(USER, tools="text")  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError):
        ChatTemplate(b"bytes")  # type: ignore[arg-type]


def test_values_of_ours_become_what_openai_writes() -> None:
    call = ToolCall(id="c1", name="look", arguments='{"a": 1}')
    messages = [Message(role="user", content="hi"), Message(content="", tool_calls=(call,))]
    text = ChatTemplate("{{ messages | tojson }}|{{ tools | tojson }}").render(
        messages, tools=[Tool(name="look", parameters={"type": "object"})]
    )
    shown, declared = text.split("|")
    assert shown.startswith('[{"role": "user", "content": "hi"}, {"role": "assistant"')
    assert '"function": {"name": "look", "arguments": "{\\"a\\": 1}"}' in shown
    assert declared == '[{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]'


def test_dictionaries_go_through_as_they_are() -> None:
    tool = {"function": {"name": "f", "extra": {"z": 1, "a": [None, True, 1.0]}}, "type": "function"}
    message = {"content": None, "role": "user", "own": {"deep": ("t",)}}
    text = ChatTemplate("{{ tools[0] | tojson }}{{ messages[0] }}").render([message], tools=[tool])
    expected = '{"function": {"name": "f", "extra": {"z": 1, "a": [null, true, 1.0]}}, "type": "function"}'
    assert text == expected + str(message)


def test_variables_and_what_is_declared() -> None:
    source = "{{ bos_token }}{{ eos_token }}{{ pad_token }}{{ tools }}"
    source += "{{ add_generation_prompt }}{{ style }}{{ 'two words' }}"
    template = ChatTemplate(source, "<s>", "</s>", {"pad_token": "<pad>"})
    assert template.render(USER, add_generation_prompt=False) == "<s></s><pad>NoneFalsetwo words"
    assert template.undeclared_variables() == {"style"}
    assert template.string_literals() == ("two words",)
    assert (template.bos_token, template.eos_token, template.special_tokens) == ("<s>", "</s>", {"pad_token": "<pad>"})
    other = template.variant(eos_token="<end>", omit_none=True)
    assert other.render(USER) == "<s><end><pad>Truetwo words"
    assert template.eos_token == "</s>"


def test_the_clock() -> None:
    template = ChatTemplate("{{ strftime_now('%d %b %Y') }}")
    assert template.render(USER, now=datetime(2026, 1, 15, 9)) == "15 Jan 2026"
    assert template.render(USER, now=date(2024, 2, 29)) == "29 Feb 2024"
    assert template.render(USER)[-4:].isdigit()
    with pytest.raises(TemplateError):
        ChatTemplate("{{ strftime_now('%c' * 1000) }}").render(USER)


def test_templates_survive_a_process_border() -> None:
    template = ChatTemplate(
        "{{ bos_token }}{{ x }}{{ tools is defined }}{{ [].append(1) }}", "<s>", special_tokens={"x": "1"}
    )
    copy = pickle.loads(pickle.dumps(template.variant(lenient=True, omit_none=True)))
    assert copy.render(USER) == "<s>1FalseNone"
    assert copy.variant(bos_token="").render(USER) == "1FalseNone"


def test_every_prompt_can_be_encoded() -> None:
    template = ChatTemplate("{{ messages[0].content }}")
    assert template.render([{"role": "user", "content": "a\ud83dü"}]) == "a\ufffdü"
    assert template.render([{"role": "user", "content": "\ud83d\ude00"}]) == "😀"


def test_errors_survive_a_process_border() -> None:
    with pytest.raises(TemplateError) as raised:
        ChatTemplate("{{ raise_exception('no') }}").render(USER)
    copy = pickle.loads(pickle.dumps(raised.value))
    assert (copy.code, copy.message, copy.line) == ("E-TEMPLATE-RAISED", "no", 1)


def test_threads_share_a_template_but_not_its_budget() -> None:
    limits = Limits(template_steps=1500)
    template = ChatTemplate("{% for i in range(1000) %}{{ messages[0].content }}{% endfor %}", limits=limits)
    texts: dict[int, Any] = {}

    def work(number: int) -> None:
        texts[number] = [template.render([{"role": "user", "content": str(number)}]) for _ in range(5)]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == {number: [str(number) * 1000] * 5 for number in range(8)}


def test_an_unknown_option_is_named() -> None:
    with pytest.raises(TypeError, match="bogus"):
        ChatTemplate("x").render([], bogus=1)
