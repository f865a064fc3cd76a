"""`Render`: renders conversations as prompts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Unpack

from syntagma.batch.asked import REQUEST
from syntagma.batch.rendering import codec_identity, render_options
from syntagma.batch.stage import Kind, Stage
from syntagma.batch.values import from_json
from syntagma.codec import ChatCodec
from syntagma.decoding import TokenizerInfo
from syntagma.entry import check_argument
from syntagma.errors import ArgumentError
from syntagma.templates import ChatTemplate, RenderOptions

__all__ = ["Render"]


class Render(Stage):
    """Renders a column of conversations as prompts.

    Input column, by standard name: `messages`. Optional input columns: `tools`, `documents` and `template_kwargs`, as
    structures or as JSON text. Output columns: `prompt`, `prompt_start` (offset of the assistant's turn in the prompt,
    in code points), with `info` also `prompt_ids`, and `error`.

    Args:
        codec: a codec, which adapts messages and tools to its template; or a template, which gets them unchanged.
        info: the model's vocabulary, for the column `prompt_ids`, in which no text of others becomes a control token
            (see `Turn.prompt_ids`); None: no such column.
        columns: standard name → name in the data.
        **options: see `syntagma.templates.RenderOptions`. `tools` is the default for rows without tools.

    Raises:
        ArgumentError: `E-BATCH-NAME`, `columns` has an unknown column; `E-CODEC-TEMPLATE`, the codec has no template.
    """

    needs = "messages"
    lists = True
    reads: ClassVar[tuple[str, ...]] = ("messages", "documents", *REQUEST)
    results: Mapping[str, Kind] = {"prompt": "text", "prompt_start": "count"}

    def __init__(
        self,
        codec: ChatCodec | ChatTemplate,
        *,
        info: TokenizerInfo | None = None,
        columns: Mapping[str, str] | None = None,
        **options: Unpack[RenderOptions],
    ) -> None:
        if info is not None:
            self.results = {**self.results, "prompt_ids": "ids"}
        check_argument("codec", codec, ChatCodec | ChatTemplate)
        check_argument("info", info, TokenizerInfo | None)
        super().__init__(columns)
        self._info = info
        if isinstance(codec, ChatCodec) and codec.template is None:
            raise ArgumentError("E-CODEC-TEMPLATE", "the codec has no template")
        self._renders = codec
        self._options: dict[str, Any] = dict(options)

    def _identity(self) -> list[Any]:
        renders = self._renders
        if isinstance(renders, ChatTemplate):
            return [renders.source, self._options]
        return [*codec_identity(renders), self._options]

    def _answer(self, given: Mapping[str, Any]) -> dict[str, Any]:
        messages = from_json(given["messages"], self._columns["messages"])
        whole = render_options(given, self._options, self._columns["documents"])
        prompt = self._renders.render(messages, **whole)
        found: dict[str, Any] = {"prompt": str(prompt), "prompt_start": prompt.start}
        return found if self._info is None else {**found, "prompt_ids": prompt.ids(self._info)}
