import type { Alias, Node, Pair, ParsedNode, YAMLMap, Document as YamlDocument } from 'yaml';
import { type TextNode, type TextRange, textNode } from '../position.ts';

type Yaml = typeof import('yaml');

/** Positions of all values in a YAML text; values from an alias or `<<` are placed where they are defined. */
export function yamlPlaces(library: Yaml, document: YamlDocument<ParsedNode>, text: string): TextNode | undefined {
  const { isAlias, isMap, isScalar, isSeq, visit } = library;
  let sources: Map<Alias, Node> | undefined;

  /** Resolves all aliases at once: the library searches the whole document for each. */
  const sourcesOfAliases = (): Map<Alias, Node> => {
    const results = new Map<Alias, Node>();
    const anchors = new Map<string, Node>();
    visit(document, {
      Node(_key, node) {
        if (!isAlias(node)) {
          if (node.anchor) anchors.set(node.anchor, node);
          return;
        }
        const source = anchors.get(node.source);
        if (source) results.set(node, source);
      },
    });
    return results;
  };

  const resolved = (node: Node): Node | undefined => {
    if (!isAlias(node)) return node;
    sources ??= sourcesOfAliases();
    return sources.get(node);
  };

  const place = (node: Node, key?: Node): TextNode =>
    textNode(rangeOf(node, text), key && rangeOf(key, text), () => innerPlaces(resolved(node)));

  const innerPlaces = (node: Node | undefined): [string, TextNode][] => {
    if (isSeq(node)) return node.items.map((item, index) => [String(index), place(item as Node)]);
    return isMap(node) ? [...merged(node), ...own(node)] : [];
  };

  const own = (map: YAMLMap): [string, TextNode][] =>
    (map.items as Pair<Node, Node | null>[]).flatMap(({ key, value }) =>
      isScalar(key) && typeof key.value !== 'symbol'
        ? [[keyText(key.value, key.source), place(value ?? key, key)]]
        : [],
    );

  /** The first of several merged mappings has precedence, so it is applied last. */
  const merged = (map: YAMLMap): [string, TextNode][] =>
    (map.items as Pair<Node, Node | null>[])
      .filter(({ key, value }) => isScalar(key) && typeof key.value === 'symbol' && value)
      .flatMap(({ value }) => (isSeq(value) ? (value.items as Node[]) : [value!]))
      .reverse()
      .flatMap((source) => innerPlaces(resolved(source)));

  return document.contents ? place(document.contents) : undefined;
}

/** Converts a key to a string, at every depth. */
export function keyText(value: unknown, source: string | undefined): string {
  return typeof value === 'string' ? value : (source ?? String(value));
}

/** Range of a node, without the line breaks that end a block. */
export function rangeOf(node: Node, text: string): TextRange {
  const [start, until] = node.range ?? [0, 0];
  let end = until;
  while (end > start && ' \t\r\n'.includes(text[end - 1]!)) end--;
  return { start, end };
}
