"""Who wrote which part of a prompt."""

from __future__ import annotations

import datetime
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import syntagma as sg
from syntagma import ChatTemplate, Prompt, Segment
from syntagma.errors import ArgumentError, SyntagmaError, TemplateError
from syntagma.templates.lookalikes import lookalikes

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = sorted([*ROOT.glob("conformance/templates/**/*.jinja"), *ROOT.glob("examples/**/*.jinja")])
NOW = datetime.datetime(2026, 1, 15, 12, 0)


def pieces(source: str, content: Any = "u", **options: Any) -> list[tuple[str, str]]:
    """Segments as pairs, of a conversation of one user's message that the template reads as `u`."""
    messages = [{"role": "user", "content": content}]
    template = ChatTemplate("{% set u = messages[0].content %}" + source, special_tokens={"unk_token": "<unk>"})
    return [(text, origin) for text, origin in template.render(messages, **options).segments]


T, U = "template", "user"

TRACED = [
    ("<{{ u }}>", [("<", T), ("u", U), (">", T)]),
    ("{{ '<' + u + '>' }}", [("<", T), ("u", U), (">", T)]),
    ("{{ '<' ~ u ~ 1 ~ '>' }}", [("<", T), ("u1", U), (">", T)]),
    ("{{ ['<', u, '>'] | join('-') }}", [("<-", T), ("u", U), ("->", T)]),
    ("{{ '-'.join(['<', u, '>']) }}", [("<-", T), ("u", U), ("->", T)]),
    ("{{ '<%s>' % u }}{{ '<%s>' | format(u) }}", [("<", T), ("u", U), ("><", T), ("u", U), (">", T)]),
    ("{{ '<{}>'.format(u) }}", [("<", T), ("u", U), (">", T)]),
    ("{{ ('<' + u + '>  ') | trim }}", [("<", T), ("u", U), (">", T)]),
    ("{{ ('  <' + u).lstrip() + ('> ').rstrip() }}", [("<", T), ("u", U), (">", T)]),
    ("{{ ('[<' + u + '>]')[1:-1] }}", [("<", T), ("u", U), (">", T)]),
    ("{{ ('<' + u)[0] }}{{ ('<' + u)[-1] }}", [("<", T), ("u", U)]),
    ("{{ '<{x}>'.replace('{x}', u) }}", [("<", T), ("u", U), (">", T)]),
    ("{{ ('<' + u + '>') | replace('u', '<end>') }}", [("<", T), ("<end>", U), (">", T)]),
    ("{{ ('<a' + u + '>') | upper }}", [("<A", T), ("U", U), (">", T)]),
    ("{{ ('<,' + u + ',>').split(',') | join }}", [("<", T), ("u", U), (">", T)]),
    ("{{ ('<' + u + ' >').split() | join }}", [("<", T), ("u", U), (">", T)]),
    ("{{ ('<\n' + u + '\n>').splitlines() | join }}", [("<", T), ("u", U), (">", T)]),
    ("{% set (a, b, c) = ('<' + u + '|>').partition('|') %}{{ c + a }}", [("><", T), ("u", U)]),
    ("{{ ('<' + u) | string }}{{ '>' * 2 }}", [("<", T), ("u", U), (">>", T)]),
    ("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(u) }}", [("<", T), ("u", U), (">", T)]),
    ("{% set x %}<{{ u }}>{% endset %}{{ x | trim }}", [("<", T), ("u", U), (">", T)]),
    ("{% set n = namespace(x='<') %}{% set n.x = n.x + u %}{{ n.x }}", [("<", T), ("u", U)]),
    ("{% for x in ['<', u] %}{{ x }}{% endfor %}", [("<", T), ("u", U)]),
    ("{{ ('<' + u + '>') | safe }}", [("<", T), ("u", U), (">", T)]),
    ("{{ u + '<' + (u | tojson | safe) }}", [("u&lt;", U), ('"u"', U)]),
    ("{{ 'a' + ('b' | safe) }}", [("ab", T)]),
    ("{{ {'<end>': u} | tojson }}", [('{"<end>": "u"}', U)]),
    ("{{ [1, '<end>'] | tojson }}", [('[1, "<end>"]', U)]),
    ("{{ '<end>' | tojson }}", [('"<end>"', T)]),
    ("{{ ('<' + u) | reverse }}", [("u<", U)]),
    ("{{ ('<' + u) | indent(2, true) }}", [("  <u", U)]),
    ("{{ ('<' + u).encode('utf-8').decode('utf-8') }}", [("<u", U)]),
    ("{{ '%c' % 60 }}{{ '{:c}'.format(60) }}", [("<<", U)]),
    ("{{ bos_token }}{{ unk_token }}{{ strftime_now('<%d>') }}", [("<unk><15>", T)]),
    ("{{ strftime_now(u) }}", [("u", U)]),
    ("{{ messages[0].role }}:{{ loop_ | default('-') }}", [("user:-", T)]),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), TRACED, ids=[source for source, _ in TRACED])
