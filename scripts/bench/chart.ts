/** One bar: CPU time per request in microseconds, of the program and of the kernel on its behalf. */
export interface Bar {
  readonly name: string;
  readonly user: number;
  readonly system: number;
  /** Text after the value. */
  readonly note?: string;
  /** True for the program whose bar is highlighted in the chart. */
  readonly own?: boolean;
}

const WIDTH = 760;
const LABELS = 190;
const NOTES = 130;
const ROW = 28;
const TOP = 64;

const STYLE = `text{font:13px system-ui,sans-serif;fill:#1f2328}.title{font-size:15px;font-weight:600}.quiet{fill:#59636e}
.user{fill:#8c959f}.system{fill:#c8ced4}.own .user{fill:#0969da}.own .system{fill:#80b4f0}.own text{font-weight:600}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.quiet{fill:#9198a1}.user{fill:#6e7681}.system{fill:#40474f}
.own .user{fill:#4493f8}.own .system{fill:#234d86}}`;

/** Horizontal bars as an SVG document, shortest first; the colors follow the reader's light or dark scheme. */
export function chart(title: string, bars: readonly Bar[]): string {
  const sorted = bars.toSorted((a, b) => a.user + a.system - (b.user + b.system));
  const last = sorted.at(-1);
  const longest = (last ? last.user + last.system : 0) || Number.MIN_VALUE;
  const scale = (WIDTH - LABELS - NOTES) / longest;
  const height = TOP + sorted.length * ROW + 8;
  const rows = sorted.map((bar, index) => row(bar, TOP + index * ROW, scale));
  return `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
<text class="title" x="8" y="22">${escaped(title)}</text>
<text class="quiet" x="8" y="44">CPU time of a request in µs, dark: the program, light: the system; ratio to the bare Node program</text>
${rows.join('\n')}
</svg>
`;
}

function row({ name, user, system, note, own }: Bar, y: number, scale: number): string {
  const middle = y + ROW / 2 + 4;
  const [dark, light] = [user * scale, system * scale];
  const figure = `${(user + system).toFixed(1)}${note === undefined ? '' : ` · ${note}`}`;
  return `<g${own ? ' class="own"' : ''}><text x="${LABELS - 8}" y="${middle}" text-anchor="end">${escaped(name)}</text>
<rect class="user" x="${LABELS}" y="${y + 4}" width="${dark.toFixed(1)}" height="${ROW - 8}"/>
<rect class="system" x="${(LABELS + dark).toFixed(1)}" y="${y + 4}" width="${light.toFixed(1)}" height="${ROW - 8}"/>
<text x="${(LABELS + dark + light + 8).toFixed(1)}" y="${middle}">${escaped(figure)}</text></g>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
