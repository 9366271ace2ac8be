import { parseSegment, readSegment } from '../config/index.ts';

/** One segment of declared paths, and what may follow it. */
interface Node {
  /** By their text in lower case; null for none: most are the end of a path. */
  fixed: Map<string, Fixed> | null;
  /** Segments with variables. */
  variables: readonly Variables[];
  /** A declared path ends here. */
  ends: boolean;
  /** A declared path ends here in `/*`. */
  open: boolean;
}

interface Fixed {
  readonly spelling: string;
  readonly node: Node;
  /** The next of those that differ in letter case alone, in order of declaration; null for none. */
  other: Fixed | null;
}

interface Variables {
  /** The fixed text, as declared. */
  readonly texts: readonly string[];
  /** The same in lower case. */
  readonly folded: readonly string[];
  readonly node: Node;
}

const none: readonly never[] = Object.freeze([]);

function createNode(): Node {
  return { fixed: null, variables: none, ends: false, open: false };
}

/**
 * The declared spelling of paths, whatever the letter case they are asked for in (routing rule R5). Asked only for paths
 * that match nothing as they stand; small and quick to fill.
 */
export class CaseInsensitivePaths {
  readonly #roots = new Map<string, Node>();
  /** Paths without variables, which come before all others: by method, and then in lower case. */
  readonly #fixed = new Map<string, Map<string, string>>();

  add(method: string, pattern: string): void {
    if (!pattern.includes('{') && !pattern.endsWith('/*')) {
      this.#addFixed(method, pattern);
      return;
    }
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

  #addFixed(method: string, pattern: string): void {
    let paths = this.#fixed.get(method);
    if (!paths) {
      paths = new Map();
      this.#fixed.set(method, paths);
    }
    const key = pattern.toLowerCase();
    // Of two that differ in letter case alone the first one counts.
    if (!paths.has(key)) paths.set(key, pattern);
  }

  /** The path as it was declared, with its own values for the variables; undefined when there is none like it. */
  find(method: string, path: string): string | undefined {
    const fixed = this.#fixed.get(method)?.get(path.toLowerCase());
    if (fixed !== undefined) return fixed;
    const root = this.#roots.get(method);
    const spelled = root && spell(root, path.slice(1).split('/'), 0);
    return spelled && `/${spelled.join('/')}`;
  }
}

function step(node: Node, segment: string): Node {
  const { texts, names } = parseSegment(segment);
  if (names.length === 0) {
    const key = segment.toLowerCase();
    node.fixed ??= new Map();
    let last: Fixed | null = null;
    for (let known = node.fixed.get(key) ?? null; known; known = known.other) {
      if (known.spelling === segment) return known.node;
      last = known;
    }
    const added: Fixed = { spelling: segment, node: createNode(), other: null };
    if (last) last.other = added;
    else node.fixed.set(key, added);
    return added.node;
  }
  const form = texts.join('{}');
  const known = node.variables.find((variables) => variables.texts.join('{}') === form);
  if (known) return known.node;
  const next = createNode();
  node.variables = [...node.variables, { texts, folded: texts.map((text) => text.toLowerCase()), node: next }];
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
  for (let fixed = node.fixed?.get(segment.toLowerCase()) ?? null; fixed; fixed = fixed.other) {
    const tail = spell(fixed.node, segments, at + 1);
    if (tail) return [fixed.spelling, ...tail];
  }
  for (const variables of node.variables) {
    const spelled = spellValues(variables, segment);
    const rest = spelled === undefined ? undefined : spell(variables.node, segments, at + 1);
    if (rest) return [spelled!, ...rest];
  }
  return node.open ? segments.slice(at) : undefined;
}