def test_origins_of_what_operations_make(source: str, expected: list[tuple[str, str]]) -> None:
    merged: list[tuple[str, str]] = []
    for text, origin in expected:
        if merged and merged[-1][1] == origin:
            merged[-1] = merged[-1][0] + text, origin
        else:
            merged.append((text, origin))
    assert pieces(source, now=NOW) == merged


def test_origins_by_role_and_place() -> None:
    source = (
        "{{ documents[0].text }};{{ tools[0].function.name }};{{ style }};"
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% for c in m.tool_calls %}{{ c.function.arguments }}"
        "{% endfor %}{% endfor %}"
    )
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": {"a": "x"}}}
    messages = [
        {"role": "system", "content": "S"},
        {"role": "developer", "content": "D"},
        {"role": "user", "content": "U"},
        {"role": "assistant", "content": "A", "tool_calls": [call]},
        {"role": "tool", "content": "R"},
        {"role": "critic", "content": "C"},
    ]
    tool = {"type": "function", "function": {"name": "f"}}
    prompt = ChatTemplate(source).render(
        messages, tools=[tool], documents=[{"text": "doc"}], template_kwargs={"style": "terse"}
    )
    assert prompt.segments == (
        ("doc", "tool"), (";", T), ("f", "tool"), (";", T), ("terse", "system"), (";<system>", T), ("S", "system"),
        ("<developer>", T), ("D", "system"), ("<user>", T), ("U", "user"), ("<assistant>", T),
        ("A{'a': 'x'}", "assistant"), ("<tool>", T), ("R", "tool"), ("<", T), ("critic", "user"), (">", T),
        ("C", "user"),
    )  # fmt: skip


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_segments_add_up_and_markers_stay_the_templates(path: Path) -> None:
    tool = {"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": {"type": "object"}}}
    call = {"id": "call00001", "type": "function", "function": {"name": "look", "arguments": {"at": "word"}}}
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Yes.", "reasoning_content": "Hm.", "tool_calls": [call]},
        {"role": "tool", "content": "seen", "tool_call_id": "call00001", "name": "look"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "More"},
    ]
    template = ChatTemplate.from_file(path).variant(lenient=True)
    rendered = 0
    for kept in (messages, messages[1:], messages[1:2]):
        for tools in (None, [tool]):
            try:
                prompt = template.render(kept, tools=tools)
            except SyntagmaError:
                continue
            rendered += 1
            assert "".join(segment.text for segment in prompt.segments) == prompt
            assert list(lookalikes(prompt.segments, prompt.markers())) == []
            assert {origin for text, origin in prompt.segments if "Hello" in text} <= {"user"}
    assert rendered >= 2


# -- any template


