import { parseSegment, readSegment } from '../../config/index.ts';

/** Node of the path trie: the possible continuations after a segment of a declared path. */
interface Node {
  /** Fixed next segments, by lowercase text; null without any, as most nodes end a path. */
  fixed: Map<string, Fixed> | null;
  /** Next segments that contain variables. */
  variables: readonly Variables[];
  /** Whether a declared path ends at this node. */
  ends: boolean;
  /** Whether a declared path ends at this node with `/*`. */
  open: boolean;
}

interface Fixed {
  readonly spelling: string;
  readonly node: Node;
  /** The next sibling that differs only in letter case, in declaration order; null for the last one. */
  other: Fixed | null;
}

interface Variables {
  /** Fixed text around the variables, as declared. */
  readonly texts: readonly string[];
  /** `texts` in lowercase. */
  readonly folded: readonly string[];
  readonly node: Node;
}

const none: readonly never[] = Object.freeze([]);

function createNode(): Node {
  return { fixed: null, variables: none, ends: false, open: false };
}

/**
 * Maps paths in any letter case to their declared spelling. Used only for paths that match no endpoint as sent; small
 * and quick to build.
 */
export class CaseInsensitivePaths {
  readonly #roots = new Map<string, Node>();
  /** Paths without variables, which take precedence over all others: method → lowercase path → declared path. */
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
    // If two paths differ only in letter case, the first one takes precedence.
    if (!paths.has(key)) paths.set(key, pattern);
  }

  /** Returns the path as declared, with the request's values for the variables; undefined when no path matches. */
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

/** Returns the segment with its fixed text as declared and the request's values; undefined when it does not match. */
function spellValues({ texts, folded }: Variables, segment: string): string | undefined {
  const lower = segment.toLowerCase();
  // Some characters change their length in lowercase, so that values could not be located in the original path.
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

/**
 * Matches the remaining segments: fixed segments take precedence over variables, and variables over a wildcard, as in
 * the router.
 */
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
