"""A grammar spelled inside a JSON string holds exactly the spellings of its texts."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntagma.errors import GrammarError
from syntagma.grammars import Grammar
from tests.constraints.walks import accepts

TEXTS = st.text(alphabet=st.sampled_from('ab"\\/\n\t\x01 {}:1é'), max_size=8)
SOURCES = [
    """start ::= #'[^a]*' ;""",
    """start ::= any! & ~(#'(?s:.)*"(?s:.)*') ;""",
    """start ::= "\\"" #'[ab\\n]' start | "\\\\" ;""",
    """start ::= except!("a\\"") & #'(?s:.){2,5}' ;""",
    """start ::= list ; list ::= "{" { list } "}" | @marker("\\"b\\n") ;""",
]
PLAIN = [Grammar.from_ebnf(source) for source in SOURCES]
SPELLED = [grammar.inside_json_string() for grammar in PLAIN]


@pytest.mark.parametrize("n", range(len(SOURCES)))
@given(text=TEXTS)
def test_the_spelling_is_accepted_where_the_text_is(n: int, text: str) -> None:
    spelling = json.dumps(text, ensure_ascii=False)[1:-1]
    assert accepts(SPELLED[n], spelling) is accepts(PLAIN[n], text)


@pytest.mark.parametrize("n", range(len(SOURCES)))
@given(text=TEXTS)
def test_what_is_no_spelling_is_refused(n: int, text: str) -> None:
    if accepts(SPELLED[n], text):
        assert accepts(PLAIN[n], json.loads(f'"{text}"'))


def test_members_of_a_schema_are_spelled() -> None:
    schema = {
        "type": "object",
        "properties": {'a"': {"enum": ["x\n"]}},
        "required": ['a"'],
        "additionalProperties": False,
    }
    spelled = Grammar.concat(Grammar.literal('"'), Grammar.from_json_schema(schema).inside_json_string())
    assert accepts(Grammar.concat(spelled, Grammar.literal('"')), json.dumps(json.dumps({'a"': "x\n"})))
    assert not accepts(Grammar.concat(spelled, Grammar.literal('"')), json.dumps(json.dumps({'a"': "x"})))


XML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


@given(text=st.text(alphabet=st.sampled_from("ab<>&;é"), max_size=6))
def test_other_escapes(text: str) -> None:
    plain = Grammar.from_ebnf('start ::= any! & ~(any! "a<" any!) ;')
    spelling = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert accepts(plain.spelled(XML), spelling) is accepts(plain, text)
    assert accepts(plain.spelled(XML), text) is (accepts(plain, text) and spelling == text)


@pytest.mark.parametrize("escapes", [{"<": "lt;"}, {"<": ""}, {"<": "<", ">": "<a"}, {"é": "&e;", "&": "&amp;"}])
def test_escapes_that_are_read_in_two_ways(escapes: dict[str, str]) -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.literal("a").spelled(escapes)
    assert caught.value.code == "E-GRAMMAR-ESCAPES"


def test_a_token_stands_in_no_string() -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.concat(Grammar.literal("a"), Grammar.token("<|eos|>")).inside_json_string()
    assert caught.value.code == "E-GRAMMAR-UNSUPPORTED"
