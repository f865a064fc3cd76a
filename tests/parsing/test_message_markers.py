"""What markers do between messages and in headers, without any text around them."""

from __future__ import annotations

import pytest

from syntagma.parsing import HeaderText, MarkerKind, marker_effect

KINDS: tuple[MarkerKind, ...] = ("begin", "section", "body", "end")


def header(text: str = "", *, prompted: bool = False) -> HeaderText:
    made = HeaderText("writer " if prompted else "", role="writer", prompted=prompted)
    made.add(text)
    return made


@pytest.mark.parametrize(
    ("made", "stopped", "effects"),
    [
        (None, False, ["begins", "begins unopened", "begins unopened", "ends nothing"]),
        (None, True, ["begins", "turn is over", "turn is over", "turn is over"]),
        (header("\n "), False, ["begins again", "section", "body", "ends header"]),
        (header(prompted=True), False, ["begins again", "section", "body", "ends header"]),
        (header("reader"), False, ["begins next", "section", "body", "ends header"]),
        (header("reader", prompted=True), False, ["begins next", "section", "body", "ends header"]),
    ],
)
def test_what_each_marker_does(made: HeaderText | None, stopped: bool, effects: list[str]) -> None:
    assert [marker_effect(kind, made, stopped=stopped) for kind in KINDS] == effects


def test_a_header_knows_where_its_text_stands() -> None:
    made = header("writer", prompted=False)
    made.begin_section("<kind>", 20)
    made.add("draft")
    assert not made.is_empty
    assert made.sections == [("", "writer"), ("<kind>", "draft")]
    assert made.size == len("writerdraft")


def test_text_after_a_prompt_without_any_marker_is_the_body() -> None:
    made = header("Yes.", prompted=True)
    assert made.is_unformatted
    assert made.text_outside_fields(made.without_format()) == [(0, "Yes.")]
    made.has_marker = True
    assert not made.is_unformatted
