"""The endpoints of stored responses: `/v1/responses/{id}` and what lies below it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from syntagma.errors import RequestError
from syntagma.serving.body import bad_field, unsupported
from syntagma.serving.errors import error_response, json_response
from syntagma.serving.responses.store import ResponseStore
from syntagma.serving.small_answers import Deleted, ItemList

__all__ = ["stored_routes"]

_MOST_ITEMS = 100
_USUAL_ITEMS = 20


def stored_routes(store: ResponseStore) -> list[Route]:
    """The routes over a store."""

    def endpoint(answer: Callable[[Request, str], Response]) -> Callable[[Request], Awaitable[Response]]:
        async def answered(request: Request) -> Response:
            try:
                return answer(request, request.path_params["id"])
            except RequestError as error:
                return error_response(error)

        return answered

    def one(request: Request, key: str) -> Response:
        if request.method == "GET":
            return Response(store.get(key).body, media_type="application/json")
        store.delete(key)
        return json_response(Deleted(id=key))

    def items(request: Request, key: str) -> Response:
        return json_response(_page(list(store.get(key).items), request))

    def cancel(_: Request, key: str) -> Response:
        store.get(key)
        raise unsupported("/background", "only a response that is written in the background can be cancelled")

    return [
        Route("/v1/responses/{id}", endpoint(one), methods=["GET", "DELETE"]),
        Route("/v1/responses/{id}/input_items", endpoint(items), methods=["GET"]),
        Route("/v1/responses/{id}/cancel", endpoint(cancel), methods=["POST"]),
    ]


def _page(items: list[dict[str, Any]], request: Request) -> ItemList:
    """A page of items, the latest first unless asked otherwise."""
    asked = request.query_params
    order, limit, after = asked.get("order", "desc"), asked.get("limit", str(_USUAL_ITEMS)), asked.get("after")
    if order not in ("asc", "desc"):
        raise bad_field("/order", f"must be 'asc' or 'desc', not {order!r}")
    if not limit.isascii() or not limit.isdecimal() or not 1 <= int(limit[:9]) <= _MOST_ITEMS:
        raise bad_field("/limit", f"must be from 1 to {_MOST_ITEMS}, not {limit!r}")
    if order == "desc":
        items.reverse()
    if after is not None:
        at = next((index for index, item in enumerate(items) if item.get("id") == after), None)
        if at is None:
            raise bad_field("/after", f"is the id of no item: {after!r}")
        items = items[at + 1 :]
    shown = items[: int(limit)]
    ids = [item.get("id") for item in shown] or [None]
    return ItemList(data=shown, first_id=ids[0], last_id=ids[-1], has_more=len(shown) < len(items))
