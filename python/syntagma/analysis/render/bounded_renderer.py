"""Renders of one template: each is made once, and all are bounded together."""

from __future__ import annotations

import datetime
import json
import re
import time
from typing import Any

from syntagma.analysis.render.conversation import Inputs, prepared
from syntagma.errors import LimitError, SyntagmaError, TemplateError
from syntagma.limits import Limits
from syntagma.templates import ChatTemplate

__all__ = ["BoundedRenderer"]

_UNDEFINED = re.compile(r"'(\w{1,80})' is undefined")
_MAX_LIMIT_ERRORS = 3
_NOW = datetime.date(2030, 1, 1)


class BoundedRenderer:
    """Renders one template, caches the results by their arguments, and bounds the cost of all renders together.

    Attributes:
        count: the number of renders.
        seconds: their CPU time, seconds.
        last_error: the error of the last failed render, made or cached.
    """

    def __init__(self, template: ChatTemplate, limits: Limits) -> None:
        self._template = template
        self._variants: dict[tuple[bool, bool], ChatTemplate] = {}
        self._limits = limits
        self._known: dict[str, str | SyntagmaError] = {}
        self._limit_errors = 0
        self.count = 0
        self.seconds = 0.0
        self.last_error: SyntagmaError | None = None

    def render(
        self,
        messages: list[dict[str, Any]],
        inputs: Inputs,
        *,
        tools: list[dict[str, Any]] | None = None,
        prompt: bool = False,
        settings: dict[str, Any] | None = None,
    ) -> str | None:
        """Render a conversation; None if the template refuses it.

        Args:
            messages: the conversation, without the system message that `inputs` may ask for.
            inputs: the inputs that the template needs.
            tools: declared tools; None: as `inputs` says.
            prompt: whether the generation prompt is added.
            settings: template variables in place of `inputs.settings`.

        Raises:
            TemplateError: `E-TEMPLATE-ANALYSIS`, the renders went beyond the limits of one analysis.
        """
        messages = prepared(messages, inputs)
        if tools is None and inputs.tools == "empty":
            tools = []
        variables = inputs.variables | (inputs.settings if settings is None else settings)
        key = json.dumps([messages, tools, prompt, variables, inputs.lenient, inputs.omit_none])
        if key not in self._known:
            template = self._variant(lenient=inputs.lenient, omit_none=inputs.omit_none)
            self._known[key] = self._render(template, messages, tools, prompt, variables)
        known = self._known[key]
        if isinstance(known, str):
            return known
        self.last_error = known
        return None

    def undefined_name(self) -> str | None:
        """The undefined variable for which the last failed render failed; None: it failed for another reason."""
        match = _UNDEFINED.search(self.last_error.message) if self.last_error else None
        return match[1] if match else None

    def _variant(self, *, lenient: bool, omit_none: bool) -> ChatTemplate:
        key = (lenient, omit_none)
        if key not in self._variants:
            self._variants[key] = self._template.variant(lenient=lenient, omit_none=omit_none)
        return self._variants[key]

    def _render(
        self,
        template: ChatTemplate,
        messages: list[dict[str, Any]],
        tools: list[dict[str, Any]] | None,
        prompt: bool,
        variables: dict[str, Any],
    ) -> str | SyntagmaError:
        if self.seconds > self._limits.analysis_seconds:
            raise _limits_exceeded(f"rendering took more than {self._limits.analysis_seconds} s")
        started = time.thread_time()
        self.count += 1
        try:
            return template.render(
                messages, tools=tools, add_generation_prompt=prompt, template_kwargs=variables, now=_NOW
            )
        except LimitError as error:
            self._limit_errors += 1
            if self._limit_errors >= _MAX_LIMIT_ERRORS:
                raise _limits_exceeded(
                    f"{_MAX_LIMIT_ERRORS} probes went beyond a limit, the last with {error.code}"
                ) from error
            return error
        except SyntagmaError as error:
            return error
        finally:
            self.seconds += time.thread_time() - started


def _limits_exceeded(why: str) -> TemplateError:
    return TemplateError(
        "E-TEMPLATE-ANALYSIS",
        f"the template cannot be analysed within the limits: {why}",
        hint="name the format yourself, or raise `Limits.analysis_seconds` for templates that you trust",
    )
