"""`Render`: conversations as prompts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Unpack

from syntagma.batch.asked import REQUEST
from syntagma.batch.rendering import codec_identity, render_options
from syntagma.batch.stage import Kind, Stage
from syntagma.batch.values import from_json
from syntagma.codec import ChatCodec
from syntagma.decoding import TokenizerInfo
from syntagma.entry import entry
from syntagma.errors import ArgumentError
from syntagma.templates import ChatTemplate, RenderOptions

__all__ = ["Render"]


class Render(Stage):
    """Renders a column of conversations as prompts.

    Columns that are read, by their standard names: `messages`, and, where a row has them, `tools`, `documents` and
    `template_kwargs`, as structures or as JSON text. Columns that are written: `prompt`, `prompt_start` (where the
    assistant's turn begins in it, in code points), `prompt_ids` if there is `info`, and `error`.

    Args:
        codec: brings messages and tools into the form that the template wants; or a template, which gets them as they
            are.
        info: the model's vocabulary: `prompt_ids` is written, too, in which no text of users or tools is a control
            token, see `Turn.prompt_ids`; None: it is not.
        columns: standard name → name in the data.
        **options: see `syntagma.templates.RenderOptions`; `tools` are those of rows that bring none.

    Raises:
        ArgumentError: `E-BATCH-NAME`, an unknown column in `columns`; `E-CODEC-TEMPLATE`, the codec has no template.
    """

    needs = "messages"
    lists = True
    reads: ClassVar[tuple[str, ...]] = ("messages", "documents", *REQUEST)
    results: Mapping[str, Kind] = {"prompt": "text", "prompt_start": "count"}

    @entry
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
        super().__init__(columns)
        self._info = info
        if isinstance(codec, ChatCodec) and codec.template is None:
            raise ArgumentError("E-CODEC-TEMPLATE", "the codec has no template to render with")
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
