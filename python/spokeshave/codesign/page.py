# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""HTML pages that need nothing else: images inside, style and script written here."""

import base64
import html

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid #ddd; padding: .25em .6em; text-align: left; }
th { cursor: pointer; background: #f5f5f5; position: sticky; top: 0; }
td { vertical-align: top; }
img { max-width: 100%; display: block; margin: 1em 0; }
pre { white-space: pre-wrap; background: #f7f7f7; padding: 1em; }
.scroll { overflow-x: auto; }
"""

# A click sorts by the column, a second one the other way; numbers as numbers,
# with binary and decimal prefixes of their units.
_SCRIPT = """
const scale = { k: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 };
function key(cell) {
  const text = cell.textContent.trim();
  const match = text.match(/^([0-9.]+) ?([A-Za-z]*)/);
  if (!match) return text === '' ? Infinity : text;
  const unit = match[2].match(/^(Ki|Mi|Gi|k|M|G|T)(?=B)/);
  return Number(match[1]) * (unit ? scale[unit[1]] : 1);
}
document.querySelectorAll('th').forEach((head) => head.addEventListener('click', () => {
  const table = head.closest('table'), index = head.cellIndex, body = table.tBodies[0];
  const way = head.dataset.way === '1' ? -1 : 1;
  head.dataset.way = String(way);
  const rows = [...body.rows].map((row) => [key(row.cells[index]), row]);
  rows.sort(([a], [b]) => way * (typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0)
                                                       : (typeof a === 'number' ? -1 : 1)));
  rows.forEach(([, row]) => body.appendChild(row));
}));
"""


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table that sorts by a click on a column's head; all text is escaped."""

    def line(cells: list[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells) + "</tr>"

    body = "\n".join(line(row, "td") for row in rows)
    return (
        f'<div class="scroll"><table><thead>{line(head, "th")}</thead>\n'
        f"<tbody>{body}</tbody></table></div>"
    )


def image(name: str, png: bytes) -> str:
    data = base64.b64encode(png).decode()
    return f'<img alt="{html.escape(name)}" src="data:image/png;base64,{data}">'


def paragraph(text: str) -> str:
    return f"<p>{html.escape(text)}</p>"


def heading(text: str) -> str:
    return f"<h2>{html.escape(text)}</h2>"


def page(title: str, *parts: str) -> str:
    """The whole page. Nothing of it may be loaded from elsewhere: the policy says so."""
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    policy += "; script-src 'unsafe-inline'"
    body = "\n".join(parts)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{html.escape(title)}</title>
<style>{_STYLE}</style></head>
<body><h1>{html.escape(title)}</h1>
{body}
<script>{_SCRIPT}</script>
</body></html>
"""
