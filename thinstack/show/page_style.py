"""The style sheet of the HTML page: orange to blue, told apart by colour-blind readers, in light
and dark."""

# Background and text of the page, of quiet text, a line, and the tones 0 (very negative) to 4.
LIGHT = {
    "page": ("#ffffff", "#1d2126"),
    "quiet": ("#ffffff", "#5a626d"),
    "line": ("#c9ced4", "#c9ced4"),
    "t0": ("#9a3b00", "#ffffff"),
    "t1": ("#fbc999", "#3d1a00"),
    "t2": ("#e4e7ea", "#2b3037"),
    "t3": ("#b3d6f7", "#062848"),
    "t4": ("#0b559f", "#ffffff"),
}
DARK = {
    "page": ("#15181d", "#e6e9ec"),
    "quiet": ("#15181d", "#a3acb8"),
    "line": ("#454d57", "#454d57"),
    "t0": ("#ffa45c", "#2b1100"),
    "t1": ("#7d3d10", "#ffe6d1"),
    "t2": ("#3e454e", "#f0f2f4"),
    "t3": ("#184c80", "#deeeff"),
    "t4": ("#82c3ff", "#042140"),
}


def _variables(palette: dict[str, tuple[str, str]]) -> str:
    pairs = palette.items()
    return " ".join(f"--{name}: {back}; --{name}-text: {text};" for name, (back, text) in pairs)


_TONES = "\n".join(
    f".t{tone} {{ background: var(--t{tone}); color: var(--t{tone}-text); fill: var(--t{tone}); }}"
    for tone in range(5)
)

STYLE = f"""\
:root {{ color-scheme: light dark; {_variables(LIGHT)} }}
@media (prefers-color-scheme: dark) {{ :root {{ {_variables(DARK)} }} }}
* {{ box-sizing: border-box; }}
body {{ margin: 0; background: var(--page); color: var(--page-text); \
font: 1rem/1.5 system-ui, sans-serif; }}
main {{ max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; overflow-wrap: anywhere; }}
h1 {{ margin: 0 0 1.5rem; font-size: 1rem; font-weight: 600; color: var(--quiet-text); }}
h2 {{ margin: 0 0 .25rem; font-size: 1.5rem; line-height: 1.3; }}
section + section {{ margin-top: 2.5rem; padding-top: 2rem; border-top: 1px solid var(--line); }}
.verdict {{ margin: 0 0 1rem; }}
table {{ border-collapse: collapse; width: 100%; max-width: 32rem; margin-bottom: 1rem; }}
caption, .note {{ text-align: start; color: var(--quiet-text); font-size: .875rem; }}
th, td {{ padding: .125rem .75rem .125rem 0; text-align: start; vertical-align: middle; \
font-weight: 400; }}
th {{ width: 9.5rem; }}
td:nth-child(2) {{ width: 3.5rem; text-align: end; font-variant-numeric: tabular-nums; }}
summary {{ width: max-content; cursor: pointer; color: var(--quiet-text); \
font-size: .875rem; margin-bottom: .5rem; }}
ul {{ list-style: none; margin: 0; padding: 0; }}
.tree {{ position: relative; padding-left: 13.5rem; }}
.tree ul {{ padding-left: 1.25rem; border-left: 1px solid var(--line); margin-left: .25rem; }}
.tree ul.flat {{ border-left-style: dashed; }}
.row {{ min-height: 1.875rem; padding: .1875rem 0; break-inside: avoid; }}
.row .chip {{ position: absolute; left: 0; margin-top: .0625rem; }}
.row .chip {{ white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }}
.row .bar {{ position: absolute; left: 9.5rem; margin-top: .5rem; }}
.chip {{ display: inline-block; width: 9rem; padding: .125rem .5rem; border-radius: .25rem; }}
.chip {{ font-size: .8125rem; line-height: 1.25; }}
.chip b {{ display: inline-block; width: 1.5rem; text-align: center; white-space: nowrap; }}
.plain {{ background: var(--t2); color: var(--t2-text); fill: var(--quiet-text); }}
svg {{ display: block; overflow: hidden; }}
.bar {{ width: 3.25rem; height: .5rem; outline: 1px solid var(--quiet-text); }}
.long {{ width: 100%; height: .75rem; }}
.long rect {{ stroke: var(--quiet-text); stroke-width: 1px; }}
{_TONES}
@media (max-width: 40rem) {{
  h2 {{ font-size: 1.25rem; }}
  .tree {{ padding-left: 5.25rem; }}
  .tree ul {{ padding-left: .5rem; margin-left: .125rem; }}
  .row .chip:not(.plain) {{ width: 2.5rem; }}
  .row .chip b + span {{ position: absolute; width: 1px; height: 1px; overflow: hidden; \
clip-path: inset(50%); }}
  .row .bar {{ left: 2.75rem; width: 2rem; }}
  .tree:has(.plain) {{ padding-left: 7.5rem; }}
  .tree .chip.plain {{ width: 7rem; }}
  .tree .plain + .bar {{ width: 1px; clip-path: inset(50%); }}
}}
@media print {{
  :root {{ {_variables(LIGHT)} }}
  body {{ font-size: 10pt; }}
  * {{ print-color-adjust: exact; -webkit-print-color-adjust: exact; }}
}}
"""
