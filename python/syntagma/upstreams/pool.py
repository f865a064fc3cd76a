"""A pool of engines that run the same model. Requests are distributed among them in turn."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from syntagma.decoding.tokenizer_info import TokenizerInfo
from syntagma.decoding.upstream import Completion, Constraint, EngineFacts, Piece, TokenizingUpstream, Upstream
from syntagma.errors import SyntagmaError, UpstreamError

__all__ = ["UpstreamPool"]

_RECHECK_S = 5.0
"""seconds before a failed engine is checked again"""
_log = logging.getLogger("syntagma.upstreams")


class _Member:
    """An engine, and the time since which it is known to be down."""

    def __init__(self, upstream: Upstream) -> None:
        self.upstream = upstream
        self.down_since: float | None = None
        self.checking: asyncio.Task[None] | None = None


class UpstreamPool:
    """Engines that are used in turn. If one fails before its first piece, the next is used, and it is checked later.

    Args:
        upstreams: at least one engine; all must run the same model.
        recheck: seconds before a failed engine is checked again.

    Raises:
        UpstreamError: `E-UPSTREAM-POOL`, the list is empty, or the engines have no constraint language in common.
    """

    def __init__(self, upstreams: Sequence[Upstream], *, recheck: float = _RECHECK_S) -> None:
        if not upstreams:
            raise UpstreamError("E-UPSTREAM-POOL", "the list of engines is empty")
        self._members = [_Member(one) for one in upstreams]
        self._turn = 0
        self._recheck = recheck
        self.tokenizer_info: TokenizerInfo | None = upstreams[0].tokenizer_info
        self.languages = tuple(
            language for language in upstreams[0].languages if all(language in one.languages for one in upstreams)
        )
        if not self.languages and any(one.languages for one in upstreams):
            raise UpstreamError(
                "E-UPSTREAM-POOL",
                "the engines have no constraint language in common",
                hint="serve engines of different kinds under different names",
            )

    @property
    def address(self) -> str:
        """The addresses of all engines."""
        return ", ".join(one.upstream.address for one in self._members)

    @property
    def model_name(self) -> str:
        """The model name of the first engine."""
        return self._members[0].upstream.model_name

    def holds(self, constraint: Constraint) -> bool:
        """Whether all engines can enforce a constraint."""
        return all(one.upstream.holds(constraint) for one in self._members)

    async def describe(self) -> EngineFacts:
        """The facts of the first engine that answers. All are asked, because some need the answer later."""
        answers = await asyncio.gather(*(self._described(one) for one in self._members))
        failed = [one for one in answers if isinstance(one, SyntagmaError)]
        known = [one for one in answers if isinstance(one, EngineFacts)]
        if not known:
            raise failed[0]
        if len({one.chat_template for one in known if one.chat_template is not None}) > 1:
            _log.warning(
                "engines of one model have different chat templates, and the first one's is used: %s", self.address
            )
        return known[0]

    async def stream(self, asked: Completion) -> AsyncGenerator[Piece, None]:
        """Generate a text; see `Upstream.stream`."""
        order = self._order()
        for number, member in enumerate(order):
            try:
                async with aclosing(member.upstream.stream(asked)) as pieces:
                    async for piece in pieces:
                        member.down_since = None
                        yield piece
                return
            except UpstreamError as error:
                if not error.again:
                    raise
                _log.warning("%s does not answer: %s", member.upstream.address, error.message)
                member.down_since = time.monotonic()
                if number + 1 == len(order):
                    raise

    async def tokenize(self, text: str) -> list[int] | None:
        """The token ids of a text, from the first engine that answers; see `Upstream.tokenize`."""
        order = self._order()
        for number, member in enumerate(order):
            if not isinstance(member.upstream, TokenizingUpstream):
                return None
            try:
                return await member.upstream.tokenize(text)
            except UpstreamError as error:
                if not error.again or number + 1 == len(order):
                    raise
        return None

    async def check(self) -> None:
        """Check that at least one engine can answer now; see `Upstream.check`."""
        answers = await asyncio.gather(*(one.upstream.check() for one in self._members), return_exceptions=True)
        failed = [one for one in answers if one is not None]
        if len(failed) == len(answers):
            raise failed[0]

    async def close(self) -> None:
        """Close the connections of all engines."""
        for member in self._members:
            await member.upstream.close()

    def _order(self) -> list[_Member]:
        """The order in which to try the engines: those that are up, in turn, then those that are down."""
        self._turn = (self._turn + 1) % len(self._members)
        turned = self._members[self._turn :] + self._members[: self._turn]
        for member in turned:
            if member.down_since is not None and time.monotonic() - member.down_since >= self._recheck:
                self._ask_again(member)
        return sorted(turned, key=lambda one: one.down_since is not None)

    def _ask_again(self, member: _Member) -> None:
        if member.checking is None or member.checking.done():
            member.down_since = time.monotonic()
            member.checking = asyncio.ensure_future(self._come_back(member))

    async def _come_back(self, member: _Member) -> None:
        try:
            await member.upstream.check()
        except UpstreamError:
            return
        _log.warning("%s answers again", member.upstream.address)
        member.down_since = None

    async def _described(self, member: _Member) -> EngineFacts | SyntagmaError:
        try:
            return await member.upstream.describe()
        except SyntagmaError as error:
            member.down_since = time.monotonic()
            return error
