/** One segment of declared paths, and what may follow it. */
interface Node {
  readonly fixed: Map<string, { readonly spelling: string; readonly node: Node }>;
  /** Segments that end in a variable, by what stands before it: empty for a whole segment. */
  readonly variables: { readonly spelling: string; readonly node: Node }[];
  /** A declared path ends here. */
  ends: boolean;
  /** A declared path ends here in `/*`. */
  open: boolean;
}

function createNode(): Node {
  return { fixed: new Map(), variables: [], ends: false, open: false };
}

/**
 * The declared spelling of paths, whatever the letter case they are asked for in (routing rule R5). Asked only for paths
 * that match nothing as they stand; small and quick to fill.
 */
export class Spelling {
  readonly #roots = new Map<string, Node>();

  add(method: string, pattern: string): void {
    let node = this.#roots.get(method);
    if (!node) {
      node = createNode();
      this.#roots.set(method, node);
    }
    for (const segment of pattern.slice(1).split('/')) {
      if (segment === '*') {
        node.open = true;
        return;
      }
      node = step(node, segment);
    }
    node.ends = true;
  }

  /** The path as it was declared, with its own values for the variables; undefined when there is none like it. */
  find(method: string, path: string): string | undefined {
    const root = this.#roots.get(method);
    const spelled = root && spell(root, path.slice(1).split('/'), 0);
    return spelled && `/${spelled.join('/')}`;
  }
}

function step(node: Node, segment: string): Node {
  const brace = segment.indexOf('{');
  if (brace < 0) {
    const key = segment.toLowerCase();
    const known = node.fixed.get(key);
    if (known) return known.node;
    const next = createNode();
    node.fixed.set(key, { spelling: segment, node: next });
    return next;
  }
  const spelling = segment.slice(0, brace);
  const known = node.variables.find((variable) => variable.spelling === spelling);
  if (known) return known.node;
  const next = createNode();
  node.variables.push({ spelling, node: next });
  return next;
}

/** Fixed segments come before variables, variables before a wildcard, as in the router itself. */
function spell(node: Node, segments: readonly string[], at: number): string[] | undefined {
  const segment = segments[at];
  if (segment === undefined) return node.ends ? [] : undefined;
  const fixed = node.fixed.get(segment.toLowerCase());
  const tail = fixed && spell(fixed.node, segments, at + 1);
  if (tail) return [fixed.spelling, ...tail];
  for (const { spelling, node: next } of node.variables) {
    const value = segment.slice(spelling.length);
    if (value === '' || segment.slice(0, spelling.length).toLowerCase() !== spelling.toLowerCase()) continue;
    const rest = spell(next, segments, at + 1);
    if (rest) return [spelling + value, ...rest];
  }
  return node.open ? segments.slice(at) : undefined;
}
