import { createRequire } from 'node:module';
import type { Node, Pair, ParsedNode, YAMLMap, Document as YamlDocument } from 'yaml';
import { type Data, type DataObject, setKey } from '#contract';
import type { Finder, Stretch } from './position.ts';
import type { Format } from './text-format.ts';

type Yaml = typeof import('yaml');

/** Nodes that aliases may add to a document, so that a few lines cannot fill the memory. */
const MAX_ALIASED_NODES = 100_000;

/** YAML 1.2 with merge keys. Keys become strings, numbers keep their digits. */
export const yaml: Format = {
  parse(text) {
    const library = load();
    const document = parseYaml(library, text);
    return { data: toData(library, document), faults: [], hadComments: false };
  },
  finder(text) {
    const library = load();
    return yamlFinder(library, parseYaml(library, text));
  },
};

const load = (): Yaml => createRequire(import.meta.url)('yaml') as Yaml;

function parseYaml(library: Yaml, text: string): YamlDocument<ParsedNode> {
  const document = library.parseDocument(text, { merge: true, prettyErrors: false, logLevel: 'silent' });
  const [error] = document.errors;
  if (error) throw fault(error.message, { start: error.pos[0], end: error.pos[1] });
  return document as YamlDocument<ParsedNode>;
}

function fault(message: string, stretch: Stretch): SyntaxError & { stretch: Stretch } {
  return Object.assign(new SyntaxError(message), { stretch });
}

function toData(library: Yaml, document: YamlDocument<ParsedNode>): Data {
  const { isAlias, isMap, isScalar, isSeq } = library;
  const anchors = new Map<string, Node>();
  const open = new Set<Node>();
  let aliasDepth = 0;
  let aliasedNodes = 0;

  const convert = (node: Node | null | undefined): Data => {
    if (!node) return null;
    if (aliasDepth > 0 && ++aliasedNodes > MAX_ALIASED_NODES)
      throw fault('aliases expand to too much data', place(node));
    if (isAlias(node)) {
      const source = anchors.get(node.source);
      if (!source || open.has(source)) throw fault(`alias '*${node.source}' leads nowhere`, place(node));
      aliasDepth++;
      const data = convert(source);
      aliasDepth--;
      return data;
    }
    const { anchor } = node as { anchor?: string };
    if (anchor) anchors.set(anchor, node);
    if (isScalar(node)) return scalar(node.value, node.source, place(node));
    open.add(node);
    const data = isMap(node) ? object(node) : isSeq(node) ? node.items.map((item) => convert(item as Node)) : null;
    open.delete(node);
    return data;
  };

  const object = (map: YAMLMap): DataObject => {
    const result: DataObject = {};
    const merged: Data[] = [];
    for (const { key, value } of map.items as Pair<Node, Node | null>[]) {
      if (!isScalar(key)) throw fault('a key must be a plain value', place(key ?? map));
      const data = convert(value);
      if (typeof key.value === 'symbol') merged.push(...(Array.isArray(data) ? data : [data]));
      else setKey(result, keyText(key.value, key.source), data);
    }
    for (const source of merged) {
      if (typeof source !== 'object' || source === null || Array.isArray(source))
        throw fault('<< takes objects', place(map));
      for (const [key, value] of Object.entries(source as DataObject)) {
        if (!Object.hasOwn(result, key)) setKey(result, key, value);
      }
    }
    return result;
  };

  return convert(document.contents);
}

function scalar(value: unknown, source: string | undefined, stretch: Stretch): Data {
  if (typeof value === 'bigint') return JSON.rawJSON(String(value));
  if (typeof value !== 'number') return value as Data;
  if (!Number.isFinite(value)) throw fault(`${source} is no JSON number`, stretch);
  if (source === undefined || !JSON_NUMBER.test(source)) return value;
  const digits = source.replace(/^[-0.]+|[eE].*$/g, '').replaceAll('.', '').length;
  return digits <= 15 || (Number.isSafeInteger(value) && /^-?\d+$/.test(source)) ? value : JSON.rawJSON(source);
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function keyText(value: unknown, source: string | undefined): string {
  return typeof value === 'string' ? value : (source ?? String(value));
}

function place(node: Node): Stretch {
  const [start, end] = node.range ?? [0, 0];
  return { start, end };
}

function yamlFinder({ isAlias, isMap, isScalar, isSeq }: Yaml, document: YamlDocument<ParsedNode>): Finder {
  const text = (key: unknown): string => (isScalar(key) ? keyText(key.value, key.source) : '');
  return (steps, part) => {
    let node: unknown = document.contents;
    let key: unknown;
    for (const step of steps) {
      key = undefined;
      if (isAlias(node)) node = node.resolve(document);
      if (isSeq(node)) node = node.items[Number(step)];
      else if (isMap(node)) {
        const pair: Pair | undefined = node.items.find((item) => text(item.key) === step);
        key = pair?.key;
        node = pair?.value ?? key;
      } else return undefined;
      if (!node) return undefined;
    }
    const found = part === 'key' && key ? key : node;
    return found ? place(found as Node) : { start: 0, end: 0 };
  };
}
