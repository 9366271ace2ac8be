import { type DescEnum, ScalarType } from '@bufbuild/protobuf';
import type { Data } from '#contract';

/** Deepest nesting of a message, the same as for decoding. */
export const MAX_DEPTH = 100;

/** Error for a value that a field does not accept. */
export class ValueError extends Error {}

/** @throws ValueError always. @param path of the field; empty for the whole message. */
export function refused(path: string, wanted: string): never {
  throw new ValueError(path === '' ? `it is not ${wanted}` : `${path} is not ${wanted}`);
}

export interface ScalarOptions {
  /** Whether a string for a field of type bytes is used literally if it is not valid base64. */
  readonly takesPlainBytes: boolean;
}

/** Converts the value of a scalar field. @throws ValueError */
export function readScalar(type: ScalarType, data: Data, path: string, options: ScalarOptions): unknown {
  switch (type) {
    case ScalarType.STRING:
      return typeof data === 'string' && data.isWellFormed() ? data : refused(path, 'a text');
    case ScalarType.BOOL:
      return typeof data === 'boolean' ? data : refused(path, 'true or false');
    case ScalarType.BYTES:
      return readBytes(data, path, options);
    case ScalarType.DOUBLE:
      return readFloat(data, path);
    case ScalarType.FLOAT: {
      const value = readFloat(data, path);
      return Number.isFinite(value) && !Number.isFinite(Math.fround(value)) ? refused(path, 'a float') : value;
    }
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return Number(readWhole(data, path, -(2n ** 31n), 2n ** 31n - 1n));
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return Number(readWhole(data, path, 0n, 2n ** 32n - 1n));
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return readWhole(data, path, 0n, 2n ** 64n - 1n);
    default:
      return readWhole(data, path, -(2n ** 63n), 2n ** 63n - 1n);
  }
}

/** The digits of a number or a numeric string; undefined for anything else. */
function digitsOf(data: Data): string | undefined {
  const text = typeof data === 'number' ? String(data) : JSON.isRawJSON(data) ? data.rawJSON : data;
  return typeof text === 'string' && text.length <= MAX_DIGITS ? text : undefined;
}

const MAX_DIGITS = 400;

function readFloat(data: Data, path: string): number {
  if (typeof data === 'number') return data;
  const text = digitsOf(data);
  if (text === 'NaN' || text === 'Infinity' || text === '-Infinity') return Number(text);
  const value = text !== undefined && /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : refused(path, 'a number');
}

function readWhole(data: Data, path: string, least: bigint, most: bigint): bigint {
  const text = digitsOf(data);
  let value: bigint | null = null;
  if (text !== undefined && /^-?\d+$/.test(text)) value = BigInt(text);
  // `1e3` and `2.0` are integers too.
  else if (text !== undefined && /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) && Number.isSafeInteger(Number(text)))
    value = BigInt(Number(text));
  return value !== null && value >= least && value <= most
    ? value
    : refused(path, `a whole number from ${least} to ${most}`);
}

const base64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

function readBytes(data: Data, path: string, { takesPlainBytes }: ScalarOptions): Uint8Array {
  if (typeof data !== 'string') return refused(path, 'a text');
  if (base64.test(data)) {
    const padding = data.indexOf('=');
    const digits = padding < 0 ? data.length : padding;
    if (digits % 4 !== 1 && (padding < 0 || data.length % 4 === 0)) return Buffer.from(data, 'base64');
  }
  return takesPlainBytes ? Buffer.from(data) : refused(path, 'base64');
}

/** Converts an enum value, given by name or number, to its number. @throws ValueError */
export function readEnum(type: DescEnum, data: Data, path: string): number {
  if (data === null && type.typeName === 'google.protobuf.NullValue') return 0;
  if (typeof data === 'string') {
    const named = type.values.find(({ name }) => name === data);
    if (named) return named.number;
  }
  if (typeof data === 'number' || (typeof data === 'string' && /^-?\d{1,10}$/.test(data))) {
    const number = Number(data);
    const isKnown = type.open ? Number.isInteger(number) && number === (number | 0) : type.value[number] !== undefined;
    if (isKnown) return number;
  }
  const names = type.values.slice(0, 10).map(({ name }) => name);
  return refused(path, `one of ${names.join(', ')}${type.values.length > names.length ? ', …' : ''}`);
}

/** Converts the key of a map, which is always a string in the data. @throws ValueError */
export function readMapKey(type: ScalarType, key: string, path: string): string {
  if (type === ScalarType.STRING) return key;
  if (type === ScalarType.BOOL) return key === 'true' || key === 'false' ? key : refused(path, 'true or false');
  return String(readScalar(type, key, path, { takesPlainBytes: false }));
}
