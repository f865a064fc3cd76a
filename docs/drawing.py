"""Pictures of the documentation, as SVG: boxes, arrows and words on a sheet that is readable in light and in dark."""

from __future__ import annotations

from html import escape

__all__ = ["Drawing"]

_STYLE = """
  .sheet { fill: #ffffff; stroke: #d0d7de }
  .box { fill: #f3f6fa; stroke: #8c959f; stroke-width: 1.2 }
  .key { fill: #ddf4ff; stroke: #218bff; stroke-width: 1.4 }
  .good { fill: #dafbe1; stroke: #2da44e; stroke-width: 1.2 }
  .bad { fill: #ffebe9; stroke: #cf222e; stroke-width: 1.2 }
  .held { fill: #fff8c5; stroke: #bf8700; stroke-width: 1.2 }
  .line { stroke: #57606a; stroke-width: 1.5; fill: none }
  .head { fill: #57606a }
  text { fill: #1f2328; font: 14px system-ui, sans-serif }
  .small { font-size: 12px; fill: #57606a }
  .bold { font-weight: 600 }
  .code { font: 13px ui-monospace, monospace; white-space: pre }
  @media (prefers-color-scheme: dark) {
    .sheet { fill: #161b22; stroke: #30363d }
    .box { fill: #21262d; stroke: #6e7681 }
    .key { fill: #0c2d6b; stroke: #388bfd }
    .good { fill: #033a16; stroke: #2ea043 }
    .bad { fill: #5d0f12; stroke: #f85149 }
    .held { fill: #4b2900; stroke: #d29922 }
    .line { stroke: #9198a1 }
    .head { fill: #9198a1 }
    text { fill: #e6edf3 }
    .small { fill: #9198a1 }
  }
"""
_CODE_WIDTH = 7.85
_TEXT_WIDTH = 7.1


class Drawing:
    """A picture of a size, in pixels. Its title says, to those who do not see it, what it shows."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self._parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
            f' role="img" aria-labelledby="title">\n<title id="title">{escape(title)}</title>\n'
            f"<style>{_STYLE}</style>\n"
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            '<path class="head" d="M0 0 L8 4 L0 8 z"/></marker></defs>\n'
            f'<rect class="sheet" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>\n'
        ]

    def text(self, x: float, y: float, words: str, kind: str = "", anchor: str = "middle") -> None:
        """Words whose baseline is at y; the kinds are `small`, `bold` and `code`, or two of them."""
        look = f' class="{kind}"' if kind else ""
        self._parts.append(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{look}>{escape(words)}</text>\n')

    def turned(self, x: float, y: float, words: str) -> None:
        """Words that go up to the right, as above a narrow column."""
        place = f'transform="translate({x:g} {y:g}) rotate(-60)"'
        self._parts.append(f'<text class="small" {place}>{escape(words)}</text>\n')

    def box(self, x: float, y: float, width: float, height: float, *lines: str, look: str = "box") -> None:
        """A box with centred lines: the first is bold, the others are small; one in backticks is code."""
        self._parts.append(f'<rect class="{look}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6"/>\n')
        top = y + height / 2 - 9 * (len(lines) - 1) + 5
        for at, line in enumerate(lines):
            kind = "code" if line.startswith("`") else "bold" if at == 0 else "small"
            self.text(x + width / 2, top + 18 * at, line.strip("`"), kind)

    def cells(self, x: float, y: float, cells: list[tuple[str, str]], height: float = 26) -> list[tuple[float, float]]:
        """Pieces of code side by side, each `(text, look)`; returns where each begins and ends."""
        places = []
        for words, look in cells:
            width = len(words) * _CODE_WIDTH + 12
            self._parts.append(
                f'<rect class="{look}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3"/>\n'
            )
            self.text(x + width / 2, y + height / 2 + 5, words, "code")
            places.append((x, x + width))
            x += width + 3
        return places

    def arrow(self, *points: tuple[float, float], words: str = "", kind: str = "small") -> None:
        """A line through the points, with a tip at its end; words stand above its middle."""
        path = " L".join(f"{x:g} {y:g}" for x, y in points)
        self._parts.append(f'<path class="line" d="M{path}" marker-end="url(#tip)"/>\n')
        if words:
            (x1, y1), (x2, y2) = points[0], points[-1]
            self.text((x1 + x2) / 2, (y1 + y2) / 2 - 7, words, kind)

    def dot(self, x: float, y: float) -> None:
        """A mark in a table."""
        self._parts.append(f'<circle class="head" cx="{x:g}" cy="{y:g}" r="4.5"/>\n')

    def rule(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """A thin line."""
        self._parts.append(f'<path class="line" style="stroke-width:.4" d="M{x1:g} {y1:g} L{x2:g} {y2:g}"/>\n')

    def svg(self) -> str:
        """The file."""
        return "".join(self._parts) + "</svg>\n"


def matrix(title: str, rows: list[str], columns: list[str], marks: set[tuple[str, str]]) -> str:
    """A table of marks: rows from the top, columns from the left."""
    left, top, step = 24 + _TEXT_WIDTH * max(map(len, rows)), 150, 26
    width, height = left + step * len(columns) + 90, top + step * len(rows) + 16
    drawing = Drawing(round(width), height, title)
    drawing.text(left - 10, top - 10, "from ↓  to →", "small", "end")
    for at, column in enumerate(columns):
        x = left + step * at + step / 2
        drawing.turned(x, top - 8, column)
        drawing.rule(x, top, x, height - 12)
    for at, row in enumerate(rows):
        y = top + step * at + step / 2
        drawing.text(left - 10, y + 5, row, "small", "end")
        drawing.rule(left, y, left + step * len(columns), y)
        for mark, column in enumerate(columns):
            if (row, column) in marks:
                drawing.dot(left + step * mark + step / 2, y)
    return drawing.svg()
