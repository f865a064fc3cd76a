"""Every construct of chat templates means what it means in transformers' environment, built here from Jinja alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from syntagma.errors import TemplateError
from syntagma.templates import ChatTemplate

MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "  Be kind & <short>.  "},
    {"role": "user", "content": "Wie geht's?\nZweite Zeile", "parts": [3, 1, 2], "meta": {"b": 1, "a": [True, None]}},
    {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {"x": 1.5}}}]},
]
VARIABLES: dict[str, Any] = {"names": ["b", "a", "C", "a"], "number": 42, "text": "a,b;c", "ünï": "ö😀"}

EXPRESSIONS = [
    "names | join('-')",
    "names | join",
    "messages | map(attribute='role') | join(', ')",
    "messages | map(attribute='missing', default='?') | list",
    "names | map('upper') | list",
    "names | sort | list",
    "names | sort(reverse=true, case_sensitive=true)",
    "names | unique | list",
    "names | reverse | list",
    "names | first ~ names | last ~ names | length",
    "names | select('equalto', 'a') | list",
    "names | reject('in', ['a']) | list",
    "messages | selectattr('role', 'equalto', 'user') | list | length",
    "messages | rejectattr('tool_calls') | map(attribute='role') | list",
    "messages | selectattr('tool_calls', 'defined') | list | tojson",
    "messages | groupby('role') | map('first') | list",
    "[1, 2, 3] | sum",
    "messages[1].parts | sum(start=10)",
    "messages[1].parts | min ~ messages[1].parts | max",
    "messages[1].meta | dictsort",
    "messages[1].meta | items | list",
    "messages[1].meta | tojson",
    "messages[1].meta | tojson(indent=2)",
    "messages[1].meta | tojson(indent=2, sort_keys=true)",
    "messages[1].meta | tojson(separators=(',', ':'))",
    "'<b>&\"ü' | tojson",
    "'ü' | tojson(ensure_ascii=true)",
    "messages[1].meta",
    "messages[1].parts ~ ''",
    "[1.0, none, true, 'a\\nb', (1,)] | string",
    "messages[0].content | trim",
    "messages[0].content | trim | upper",
    "messages[0].content.strip().split(' ')",
    "messages[1].content | indent(4)",
    "messages[1].content | indent('> ', first=true)",
    "messages[1].content.splitlines()",
    "text.split(',')[0]",
    "text.split(';', 1)[-1].rstrip('c')",
    "text.rsplit(',', 1)",
    "text.partition(';')",
    "text.replace(',', '--')",
    "text | replace('a', 'x') | title",
    "text.startswith('a') and text.endswith(('b', 'c'))",
    "text.find(';') ~ text.rfind(',') ~ text.index(',') ~ text.count(',')",
    "text.center(9, '*') ~ text.ljust(7) ~ text.rjust(7) ~ '7'.zfill(3)",
    "'{}-{:>4}-{x!r}'.format(1, 'ab', x='q')",
    "'{a[b]}'.format_map({'a': {'b': 2}})",
    "'%s is %05.2f and %d%%' % ('pi', 3.14159, 3)",
    "'%(a)s' | format(a='b')",
    "'-'.join(names)",
    "'x' * 3 ~ [0] * 2",
    "number + 1 ~ number - 1 ~ number * 2 ~ number / 4 ~ number // 4 ~ number % 5 ~ number ** 2",
    "-number ~ +number ~ (not number)",
    "2 ** -1",
    "1 < number <= 42",
    "'a' in names and 'z' not in names and 'a' in text and 'b' in messages[1].meta",
    "number is number and text is string and names is iterable and messages[1].meta is mapping and none is none",
    "number is even and number is divisibleby(6) and number is not odd",
    "names is sequence ~ (missing is defined) ~ (missing is undefined) ~ missing",
    "missing | default('fallback') ~ ('' | default('e', true))",
    "names[1:] ~ names[:-1] ~ names[::-1] ~ text[1:3]",
    "names[-1] ~ messages[1]['content'][0]",
    "'yes' if names else 'no'",
    "number | string | length",
    "'3.7' | float | round | int",
    "3.14159 | round(2) ~ 7 | abs",
    "'12' | int + 1",
    "'zz' | int(default=5)",
    "'ff' | int(base=16)",
    "names | batch(3, '-') | list",
    "names | slice(2) | list",
    "text | capitalize ~ text | center(9)",
    "'a b' | urlencode ~ 'ü' | urlencode",
    "'one two three' | wordcount",
    "'one two three four' | truncate(9)",
    "'one two three four' | wordwrap(8)",
    "'<a>' | e ~ '<b>' | escape",
    "('<a>' | safe) ~ '<b>'",
    "('<b>{}{x}</b>' | safe).format('<', x=names)",
    "('<b>%s</b>' | safe) % '<'",
    "('<b>' | e) + '<' ~ ('<' | e) * 2",
    "messages[1].meta | pprint",
    "range(3) | list ~ range(1, 9, 3) | list",
    "dict(a=1, b=[2]).b[0]",
    "namespace(a=1).a",
    "cycler('a', 'b').next()",
    "messages[1].meta.keys() | list ~ messages[1].meta.values() | list",
    "messages[1].meta.get('zz', 'none') ~ messages[1].meta.items() | list | length",
    "'a' < 'b' and [1, 2] == [1, 2] and (1, 2) != (2, 1)",
    "ünï | upper ~ ünï | length",
    "raise_exception('no')",
    "missing.attribute",
    "messages[0].missing.more",
    "names.append('x')",
    "messages[0].update({'a': 1})",
    "''.__class__",
    "text.__len__()",
    "names + 'x'",
    "1 + 'x'",
    "none | length",
    "[1, 'a'] | sort",
    "1 / 0",
    "names[9]",
    "{}['x']",
    "(names | map('upper')) | tojson",
]
STATEMENTS = [
    "{% for m in messages %}{{ loop.index }}/{{ loop.length }}{% if not loop.last %}, {% endif %}{% endfor %}",
    "{% for m in messages if m.role != 'user' %}{{ loop.index0 }}{{ m.role }}{% else %}none{% endfor %}",
    "{% for m in [] %}x{% else %}empty{% endfor %}",
    "{% for m in missing %}x{% endfor %}.",
    "{% for k, v in messages[1].meta.items() %}{{ k }}={{ v }};{% endfor %}",
    "{% for m in messages %}{% if loop.index == 2 %}{% break %}{% endif %}{{ m.role }}{% endfor %}",
    "{% for m in messages %}{% if loop.first %}{% continue %}{% endif %}{{ loop.previtem.role }}{% endfor %}",
    "{% for n in [[1, [2]], 3] recursive %}{{ '(' ~ loop(n) ~ ')' if n is iterable else n }}{% endfor %}",
    "{% for n in names %}{{ loop.cycle('x', 'y') }}{{ loop.changed(n) }}{{ loop.revindex }}{% endfor %}",
    "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n }}",
    "{% set x = 1 %}{% for m in messages %}{% set x = 2 %}{% endfor %}{{ x }}",
    "{% macro m(a, b='q') %}[{{ a }}{{ b }}{{ varargs }}{{ kwargs }}]{% endmacro %}{{ m(1) }}{{ m(1, 2, 3, c=4) }}",
    "{% macro w() %}<{{ caller('x') }}>{% endmacro %}{% call(v) w() %}body {{ v }}{% endcall %}",
    "{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }}",
    "{% filter upper %}abc {{ text }}{% endfilter %}",
    "{% set block %}a {{ text }}{% endset %}{{ block | length }}{{ block }}",
    "{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}{{ a is defined }}",
    "{% block one %}b{{ text }}{% endblock %}{{ self.one() }}",
    "{% if number > 50 %}a{% elif number > 40 %}b{% else %}c{% endif %}",
    "  {% if true %}\n  x\n  {% endif %}\n  y\n\n",
    "a  {%- if true -%}  b  {%- endif -%}  c",
    "{# comment #}\n{% raw %}{{ raw }}{% endraw %}\n",
    "{% set a, b = (1, 2) %}{{ a }}{{ b }}{{ [a, b] }}{{ {'k': a, b: 'v'} }}",
    "{% autoescape true %}{{ '<a>' }}{{ '<' ~ '>' }}{{ ['<', '>'] | join('&') }}{% endautoescape %}{{ '<' }}",
    "{% include 'other' %}",
    "{% import 'other' as o %}",
]


class Refused(Exception):
    """What the reference raises for `raise_exception`."""


def _reference(source: str) -> str:
    def refuse(message: str) -> None:
        raise Refused(message)

    def to_json(value: Any, ensure_ascii: bool = False, **options: Any) -> str:
        return json.dumps(value, ensure_ascii=ensure_ascii, **options)

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
    environment.filters["tojson"] = to_json
    environment.globals["raise_exception"] = refuse
    template = environment.from_string(source)
    return template.render(messages=MESSAGES, tools=None, documents=None, add_generation_prompt=True, **VARIABLES)


@pytest.mark.parametrize("source", [f"{{{{ {text} }}}}" for text in EXPRESSIONS] + STATEMENTS)
def test_the_same_text_or_an_error_in_both(source: str) -> None:
    try:
        expected = _reference(source)
    except Exception:
        with pytest.raises(TemplateError) as raised:
            ChatTemplate(source).render(MESSAGES, template_kwargs=VARIABLES)
        assert raised.value.line == 1
    else:
        assert ChatTemplate(source).render(MESSAGES, template_kwargs=VARIABLES) == expected


def test_a_render_does_not_change_what_it_was_given() -> None:
    messages = [{"role": "user", "content": ["a"]}]
    template = ChatTemplate("{{ messages[0].content.append('b') }}{{ messages[0].content }}").variant(lenient=True)
    assert template.render(messages) == "None['a', 'b']"
    assert messages == [{"role": "user", "content": ["a"]}]


def test_the_generation_tag_renders_its_body_in_a_scope_of_its_own() -> None:
    source = (
        "{% for m in messages %}{% generation %}{% set x = m.role %}<{{ x }}>{% endgeneration %}{{ x }}{% endfor %}"
    )
    assert ChatTemplate(source).render([{"role": "a"}, {"role": "b"}]) == "<a><b>"


def test_the_lenient_variant_appends_takes_and_writes_generators() -> None:
    source = (
        "{% set q = [] %}{{ q.append(1) or '' }}{{ q.append(2) or '' }}{{ q.pop(0) }}{{ q | map('string') | tojson }}"
    )
    template = ChatTemplate(source)
    with pytest.raises(TemplateError) as raised:
        template.render([])
    assert raised.value.code == "E-TEMPLATE-SECURITY"
    assert template.variant(lenient=True).render([]) == '1["2"]'
    with pytest.raises(TemplateError, match="clear"):
        ChatTemplate("{{ [1].clear() }}").variant(lenient=True).render([])
