import { parseSegment, readSegment } from '../config/index.ts';

/** One segment of declared paths, and what may follow it. */
interface Node {
  readonly fixed: Map<string, { readonly spelling: string; readonly node: Node }>;
  /** Segments with variables. */
  readonly variables: Variables[];
  /** A declared path ends here. */
  ends: boolean;
  /** A declared path ends here in `/*`. */
  open: boolean;
}

interface Variables {
  /** The fixed text, as declared. */
  readonly texts: readonly string[];
  /** The same in lower case. */
  readonly folded: readonly string[];
  readonly node: Node;
}

function createNode(): Node {
  return { fixed: new Map(), variables: [], ends: false, open: false };
}

/**
 * The declared spelling of paths, whatever the letter case they are asked for in (routing rule R5). Asked only for paths
 * that match nothing as they stand; small and quick to fill.
 */
export class CaseInsensitivePaths {
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
  const { texts, names } = parseSegment(segment);
  if (names.length === 0) {
    const key = segment.toLowerCase();
    const known = node.fixed.get(key);
    if (known) return known.node;
    const next = createNode();
    node.fixed.set(key, { spelling: segment, node: next });
    return next;
  }
  const form = texts.join('{}');
  const known = node.variables.find((variables) => variables.texts.join('{}') === form);
  if (known) return known.node;
  const next = createNode();
  node.variables.push({ texts, folded: texts.map((text) => text.toLowerCase()), node: next });
  return next;
}

/** The segment with its fixed text as declared and its own values; undefined when it is not of this form. */
function spellValues({ texts, folded }: Variables, segment: string): string | undefined {
  const lower = segment.toLowerCase();
  // A few letters have another length in lower case: the values could not be found again.
  const lengths = lower.length === segment.length ? readSegment(folded, lower) : undefined;
  if (!lengths) return undefined;
  let start = texts[0]!.length;
  let spelled = texts[0]!;
  for (const [at, { length }] of lengths.entries()) {
    spelled += segment.slice(start, start + length) + texts[at + 1]!;
    start += length + texts[at + 1]!.length;
  }
  return spelled;
}

/** Fixed segments come before variables, variables before a wildcard, as in the router itself. */
function spell(node: Node, segments: readonly string[], at: number): string[] | undefined {
  const segment = segments[at];
  if (segment === undefined) return node.ends ? [] : undefined;
  const fixed = node.fixed.get(segment.toLowerCase());
  const tail = fixed && spell(fixed.node, segments, at + 1);
  if (tail) return [fixed.spelling, ...tail];
  for (const variables of node.variables) {
    const spelled = spellValues(variables, segment);
    const rest = spelled === undefined ? undefined : spell(variables.node, segments, at + 1);
    if (rest) return [spelled!, ...rest];
  }
  return node.open ? segments.slice(at) : undefined;
}
