from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from syntagma.decoding.stop_strings import StopScanner
from syntagma.errors import ArgumentError


def run(stops: list[str], pieces: list[bytes]) -> tuple[bytes, str | None]:
    scanner: StopScanner[int] = StopScanner(stops)
    out = b""
    for number, piece in enumerate(pieces):
        out += b"".join(data for _, data in scanner.push(number, piece))
        if scanner.found is not None:
            return out, scanner.found
    return out + b"".join(data for _, data in scanner.flush()), None


def cuts(text: bytes) -> Iterator[list[bytes]]:
    """Every way to cut a short text."""
    for places in itertools.product((False, True), repeat=len(text) - 1):
        pieces, begin = [], 0
        for index, cut in enumerate(places, 1):
            if cut:
                pieces.append(text[begin:index])
                begin = index
        yield [*pieces, text[begin:]]


@pytest.mark.parametrize(
    ("stops", "text", "expected"),
    [
        (["END"], "one END two", ("one ", "END")),
        (["END"], "ENEND", ("EN", "END")),
        (["aab"], "aaaab", ("aa", "aab")),
        (["b", "abc"], "xabc", ("xa", "b")),
        (["abc", "c"], "xabc", ("x", "abc")),
        (["é"], "caféx", ("caf", "é")),
        (["no"], "yes", ("yes", None)),
        (["yes!"], "yes", ("yes", None)),
        ([], "all", ("all", None)),
        (["\n\n"], "a\nb\n\nc", ("a\nb", "\n\n")),
    ],
)
def test_every_cutting_gives_the_same(stops: list[str], text: str, expected: tuple[str, str | None]) -> None:
    for pieces in cuts(text.encode()):
        out, found = run(stops, pieces)
        assert (out.decode(), found) == expected, pieces


def test_only_what_may_begin_a_stop_string_waits() -> None:
    scanner: StopScanner[str] = StopScanner(["stop"])
    assert scanner.push("a", b"xx") == [("a", b"xx")]
    assert scanner.push("b", b"yst") == []
    assert scanner.push("c", b"o") == []
    assert scanner.push("d", b"re") == [("b", b"yst"), ("c", b"o"), ("d", b"re")]


def test_the_piece_that_a_stop_string_cuts_keeps_its_head() -> None:
    scanner: StopScanner[str] = StopScanner(["!"])
    assert scanner.push("a", b"hello! world") == [("a", b"hello")]
    assert scanner.found == "!"


def test_an_empty_stop_string_is_refused() -> None:
    with pytest.raises(ArgumentError):
        StopScanner(["", "x"])
