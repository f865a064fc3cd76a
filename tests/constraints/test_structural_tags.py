"""The structural tag of a format, read back, accepts what its grammar accepts; where more, it says so."""

from __future__ import annotations

import inspect
import json
import random

import pytest

import syntagma as sg
from syntagma.errors import FormatError, SyntagmaError
from syntagma.formats.call_frame import call_frame, has_fixed_frame
from syntagma.grammars import Grammar
from tests.analysis.cases import derived
from tests.compat.tag_verdicts import PAGE, status_of
from tests.constraints.tag_draws import CALLING as SHIPPED
from tests.constraints.tag_draws import REQUESTS, Drawn, accepted, drawn, random_call, shortened, tag_of
from tests.constraints.walks import hints, walk
from tests.formats.cases import TOOLS
from tests.formats.every import CALLING, FORMATS
from tests.formats.format_draws import Draw

UNSAYABLE = {
    ("lfm2", "names only"): "E-LIMIT-GRAMMAR-BYTES",
    ("olmo3", "names only"): "E-LIMIT-GRAMMAR-BYTES",
    ("pythonic", "names only"): "E-LIMIT-GRAMMAR-BYTES",
}
"""requests that no tag of a readable size can hold, with the code of the error; the list may only become shorter"""


@pytest.mark.every_format
@pytest.mark.parametrize("name", CALLING)
def test_a_tag_accepts_what_the_grammar_accepts(name: str) -> None:
    for request in REQUESTS:
        found = drawn(FORMATS[name], request, 6, seed=name)
        assert found is not None, f"the format refuses the request {request}"
        if isinstance(found, SyntagmaError):
            assert UNSAYABLE[name, request] == found.code
            continue
        assert (name, request) not in UNSAYABLE
        back = Grammar.from_structural_tag(json.dumps(found.tag))
        wanted, got = accepted(found.grammar, found.texts), accepted(back, found.texts)
        assert any(wanted)
        for text, one, other in zip(found.texts, wanted, got, strict=True):
            assert one == other or (other and found.tag.wider), (request, text)


@pytest.mark.every_format
@pytest.mark.parametrize("name", CALLING)
def test_a_tag_accepts_nothing_else_but_what_it_says(name: str) -> None:
    rng, walks, compared = random.Random(name), 0, 0
    for request in REQUESTS:
        made = tag_of(FORMATS[name], request)
        if not isinstance(made, tuple):
            assert (name, request) in UNSAYABLE
            continue
        grammar, tag = made
        back = Grammar.from_structural_tag(tag)
        for text in (walk(back, rng, hints(FORMATS[name])) for _ in range(4)):
            walks += 1
            if text is None:
                continue  # the walk has not found an end
            compared += 1
            whole = shortened(text) if tag.wider else text
            assert accepted(grammar, [whole]) == [True], (request, text)
    # Of all requests at least sixteen; a request without a tag has no walks.
    assert compared * 4 * len(REQUESTS) >= 16 * walks > 0


@pytest.mark.parametrize("seed", range(4))
def test_tags_of_drawn_formats(seed: int) -> None:
    rng, compared = random.Random(f"tags {seed}"), 0
    for number in range(12):
        try:
            fmt = sg.ChatFormat.from_toml(Draw(rng).toml())
        except FormatError:
            continue  # texts were drawn that cannot be told apart
        found = drawn(fmt, rng.choice(list(REQUESTS)), 4, seed=f"{seed} {number}")
        if not isinstance(found, Drawn):
            continue  # the format cannot do what is asked, or no tag can say it
        back = Grammar.from_structural_tag(found.tag)
        wanted, got = accepted(found.grammar, found.texts), accepted(back, found.texts)
        for text, one, other in zip(found.texts, wanted, got, strict=True):
            assert one == other or (other and found.tag.wider), (fmt.to_toml(), text)
        compared += any(wanted)
    assert compared >= 9


@pytest.mark.parametrize("name", ["array-marker", "bare-json", "counted-ids", "keyword-arguments", "header-appended"])
def test_tags_of_derived_formats(name: str) -> None:
    found = drawn(derived(name).format, "auto", 6, seed=name)
    assert isinstance(found, Drawn)
    back = Grammar.from_structural_tag(found.tag)
    wanted = accepted(found.grammar, found.texts)
    assert accepted(back, found.texts) == wanted
    assert any(wanted)


def test_what_a_tag_says_of_itself() -> None:
    tag = sg.formats.get("hermes").structural_tag(TOOLS)
    for pointer in tag.wider:
        node: object = tag
        for key in pointer.split("/")[1:]:
            node = node[int(key)] if isinstance(node, list) else node[key]  # type: ignore[index]
        assert isinstance(node, dict)
        assert node["max_whitespace_cnt"] == 64
    assert tag.wider
    assert not tag.embedded
    assert tag == json.loads(json.dumps(tag))


