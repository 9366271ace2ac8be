const [ROW, HEIGHT, GAP, MARGIN] = [46, 28, 24, 12];

const style = `text{font:13px system-ui,sans-serif;fill:#1f2328}rect{fill:#f6f8fa;stroke:#8c959f}path{fill:none;stroke:#59636e}
marker path{fill:#59636e;stroke:none}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}rect{fill:#151b23;stroke:#6e7681}path{stroke:#9198a1}marker path{fill:#9198a1}}`;

/** A node, or a bend of an arrow that passes a row. */
interface Place {
  readonly name: string;
  readonly row: number;
  readonly width: number;
  readonly isBend: boolean;
  x: number;
}

/**
 * Draws an acyclic graph as SVG: each node is in a row above all nodes that its arrows lead to.
 * @param graph targets by node. @param title accessible name of the picture.
 */
export function graphPicture(title: string, graph: ReadonlyMap<string, readonly string[]>): string {
  const depths = new Map<string, number>();
  const depthOf = (node: string): number => {
    if (!depths.has(node)) depths.set(node, highest((graph.get(node) ?? []).map(depthOf), -1) + 1);
    return depths.get(node)!;
  };
  const last = highest([...graph.keys()].map(depthOf), 0);
  const rows: Place[][] = Array.from({ length: last + 1 }, () => []);
  const place = (name: string, row: number, isBend: boolean): Place => {
    const made = { name, row, width: isBend ? 0 : name.length * 7.5 + 20, isBend, x: 0 };
    rows[row]!.push(made);
    return made;
  };
  const places = new Map([...graph.keys()].map((node) => [node, place(node, last - depthOf(node), false)]));
  const arrows = [...graph].flatMap(([from, targets]) =>
    targets.map((to) => {
      const [start, end] = [places.get(from)!, places.get(to)!];
      const bends = Array.from({ length: end.row - start.row - 1 }, (_, at) => place(to, start.row + at + 1, true));
      return [start, ...bends, end];
    }),
  );
  const width = layOut(rows, arrows);
  const height = rows.length * ROW + MARGIN;
  return `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<title>${title}</title>
<style>${style}</style>
<marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 1 8 4 0 7"/></marker>
${arrows.map((arrow) => `<path d="${curve(arrow)}" marker-end="url(#arrow)"/>`).join('\n')}
${[...places.values()].map(box).join('\n')}
</svg>
`;
}

/** Greatest of numbers, or `least` if that is greater. */
function highest(numbers: readonly number[], least: number): number {
  return numbers.reduce((greatest, number) => Math.max(greatest, number), least);
}

/** Places the nodes of each row next to one another, near the nodes above that lead to them. @returns the width of the picture. */
function layOut(rows: readonly Place[][], arrows: readonly Place[][]): number {
  const sources = new Map<Place, Place[]>();
  for (const arrow of arrows) {
    for (const [at, to] of arrow.slice(1).entries()) sources.set(to, [...(sources.get(to) ?? []), arrow[at]!]);
  }
  const wanted = (place: Place) => {
    const above = sources.get(place) ?? [];
    return above.length === 0 ? 0 : above.reduce((sum, { x }) => sum + x, 0) / above.length;
  };
  for (const row of rows) {
    row.sort((one, other) => wanted(one) - wanted(other));
    let left = Number.NEGATIVE_INFINITY;
    for (const place of row) {
      place.x = Math.max(wanted(place), left + place.width / 2);
      left = place.x + place.width / 2 + GAP;
    }
    const shift = row.reduce((sum, place) => sum + place.x - wanted(place), 0) / row.length;
    for (const place of row) place.x -= shift;
  }
  const all = rows.flat();
  const leftmost = -highest(
    all.map(({ x, width }) => width / 2 - x),
    Number.NEGATIVE_INFINITY,
  );
  for (const place of all) place.x = Math.round(place.x - leftmost + MARGIN);
  return Math.ceil(
    highest(
      all.map(({ x, width }) => x + width / 2),
      0,
    ) + MARGIN,
  );
}

const top = ({ row }: Place) => row * ROW + MARGIN;

/** Path of an arrow from the bottom of its first place to the top of its last one. */
function curve(arrow: readonly Place[]): string {
  const bottom = (place: Place) => top(place) + HEIGHT;
  const steps = arrow.slice(1).map((to, at) => {
    const from = arrow[at]!;
    const middle = (bottom(from) + top(to)) / 2;
    return `C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${top(to)}${to.isBend ? `V${bottom(to)}` : ''}`;
  });
  return `M${arrow[0]!.x} ${bottom(arrow[0]!)}${steps.join('')}`;
}

const box = (place: Place) =>
  `<rect x="${place.x - place.width / 2}" y="${top(place)}" width="${place.width}" height="${HEIGHT}" rx="4"/>` +
  `<text x="${place.x}" y="${top(place) + 18}" text-anchor="middle">${place.name}</text>`;
