import { type Data, type DataObject, getKey, isObject } from '../values/data.ts';
import { textOf } from '../values/text.ts';
import { McpError, mcpErrors } from './message.ts';

/** An argument that clients also send as a header, so that proxies need not read bodies. */
export interface MirroredParameter {
  /** Name of the header: `Mcp-Param-`, followed by the name that the schema of the argument declares. */
  readonly header: string;
  /** Path in the arguments. */
  readonly path: readonly string[];
  /** Whether header and argument are compared as numbers. */
  readonly isNumber: boolean;
}

const KEY = 'x-mcp-header';
const types = ['string', 'integer', 'boolean'];
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Keywords whose value is data, not a schema. */
const ofData = ['const', 'enum', 'default', 'examples'];

/**
 * Returns the arguments that a schema marks with `x-mcp-header`.
 * @throws Error naming an invalid mark: clients would ignore the tool.
 */
export function mirroredParameters(schema: DataObject): readonly MirroredParameter[] {
  const results: MirroredParameter[] = [];
  const visit = (node: Data, path: readonly string[], isReachable: boolean): void => {
    if (Array.isArray(node)) for (const each of node) visit(each, path, false);
    if (!isObject(node)) return;
    if (Object.hasOwn(node, KEY)) results.push(marked(node, path, isReachable && path.length > 0));
    for (const [keyword, value] of Object.entries(node)) {
      if (keyword === 'properties' && isObject(value)) {
        for (const [name, each] of Object.entries(value)) visit(each, [...path, name], isReachable);
      } else if (!ofData.includes(keyword)) {
        visit(value, path, false);
      }
    }
  };
  visit(schema, [], true);
  const names = new Set(results.map(({ header }) => header.toLowerCase()));
  if (names.size < results.length) throw new Error(`the names of ${KEY} must differ by more than case`);
  return results;
}

function marked(node: DataObject, path: readonly string[], isReachable: boolean): MirroredParameter {
  const name = node[KEY];
  const type = getKey(node, 'type');
  if (!isReachable) throw new Error(`${KEY} is only allowed in properties and their nested properties`);
  if (typeof name !== 'string' || !token.test(name)) throw new Error(`${KEY} must be the name of a header`);
  if (typeof type !== 'string' || !types.includes(type)) {
    throw new Error(`${KEY} requires a property of type ${types.join(', ')}`);
  }
  return { header: `Mcp-Param-${name}`, path, isNumber: type === 'integer' };
}

/**
 * Compares arguments with their headers. @throws McpError when one differs. @param header returns a header; the name is
 * in any case.
 */
export function checkMirrored(
  parameters: readonly MirroredParameter[],
  args: DataObject,
  header: (name: string) => string | undefined,
): void {
  for (const { header: name, path, isNumber } of parameters) {
    const text = argumentText(args, path);
    if (text === null) continue;
    const sent = headerText(header(name), name);
    const isSame = sent === text || (isNumber && /^-?\d+(?:\.\d+)?$/.test(sent) && Number(sent) === Number(text));
    if (!isSame) throw mismatch(name, 'differs from the argument');
  }
}

/** Returns the headers that mirror arguments, as a flat list. */
export function mirroredHeaders(parameters: readonly MirroredParameter[], args: DataObject): string[] {
  return parameters.flatMap(({ header, path }) => {
    const text = argumentText(args, path);
    return text === null ? [] : [header, headerValue(text)];
  });
}

/** Returns the text of an argument; null if it has no single value. */
function argumentText(args: DataObject, path: readonly string[]): string | null {
  const value = path.reduce<Data | undefined>((at, key) => (isObject(at) ? getKey(at, key) : undefined), args);
  return value === undefined || value === null || Array.isArray(value) || isObject(value) ? null : textOf(value);
}

/** Encodes a text as a header value; texts that a header would change are written as `=?base64?...?=`. */
export function headerValue(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?');
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

const coded = /^=\?base64\?(.*)\?=$/;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Returns the text of a header, decoded if it is written as `=?base64?...?=`.
 * @throws McpError when it is missing or cannot be decoded.
 */
export function headerText(value: string | undefined, name: string): string {
  if (value === undefined) throw mismatch(name, 'is missing');
  const trimmed = value.trim();
  const [, packed] = coded.exec(trimmed) ?? [];
  if (packed === undefined) return trimmed;
  if (!base64.test(packed)) throw mismatch(name, 'is not valid base64');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(packed, 'base64'));
  } catch {
    throw mismatch(name, 'is not valid UTF-8');
  }
}

export function mismatch(header: string, what: string): McpError {
  return new McpError(mcpErrors.headerMismatch, `header ${header} ${what}`);
}