def test_the_arguments_are_those_of_the_grammar() -> None:
    fmt = sg.formats.get("hermes", reasoning="qwen3")
    options = {"prompt": "<|im_start|>assistant\n<think>\n", "tool_choice": "required", "parallel_tool_calls": False}
    back = Grammar.from_structural_tag(fmt.structural_tag(TOOLS, **options))  # type: ignore[arg-type]
    call = '<tool_call>\n{"name": "clock", "arguments": {}}\n</tool_call>'
    for text, wanted in ((f"so\n</think>\n\n{call}", True), (call, False), (f"so</think>{call}{call}", False)):
        assert fmt.grammar(TOOLS, **options).accepts(text) == back.accepts(text) == wanted  # type: ignore[arg-type]
    parameters = [inspect.signature(method).parameters for method in (fmt.grammar, fmt.structural_tag)]
    assert parameters[0] == parameters[1]


def test_the_tag_of_a_turn() -> None:
    template = sg.ChatTemplate("{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}{% endfor %}")
    codec = sg.ChatCodec.from_format(sg.formats.get("hermes"), template=template)
    turn = codec.prepare([{"role": "user", "content": "Hi"}], tools=TOOLS)
    assert turn.grammar is not None
    assert turn.structural_tag == turn.grammar.to_structural_tag()
    assert codec.prepare([{"role": "user", "content": "Hi"}]).structural_tag is None


def test_free_text_and_one_call_are_triggered_tags() -> None:
    fmt = sg.ChatFormat.from_toml('[tools]\ncall = "<c>{name}{arguments}"\n')
    tag = fmt.structural_tag(TOOLS[2:], parallel_tool_calls=False)
    assert tag["format"]["type"] == "sequence"
    marked = sg.ChatFormat.from_toml(
        '[content]\nblock = "<a>{content}</a>"\n[tools]\ncall = "<c>{name} {arguments}</c>"\n'
    )
    kinds = json.dumps(marked.structural_tag(TOOLS[2:], parallel_tool_calls=False))
    assert '"type": "tag", "begin": "<a>"' in kinds


def test_budgets_that_a_tag_can_hold() -> None:
    fmt = sg.formats.get("hermes", reasoning="qwen3")
    tag = fmt.structural_tag(TOOLS, reasoning="open", budgets=sg.Budgets(reasoning_tokens=7))
    assert '"max_tokens": 7' in json.dumps(tag)
    Grammar.from_structural_tag(tag)
    for budgets in (sg.Budgets(argument_bytes=100), sg.Budgets(content_tokens=5)):
        with pytest.raises(sg.GrammarError) as caught:
            fmt.structural_tag(TOOLS, budgets=budgets)
        assert caught.value.code == "E-GRAMMAR-UNSUPPORTED"


def test_many_optional_arguments_do_not_multiply() -> None:
    properties = {f"key{number}": {"type": "string"} for number in range(20)}
    tools = [
        {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": properties}}}
    ]
    fmt = sg.formats.get("qwen3_coder")
    tag = fmt.structural_tag(tools, tool_choice="required")
    assert len(json.dumps(tag)) < 500_000
    text = fmt.write(
        sg.Message(tool_calls=(sg.ToolCall(id="", name="f", arguments='{"key7": "a", "key9": "b"}'),)), tools
    )
    assert Grammar.from_structural_tag(tag).accepts(text)


def test_markers_in_grammar_text_are_named() -> None:
    found = {
        name
        for name, fmt in FORMATS.items()
        if name in SHIPPED
        and isinstance(made := tag_of(fmt, "auto"), tuple)
        and any("the markers" in reason for reason in made[1].embedded.values())
    }
    assert found == {"functiongemma", "gemma4", "minimax-m3", "shape two_objects"}


FRAMED = [name for name in CALLING if has_fixed_frame(FORMATS[name])]


@pytest.mark.every_format
@pytest.mark.parametrize("name", FRAMED)
def test_the_older_form_holds_calls_as_they_are_written(name: str) -> None:
    fmt, rng = FORMATS[name], random.Random(f"older {name}")
    tag = sg.formats.older_structural_tag(fmt, TOOLS)
    assert {structure["begin"][: len(tag["triggers"][0])] for structure in tag["structures"]} >= {tag["triggers"][0]}
    back = Grammar.from_structural_tag(json.dumps(tag))
    other = sg.ToolCall(id="", name="undeclared", arguments="{}")
    assert not back.accepts(call_frame(fmt, other.name).begin + "{}")
    for _ in range(12):
        call = random_call(rng)
        frame = call_frame(fmt, call.name)
        assert back.accepts(f"so {frame.begin}{call.arguments}{frame.end}" * 2)
        assert not back.accepts(f"so {frame.begin}{call.arguments[:-1]}{frame.end}")


def test_formats_that_the_older_form_cannot_say() -> None:
    for name in set(CALLING) - set(FRAMED):
        with pytest.raises(sg.SyntagmaError) as caught:
            sg.formats.older_structural_tag(FORMATS[name], TOOLS)
        assert caught.value.code == "E-ARGUMENT-FORMAT"
    with pytest.raises(sg.SyntagmaError) as caught:
        sg.formats.older_structural_tag(sg.formats.get("hermes"), [])
    assert caught.value.code == "E-ARGUMENT-VALUE"
    assert {"hermes", "qwen25", "mistral"} <= set(FRAMED)


def test_the_page_of_the_formats_says_what_their_tags_are() -> None:
    rows = [line.split(" | ")[:2] for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    listed = {name.removeprefix("| "): status for name, status in rows}
    assert {name: listed.get(name) for name in SHIPPED} == {name: status_of(name) for name in SHIPPED}