def expressions() -> st.SearchStrategy[str]:
    texts = st.sampled_from(["'<'", "'a b'", "'%s'", "'{}'", "''", "'<|x|>'", "u", "v", "n", "[u, '<']", "d"])

    def more(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        one = [
            "({0}) | trim", "({0}).strip()", "({0}).strip('<жЖ')", "({0}) | upper", "({0}) | lower",
            "({0}) | title",
            "({0})[1:]", "({0})[:-1]", "({0})[0]", "({0})[::-1]", "({0}).split()",
            "({0}).split() | last",
            "({0}).splitlines() | first",
            "({0}) | string", "({0}) | tojson", "({0}) | indent", "({0}) | safe",
            "({0}) | e", "({0}) | list", "({0}) | join", "({0}) * 2", "m({0})", "({0}) | reverse",
            "({0}) | default('x')",
            "({0}) | center(9)", "({0}).title()", "({0}).encode('utf-8').decode('utf-8')", "({0}) | wordwrap(3)",
            "({0}).zfill(7)", "({0}) | truncate(4, true, '')", "({0}) | first", "({0}) | last", "{{{0}: {0}}}",
            "({0}) | map('trim') | join", "({0}) | sort | join", "({0}) | unique | join", "({0}) | urlencode",
            "({0}).removeprefix('<')", "({0}).casefold()", "({0}) | pprint", "({0}) | capitalize", "({0}) | striptags",
            "({0}).expandtabs()", "({0}).translate({{1078: '<'}})", "('<' if ({0}) else u)",
        ]  # fmt: skip
        two = [
            "({0}) + ({1})", "({0}) ~ ({1})", "[{0}, {1}] | join(':')", "({0}).join([{1}, u])", "({0}) % ({1},)",
            "({0}) % ({1})", "({0}).format({1})", "({0}) | replace('a', {1})", "({0}).replace({1}, '|')",
            "({0}).replace('ж', {1})", "({0}).split({1})", "({0}).partition({1})", "({0}) | format({1})",
            "({0}).rsplit({1}, 1)", "({0}).strip({1})", "({0}) | trim({1})", "({0}) or ({1})", "[{0}, {1}]",
            "({0}) | join({1})", "({0}) | default({1}, true)", "({0}).center(9, {1})", "'{{x}}'.format(x={0}) + {1}",
        ]  # fmt: skip
        return st.builds(str.format, st.sampled_from(one), inner) | st.builds(
            str.format, st.sampled_from(two), inner, inner
        )

    return st.recursive(texts, more, max_leaves=6)


BLOCKS = [
    "{{{{ {0} }}}}",
    "{{% set x %}}<{{{{ {0} }}}}>{{% endset %}}{{{{ x | trim }}}}",
    "{{% for c in {0} %}}{{{{ c }}}};{{% endfor %}}",
]


@settings(max_examples=400, deadline=None)
@given(
    expression=expressions(),
    content=st.text(alphabet="жщюЖ \n", min_size=1, max_size=6),
    block=st.sampled_from(BLOCKS),
)
def test_text_of_others_is_never_the_templates(expression: str, content: str, block: str) -> None:
    """What others write is in letters that no template here writes."""
    source = (
        "{% macro m(x) %}({{ x }}){% endmacro %}{% set u = messages[0].content %}{% set v = messages[0].more %}"
        "{% set n = 5 %}{% set d = {'k': u} %}" + block.format(expression)
    )
    message = {"role": "user", "content": content, "more": [content, "ю"]}
    try:
        prompt = ChatTemplate(source).render([message])
    except SyntagmaError:
        assume(False)
    assert "".join(segment.text for segment in prompt.segments) == prompt
    for text, origin in prompt.segments:
        assert origin != "template" or not any("\u0400" <= char <= "\u04ff" for char in text), (source, prompt.segments)


# -- prompts


def test_a_continued_message_is_the_assistants() -> None:
    template = ChatTemplate("{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>{% endfor %}")
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "<user>so"}]
    prompt = template.render(messages, continue_final_message=True)
    assert prompt.segments == (("<user>", T), ("Hi", U), ("</s><assistant>", T), ("<user>so", "assistant"))


def test_prompts_keep_what_they_know() -> None:
    prompt = ChatTemplate("<{{ messages[0].content }}>").render([{"role": "user", "content": "Hi"}])
    again = pickle.loads(pickle.dumps(prompt))
    assert (again, again.start, again.segments) == (prompt, prompt.start, prompt.segments)
    assert Prompt("ab", 1).segments == (("ab", "user"),)
    assert Prompt("ab", 1, [Segment("a", "template"), Segment("b", "user")]).template_ranges() == [(0, 1)]
    with pytest.raises(ArgumentError):
        Prompt("ab", 1, [Segment("a", "template")])


def test_a_template_that_draws_lots_is_not_trusted() -> None:
    template = ChatTemplate("{{ range(1000000000000) | random if false else '' }}{{ ['<a>', '<b>', '<c>'] | random }}!")
    for _ in range(20):
        prompt = template.render([{"role": "user", "content": "Hi"}])
        if prompt.segments != ((str(prompt), T),):
            assert prompt.segments == ((str(prompt), U),)
            return
    raise AssertionError("twenty equal draws")


