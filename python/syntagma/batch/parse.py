"""`Parse`: reads the output of models as messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Unpack

import msgspec

from syntagma.batch.asked import REQUEST, as_data, asked_by, prompt_of
from syntagma.batch.stage import Kind, Stage
from syntagma.batch.values import ids_of, text_of
from syntagma.decoding import TokenizerInfo
from syntagma.entry import check_argument
from syntagma.formats import ChatFormat
from syntagma.messages import Message, ToolLike
from syntagma.parsing import ParserOptions, ReadingOptions, StreamParser
from syntagma.request import resolve_request

__all__ = ["Parse", "message_columns"]


class Parse(Stage):
    """Reads a column of raw texts or of token ids as messages.

    Input column, by standard name: `generated_text`; with `info`, `generated_tokens`. Optional input columns:
    `finish_reason` (the engine's), `prompt`, `prompt_start`, `tools`, `tool_choice`, `response_format` and
    `template_kwargs`, as structures or as JSON text.

    Output columns: `role`, `content`, `reasoning_content`, `tool_calls` (each with `id`, `name`, `arguments` and
    `complete`), `finish_reason`, `incomplete`, `diagnostics` (each with `code`, `message`, `start` and `end`, these in
    code points) and `error`.

    Args:
        fmt: the format.
        tools: the default tools, for rows without tools; see `ChatFormat.parse`.
        info: the vocabulary of `generated_tokens`; None: read `generated_text`.
        columns: standard name → name in the data.
        **options: see `syntagma.parsing.ParserOptions`. `prompt` is the default for rows without a prompt. Missing call
            ids are derived from `id_seed`, the prompt and the text, so that every run gives the same ids.

    Raises:
        ArgumentError: `E-BATCH-NAME`, `columns` has an unknown column; or see `ChatFormat.parser`.
    """

    reads: ClassVar[tuple[str, ...]] = (
        "generated_text",
        "generated_tokens",
        "finish_reason",
        "prompt",
        "prompt_start",
        *REQUEST,
    )
    results: Mapping[str, Kind] = {
        "role": "text",
        "content": "text",
        "reasoning_content": "text",
        "tool_calls": "calls",
        "finish_reason": "text",
        "incomplete": "flag",
        "diagnostics": "diagnostics",
    }

    def __init__(
        self,
        fmt: ChatFormat,
        *,
        tools: Sequence[ToolLike] | None = None,
        info: TokenizerInfo | None = None,
        columns: Mapping[str, str] | None = None,
        **options: Unpack[ParserOptions],
    ) -> None:
        check_argument("fmt", fmt, ChatFormat)
        check_argument("info", info, TokenizerInfo | None)
        super().__init__(columns)
        self.lists = info is not None
        self.needs = "generated_tokens" if self.lists else "generated_text"
        self._format, self._info = fmt, info
        self._seed, self._prompt = options.get("id_seed") or "", options.get("prompt")
        fields = {*ReadingOptions.__struct_fields__, "prompt"}
        reading: dict[str, Any] = {name: value for name, value in options.items() if name in fields - {"prompt"}}
        self._reading = ReadingOptions(**{**reading, "keep_raw": False})
        self._options: dict[str, Any] = as_data({name: value for name, value in options.items() if name not in fields})
        self._options["tools"] = tools
        self._request = resolve_request(**self._options, for_reading=True)

    def _identity(self) -> list[Any]:
        vocabulary = None if self._info is None else [self._info.vocab_size, self._info.eos_token_ids]
        return [self._format.to_toml(), self._options, self._reading, self._seed, self._prompt, self.needs, vocabulary]

    def _answer(self, given: Mapping[str, Any]) -> dict[str, Any]:
        prompt = prompt_of(given) or self._prompt
        if self._info is None:
            text = text_of(given["generated_text"], self._columns["generated_text"])
            parser = self._parser(given, prompt, text)
            parser.feed(text)
        else:
            ids = ids_of(given["generated_tokens"], self._columns["generated_tokens"])
            parser = self._parser(given, prompt, str(ids))
            parser.feed_tokens(ids, self._info)
        reason = given.get("finish_reason")
        parser.finish(reason if isinstance(reason, str) else None)
        return {**message_columns(parser.message), "finish_reason": parser.finish_reason}

    def _parser(self, given: Mapping[str, Any], prompt: str | None, text: str) -> StreamParser:
        request = self._request
        if any(given[name] is not None for name in REQUEST):
            asked = asked_by(given, self._options)
            request = resolve_request(asked.pop("tools"), **asked, for_reading=True)
        seed = f"{self._seed}\n{prompt or ''}\n{text}"
        reading = msgspec.structs.replace(self._reading, id_seed=seed)
        return StreamParser.from_request(self._format, request, prompt=prompt, reading=reading)


def message_columns(message: Message) -> dict[str, Any]:
    """A message as values of columns, by standard names."""
    return {
        "role": message.role,
        "content": message.content,
        "reasoning_content": message.reasoning_content,
        "tool_calls": [
            {"id": call.id, "name": call.name, "arguments": call.arguments, "complete": call.complete}
            for call in message.tool_calls
        ],
        "incomplete": message.incomplete,
        "diagnostics": [
            {"code": one.code, "message": one.message, "start": one.span[0], "end": one.span[1]}
            for one in message.diagnostics
        ],
    }
