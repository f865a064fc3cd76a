"""The server's log: one line per record, for people or as JSON."""

from __future__ import annotations

import logging
import sys
import time
from typing import Any, Final, Literal

import msgspec

from syntagma.errors import SyntagmaError
from syntagma.serving.records import Observer, RequestRecord, current_record

__all__ = ["AccessLog", "JsonLines", "TextLines", "configure", "say"]

_FIELDS: Final = "syntagma_fields"
"""the attribute of a log record with its fields for programs"""
_SHOWN: Final = ("key", "model", "prompt_tokens", "completion_tokens")
"""fields that a line for people has behind the others"""
_access = logging.getLogger("syntagma.access")


class JsonLines(logging.Formatter):
    """One JSON object per line: `time`, `level`, `logger`, `message`, and further fields.

    `request_id` is there while a request is answered; `error`, with the code, the place and the hint, for an exception
    of the library; `traceback`, for any exception.
    """

    def format(self, record: logging.LogRecord) -> str:
        """See `logging.Formatter`."""
        line: dict[str, Any] = {
            "time": _time(record, "%Y-%m-%dT%H:%M:%S") + "Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        request = current_record()
        if request is not None:
            line["request_id"] = request.id
        line |= getattr(record, _FIELDS, {})
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            if isinstance(error, SyntagmaError):
                line["error"] = error.to_dict()
            line["traceback"] = self.formatException(record.exc_info)
        # A name or message may hold invalid Unicode.
        return msgspec.json.encode(_encodable(line)).decode()


class TextLines(logging.Formatter):
    """One line for people: time, level, message, and the id of the request."""

    def format(self, record: logging.LogRecord) -> str:
        """See `logging.Formatter`."""
        request = current_record()
        shown = "" if request is None else f" [{request.id}]"
        text = f"{_time(record, '%Y-%m-%d %H:%M:%S')} {record.levelname}{shown} {record.getMessage()}"
        return f"{text}\n{self.formatException(record.exc_info)}" if record.exc_info else text


def _time(record: logging.LogRecord, form: str) -> str:
    """The time of a record in UTC, with milliseconds."""
    return f"{time.strftime(form, time.gmtime(record.created))}.{int(record.msecs):03d}"


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(inner) for key, inner in value.items()}
    if value is None or isinstance(value, bool | int | float):
        return value
    return [_encodable(item) for item in value] if isinstance(value, list | tuple) else str(value)


class AccessLog(Observer):
    """An observer that writes a line for each request, at level `info`, under `syntagma.access`."""

    def finished(self, record: RequestRecord) -> None:
        """See `Observer`."""
        if not _access.isEnabledFor(logging.INFO):
            return
        metrics = [one.result.metrics for one in record.choices]
        known: dict[str, Any] = {
            "method": record.method,
            "path": record.path,
            "status": record.status,
            "seconds": round(record.seconds, 6),
            "code": record.code,
            "key": record.key,
            "model": record.model,
            "first_seconds": None if record.first is None else round(record.first, 6),
            "prompt_tokens": metrics[0].prompt_tokens if metrics else None,
            "completion_tokens": sum(one.completion_tokens for one in metrics) if metrics else None,
            "finish_reasons": [one.result.finish_reason for one in record.choices] or None,
        }
        fields = {name: value for name, value in known.items() if value is not None}
        # A path is the client's text: characters that could end the line are escaped.
        path = record.path.encode("unicode_escape").decode()
        status = "gone" if record.status is None else record.status
        code = "" if record.code is None else f" {record.code}"
        shown = [f"{name}={fields[name]}" for name in _SHOWN if name in fields]
        more = "".join(f" {one}" for one in shown).encode("unicode_escape").decode()
        _access.info(
            "%s %s %s%s %.3f s%s", record.method, path, status, code, record.seconds, more, extra={_FIELDS: fields}
        )


def say(form: Literal["text", "json"], message: str) -> None:
    """Write a line to standard error, in the form of the log, whatever level that has."""
    record = logging.LogRecord("syntagma.serving", logging.INFO, "", 0, message, None, None)
    sys.stderr.write(f"{message if form == 'text' else JsonLines().format(record)}\n")


def configure(form: Literal["text", "json"], level: str) -> None:
    """Send the log of this process to standard error.

    Args:
        form: `text` or `json` lines.
        level: the lowest level that is logged: `debug`, `info` (a line for each request), `warning` or `error`.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    for name in ("syntagma", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(level.upper())