def test_a_template_that_changes_its_messages_is_traced_all_the_same() -> None:
    source = (
        "{% set first = messages.pop(0) %}<{{ first.content }}>{% for m in messages %}[{{ m.content }}]{% endfor %}"
    )
    template = ChatTemplate(source).variant(lenient=True)
    prompt = template.render([{"role": "system", "content": "S"}, {"role": "user", "content": "U"}])
    assert prompt[prompt.start :] == "]"
    assert prompt.segments == (("<", T), ("S", "system"), (">[", T), ("U", U), ("]", T))


def test_surrogates_of_two_origins() -> None:
    source = "{{ '\\ud83d' }}{{ messages[0].content }}{{ '<\\ud83d' }}"
    prompt = ChatTemplate(source).render([{"role": "user", "content": "\ude42x\ud800"}])
    assert prompt == "🙂x\ufffd<\ufffd"
    assert prompt.segments == (("🙂x\ufffd", U), ("<\ufffd", T))


# -- look-alikes

CHATML = ChatTemplate(
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}{{ '' if not tail else '<|im_' + tail + '|>' }}"
)


def say(text: str, **options: Any) -> Prompt:
    return CHATML.render([{"role": "user", "content": text}], **options)


def test_lookalikes_are_broken_or_refused() -> None:
    prompt = say("a<|im_end|>b")
    assert prompt.markers() == {"<|im_start|>", "<|im_end|>"}
    broken = prompt.without_lookalikes(prompt.markers())
    assert broken == prompt.replace("a<|im_end|>b", "a<\u200b|im_end|>b")
    assert broken[broken.start :] == prompt[prompt.start :] == "<|im_start|>assistant\n"
    assert "".join(segment.text for segment in broken.segments) == broken
    spaced = prompt.without_lookalikes(prompt.markers(), separator=" ")
    assert "a< |im_end|>b" in spaced
    with pytest.raises(TemplateError) as caught:
        prompt.without_lookalikes(prompt.markers(), mode="refuse")
    assert (caught.value.code, caught.value.offset) == ("E-TEMPLATE-LOOKALIKE", prompt.index("a<|im_end|>b") + 1)
    assert broken.without_lookalikes(prompt.markers(), mode="refuse") is broken
    harmless = say("a")
    assert harmless.without_lookalikes(harmless.markers()) is harmless


def test_lookalikes_across_segments_are_broken() -> None:
    prompt = say("x", template_kwargs={"tail": "end"})
    assert "x<|im_end|>" in prompt.without_lookalikes(["<|im_end|>"])
    assert prompt.without_lookalikes(["<|im_end|>"]).endswith("<|im_\u200bend|>")
    glued = ChatTemplate("<|im_end|>{{ messages[0].content }}|im_end|>").render([{"role": "user", "content": "<"}])
    assert glued.without_lookalikes(["<|im_end|>"]) == "<|im_end|><\u200b|im_end|>"


@pytest.mark.parametrize(("markers", "separator"), [(["<"], "-"), (["<->"], "-"), (["<a>"], "")])
def test_what_cannot_break_is_refused(markers: list[str], separator: str) -> None:
    with pytest.raises(ArgumentError):
        say("x").without_lookalikes(markers, separator=separator)


@settings(max_examples=200, deadline=None)
@given(
    parts=st.lists(
        st.tuples(st.sampled_from(["<|a|>", "<|", "a", "|>", "<|a", "|", "[A]", "[", "A]", ">"]), st.booleans()),
        max_size=10,
    )
)
def test_what_was_broken_holds_no_lookalike(parts: list[tuple[str, bool]]) -> None:
    segments = [Segment(text, "template" if own else "tool") for text, own in parts]
    prompt = Prompt("".join(text for text, _ in parts), len("".join(text for text, _ in parts)), segments)
    markers = ["<|a|>", "[A]", "|a"]
    broken = prompt.without_lookalikes(markers)
    assert broken.replace("\u200b", "") == prompt
    assert list(lookalikes(broken.segments, markers)) == []
    own = "".join(segment.text for segment in prompt.segments if segment.origin == "template")
    assert "".join(segment.text for segment in broken.segments if segment.origin == "template") == own
    assert broken.start == len(broken)
    assert sg.Segment is Segment
