import { Composer, type CST, isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, type Node, Parser } from 'yaml';
import { copyData, type Data, type DataObject, parseExact, type RawNumber, setKey } from '#contract';

const decimal = /^([-+]?)0*(?!0)(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d+))?$/;
const integer = /^[-+]?(?:\d+|0o[0-7]+|0x[0-9a-fA-F]+)$/;

/** Maximum number of digits of an octal or hexadecimal number: converting them to decimal takes more than linear time. */
const MAX_DIGITS = 1000;

/** Limit of the values and characters that all aliases of a document may repeat in total. */
const MAX_REPEATED = 1_000_000;

/** Deepest nesting allowed: far below the stack limit of the recursive parser. */
const MAX_DEPTH = 256;

const options = {
  prettyErrors: false,
  resolveKnownTags: false,
  stringKeys: true,
  // The library's check for duplicate keys is disabled; they are detected below, in linear time.
  uniqueKeys: false,
} as const;

/**
 * Parses a YAML mapping or, as a collection, a sequence, which becomes the key `collection`. Reads only the first
 * document, with the core schema of YAML 1.2: dates are text and `<<` is an ordinary key. Keys are kept as written,
 * numbers keep their digits. Null for `null`.
 * @throws Error with position and message of the parser; `EOF` for an empty body; for duplicate keys, for keys that are
 * not scalars, for numbers that JSON does not support (`.inf`, `.nan`), for aliases that repeat more than a million
 * values and for more than about 250 levels.
 */
export function readYaml(bytes: Uint8Array, asCollection: boolean): DataObject | null {
  const data = parseYaml(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
  if (data === null) return null;
  if (asCollection) {
    if (Array.isArray(data)) return { collection: data };
    throw new Error('expected a YAML sequence');
  }
  if (typeof data === 'object' && !Array.isArray(data) && !JSON.isRawJSON(data)) return data as DataObject;
  throw new Error('expected a YAML mapping');
}

interface Reading {
  readonly lines: LineCounter;
  readonly anchors: Map<string, { readonly value: Data; readonly size: number }>;
  /** Number of values and characters read so far, including repeated ones. */
  size: number;
  repeated: number;
}

/**
 * Parses the first document, of any type.
 * @throws the errors of `readYaml`.
 */
export function parseYaml(source: string): Data {
  if (source.trim() === '') throw new Error('EOF');
  const lines = new LineCounter();
  const reading: Reading = { lines, anchors: new Map(), size: 0, repeated: 0 };
  const composer = new Composer(options);
  let first: Error | undefined;
  // By default, the composer continues to the end and creates an error for every misplaced character. An error thrown
  // inside it is wrapped again by every enclosing node.
  Object.assign(composer, {
    onError(at: ErrorPlace, _code: string, message: string, isWarning?: boolean): void {
      if (isWarning) return;
      first ??= fault(reading, offsetOf(at), message);
      throw first;
    },
  });
  for (const { contents } of composer.compose(firstTokens(source, reading), true, source.length)) {
    return read(contents, reading);
  }
  return null;
}

/**
 * Yields the tokens before the start of a second document. The composer that consumes them is recursive: deeply nested
 * tokens must not reach it.
 */
function* firstTokens(source: string, reading: Reading): Generator<CST.Token, void> {
  const parser = new Parser(reading.lines.addNewLine);
  reading.lines.addNewLine(0);
  let isOver = false;
  for (const lexeme of new Lexer().lex(source)) {
    for (const token of parser.next(lexeme)) {
      isOver ||= token.type === 'document';
      yield sound(token, reading);
    }
    if (isOver && parser.stack.length > 0) return;
    if (parser.stack.length > MAX_DEPTH) throw fault(reading, parser.offset, `nested deeper than ${MAX_DEPTH} levels`);
  }
  for (const token of parser.end()) yield sound(token, reading);
}

function sound(token: CST.Token, reading: Reading): CST.Token {
  if (token.type === 'error') throw fault(reading, token.offset, token.message);
  return token;
}

/** Position of a composer error: an offset, the start and end of it, or a token. */
type ErrorPlace = number | readonly [number, ...number[]] | { readonly offset: number };

function offsetOf(place: ErrorPlace): number {
  if (typeof place === 'number') return place;
  return 'offset' in place ? place.offset : place[0];
}

function read(node: Node | null | undefined, reading: Reading): Data {
  const before = reading.size++;
  if (!node) return null;
  if (isAlias(node)) return repeat(node.source, node, reading);
  let value: Data;
  if (isMap(node)) {
    value = {};
    for (const { key, value: member } of node.items) {
      const name = keyOf(key, node, reading);
      if (Object.hasOwn(value, name))
        throw fault(reading, startOf(key as Node), `key ${JSON.stringify(name)} is repeated`);
      setKey(value, name, read(member as Node | null, reading));
    }
  } else if (isSeq(node)) {
    value = node.items.map((member) => read(member as Node | null, reading));
  } else if (isScalar(node)) {
    value = scalar(node.value, node.source, node, reading);
  } else {
    throw fault(reading, startOf(node), 'unexpected node');
  }
  if (node.anchor !== undefined) reading.anchors.set(node.anchor, { value, size: reading.size - before });
  return value;
}

function scalar(value: unknown, source: string | undefined, node: Node, reading: Reading): Data {
  if (typeof value === 'string') {
    reading.size += value.length;
    return value;
  }
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'number') return null;
  const number = exactNumber(value, source ?? String(value));
  if (number === null) throw fault(reading, startOf(node), `${source} is not a number in JSON`);
  return number;
}

/** An anchor is defined only at the end of its node, so a node never contains itself. */
function repeat(name: string, node: Node, reading: Reading): Data {
  const anchor = reading.anchors.get(name);
  if (!anchor) throw fault(reading, startOf(node), `alias *${name} has no preceding anchor`);
  reading.repeated += anchor.size;
  reading.size += anchor.size;
  if (reading.repeated > MAX_REPEATED) throw fault(reading, startOf(node), 'aliases expand to too much data');
  return copyData(anchor.value);
}

function keyOf(key: unknown, map: Node, reading: Reading): string {
  if (!isScalar(key)) throw fault(reading, startOf(map), 'a key is not a scalar');
  const name = String(key.value ?? '');
  reading.size += name.length;
  if (key.anchor !== undefined) reading.anchors.set(key.anchor, { value: name, size: name.length });
  return name;
}

function startOf(node: Node): number {
  return node.range?.[0] ?? 0;
}

function fault(reading: Reading, offset: number, message: string): Error {
  const { line, col } = reading.lines.linePos(offset);
  return new Error(`${line}:${col}: ${message}`);
}

/**
 * A YAML number, with its original digits if a JavaScript number cannot represent them.
 * @returns null for infinities, for values that are not numbers and for more than 1,000 octal or hexadecimal digits.
 */
function exactNumber(value: number, source: string): number | RawNumber | null {
  if (Number.isSafeInteger(value) && integer.test(source)) return value;
  const match = decimal.exec(source);
  if (!match) {
    if (integer.test(source)) return source.length > MAX_DIGITS ? null : JSON.rawJSON(BigInt(source).toString());
    return Number.isFinite(value) ? value : null;
  }
  const [, sign, whole, fraction, exponent] = match;
  const text = `${sign === '-' ? '-' : ''}${whole || '0'}${fraction ? `.${fraction}` : ''}${exponent ? `e${exponent}` : ''}`;
  return parseExact(text) as number | RawNumber;
}
