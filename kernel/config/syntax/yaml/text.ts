import { createRequire } from 'node:module';
import type { Node, Pair, ParsedNode, YAMLMap, Document as YamlDocument } from 'yaml';
import { type Data, type DataObject, isObject, setKey } from '#contract';
import { joinPointer } from '../../../values/pointer.ts';
import { finderOf } from '../position.ts';
import type { LiteralStyle } from '../string-literal.ts';
import { duplicateKey, type Format, syntaxFault, type TextFault } from '../text-format.ts';
import { keyText, rangeOf, yamlPlaces } from './places.ts';
import { yamlSyntaxFaults } from './syntax.ts';

type Yaml = typeof import('yaml');

/** Maximum number of nodes that aliases may add to a document, so that a few lines cannot exhaust the memory. */
const MAX_ALIASED_NODES = 100_000;

/** YAML 1.2 with merge keys. Keys become strings, numbers keep their digits. */
export const yaml: Format = {
  parse(text) {
    const library = load();
    const document = parseYaml(library, text);
    if (document.errors.length > 0) {
      return { data: undefined, faults: yamlSyntaxFaults(library, document, text) };
    }
    return toData(library, document, text);
  },
  finder(text) {
    const library = load();
    return finderOf(yamlPlaces(library, parseYaml(library, text), text));
  },
  literalStyle(source) {
    const [, style] = styles.find(([pattern]) => pattern.test(source))!;
    return style?.(source);
  },
};

const load = (): Yaml => createRequire(import.meta.url)('yaml') as Yaml;

function parseYaml(library: Yaml, text: string): YamlDocument<ParsedNode> {
  // Duplicate keys are detected during conversion: the library's own search is quadratic.
  const options = { merge: true, prettyErrors: false, uniqueKeys: false, logLevel: 'error' } as const;
  return library.parseDocument(text, options) as YamlDocument<ParsedNode>;
}

const escapeSequence = /\\(?:x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|\r?\n[ \t]*|[\s\S])/y;

/** Literal styles by their first characters; aliases and collections are not strings. */
const styles: readonly (readonly [pattern: RegExp, style?: (source: string) => LiteralStyle])[] = [
  [/^"/, () => ({ open: 1, close: 1, escape: escapeSequence, breaks: 'flow' })],
  [/^'/, () => ({ open: 1, close: 1, escape: /''/y, breaks: 'flow' })],
  [/^[|>]/, (source) => ({ open: /^[^\r\n]*/.exec(source)![0].length, close: 0, breaks: 'block' })],
  [/^[*[{]/],
  [/^/, () => ({ open: 0, close: 0, breaks: 'flow' })],
];

function toData(library: Yaml, document: YamlDocument<ParsedNode>, text: string): { data: Data; faults: TextFault[] } {
  const { isAlias, isMap, isScalar, isSeq } = library;
  const faults: TextFault[] = [];
  const anchors = new Map<string, Node>();
  const open = new Set<Node>();
  let aliasDepth = 0;
  let aliasedNodes = 0;

  const complain = (message: string, node: Node): null => {
    // Errors in aliased content are reported where it is defined.
    if (aliasDepth === 0) faults.push(syntaxFault(message, rangeOf(node, text)));
    return null;
  };

  const convert = (node: Node | null | undefined, pointer: string): Data => {
    if (!node) return null;
    if (isAlias(node)) {
      const source = anchors.get(node.source);
      if (!source || open.has(source)) return complain(`alias '*${node.source}' does not exist`, node);
      if (aliasedNodes > MAX_ALIASED_NODES) return null;
      aliasDepth++;
      const data = convert(source, pointer);
      aliasDepth--;
      if (aliasedNodes > MAX_ALIASED_NODES) complain('aliases expand to too much data', node);
      return data;
    }
    if (aliasDepth > 0 && ++aliasedNodes > MAX_ALIASED_NODES) return null;
    const { anchor } = node as { anchor?: string };
    if (anchor) anchors.set(anchor, node);
    if (isScalar(node)) {
      const data = scalar(node.value, node.source);
      return data === undefined ? complain(`${node.source} is not a JSON number`, node) : data;
    }
    open.add(node);
    const data = isMap(node)
      ? object(node, pointer)
      : isSeq(node)
        ? node.items.map((item, index) => convert(item as Node, `${pointer}/${index}`))
        : null;
    open.delete(node);
    return data;
  };

  const object = (map: YAMLMap, pointer: string): DataObject => {
    const result: DataObject = {};
    const merged: Data[] = [];
    const keys = new Map<string, Node>();
    for (const { key, value } of map.items as Pair<Node, Node | null>[]) {
      if (!isScalar(key)) {
        complain('a key must be a plain value', key ?? map);
        continue;
      }
      const name = keyText(key.value, key.source);
      const inner = joinPointer(pointer, name);
      const data = convert(value, inner);
      if (typeof key.value === 'symbol') {
        for (const one of Array.isArray(data) ? data : [data]) merged.push(one);
        continue;
      }
      const first = keys.get(name);
      if (first && aliasDepth === 0) faults.push(duplicateKey(name, inner, rangeOf(key, text), rangeOf(first, text)));
      keys.set(name, first ?? key);
      setKey(result, name, data);
    }
    for (const source of merged) {
      if (!isObject(source)) {
        complain('<< requires objects', map);
        continue;
      }
      for (const [key, value] of Object.entries(source)) {
        if (!Object.hasOwn(result, key)) setKey(result, key, value);
      }
    }
    return result;
  };

  return { data: convert(document.contents, ''), faults };
}

/** Keeps the text of a scalar that a tag would convert, such as a date. @returns undefined for a number that JSON does not have. */
function scalar(value: unknown, source: string | undefined): Data | undefined {
  if (typeof value === 'object' && value !== null) return source ?? null;
  if (typeof value === 'bigint') return JSON.rawJSON(String(value));
  if (typeof value !== 'number') return (value ?? null) as Data;
  if (!Number.isFinite(value)) return undefined;
  if (source === undefined || !JSON_NUMBER.test(source)) return value;
  const digits = source.replace(/^[-0.]+|[eE].*$/g, '').replaceAll('.', '').length;
  return digits <= 15 || (Number.isSafeInteger(value) && /^-?\d+$/.test(source)) ? value : JSON.rawJSON(source);
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
