"""The table of the transcript reader, and that the reader goes where it says."""

from __future__ import annotations

import pytest

from syntagma.openchatml import StreamReader
from syntagma.openchatml.reader_states import SEEN, TRANSITIONS, State
from syntagma.openchatml.tokens import TOKENS


def test_every_state_has_a_row_and_is_reached() -> None:
    assert set(TRANSITIONS) == set(State)
    reached = {State.OPENING}
    while new := {state for source in reached for state in TRANSITIONS[source].values()} - reached:
        reached |= new
    assert reached == set(State)


def test_every_control_token_leads_somewhere_from_a_header_and_a_body() -> None:
    assert tuple(sorted(SEEN)) == tuple(sorted(TOKENS))
    for state in (State.MESSAGE_HEADER, State.BODY):
        assert set(TRANSITIONS[state]) - {"limit", "next"} == set(SEEN.values())


@pytest.mark.parametrize(
    ("text", "incomplete_in"),
    [
        ("", None),
        ("---\nversion: 2.2\n", "the document header"),
        ("<|start|>user", "a message header"),
        ("<|start|>user<|message|>a", "a message"),
        ("<|start|>user<|message|>a<|literal|>b<|end|>", "a message"),
        ("<|start|>user<|message|>a<|literal|>b<|endliteral|>c<|end|>", None),
        ("<|start|>user<|message|>a<|return|>\n<|end|>\n", None),
        ("[BOS]<|im_start|>user", "a message header"),
        ("<|im_start|>user\na", "a message"),
        ("<|im_start|>user\na<|im_end|>[EOS]", None),
    ],
)
def test_where_a_text_ends(text: str, incomplete_in: str | None) -> None:
    reader = StreamReader(strict=False)
    for character in text:
        reader.feed(character)
    reader.finish()
    ends = [] if incomplete_in is None else [f"the text ends inside {incomplete_in}"]
    assert [problem.message for problem in reader.errors] == ends
