import { isUtf8 } from 'node:buffer';
import { type Data, type DataObject, getKey, isObject, parseExact } from '#contract';
import { decodeBase64Url } from '../../clients/keys/base64url.ts';
import type { IdentifyStrategy } from '../../clients/keys/key-set.ts';
import { hasTwins } from './twins.ts';

/** Maximum length of a token, in characters. Longer tokens are not decoded. */
export const MAX_TOKEN = 32 * 1024;
/** Maximum length of a key ID, in characters. */
const MAX_KEY_ID = 1024;

/** A parsed token, not yet verified. */
export interface Token {
  readonly keyId: string;
  /** The signed bytes. */
  readonly signed: Uint8Array;
  readonly signature: Uint8Array;
  readonly payload: string;
}

/** @returns the token, or the reason why it is invalid, without any of its content. */
export type ReadToken = (text: string) => Token | string;

/** Reads tokens of one algorithm. */
export function tokenReader(alg: string, strategy: IdentifyStrategy): ReadToken {
  // Tokens of one provider usually share the same header, so the last valid header is not parsed again.
  let lastHeader = '';
  let lastKeyId = '';
  return (text) => {
    const compact = text.startsWith('{') ? compactOf(text) : text;
    const afterHeader = compact.indexOf('.');
    const afterPayload = compact.indexOf('.', afterHeader + 1);
    if (afterHeader <= 0 || afterPayload < 0) return 'the token is malformed';
    // A third dot, as in encrypted tokens, is rejected later, because it is not valid base64url.
    const signature = decodeBase64Url(compact.slice(afterPayload + 1));
    const payload = decodeBase64Url(compact.slice(afterHeader + 1, afterPayload));
    if (!signature || !payload || !isUtf8(payload)) return 'the token is malformed';
    const header = compact.slice(0, afterHeader);
    if (header !== lastHeader) {
      const read = readHeader(parseHeader(header), alg, strategy);
      if (typeof read === 'string') return read;
      lastHeader = header;
      lastKeyId = read.keyId;
    }
    const signed = Buffer.from(compact.slice(0, afterPayload), 'latin1');
    return { keyId: lastKeyId, signed, signature, payload: payload.toString() };
  };
}

/** Reads the key ID from a header. Returns the reason if the header is invalid. */
function readHeader(header: DataObject | null, alg: string, strategy: IdentifyStrategy): { keyId: string } | string {
  if (!header) return 'the token is malformed';
  if (getKey(header, 'alg') !== alg) return 'the token has another algorithm than configured';
  if (Object.hasOwn(header, 'crit')) return 'the token has a critical header that is not supported';
  if (Object.hasOwn(header, 'b64') && header['b64'] !== true) return 'the payload of the token is not encoded';
  const keyId = nameOfKey(header, strategy);
  return keyId === null ? 'the header of the token does not identify a key' : { keyId };
}

/** Reads the claims of a verified payload. Returns the reason if they are invalid. */
export function readClaims(payload: string): DataObject | string {
  const claims = parseOnce(payload, parseExact);
  return claims === null ? 'the claims of the token are not an object, or a name is repeated' : frozen(claims);
}

function parseHeader(encoded: string): DataObject | null {
  const bytes = decodeBase64Url(encoded);
  return bytes && isUtf8(bytes) ? parseOnce(bytes.toString(), JSON.parse) : null;
}

/** Parses an object without duplicate names; null for anything else. */
function parseOnce(text: string, parse: (text: string) => unknown): DataObject | null {
  try {
    const value = parse(text);
    return isObject(value) && !hasTwins(text) ? value : null;
  } catch {
    // The parser fails if the text is not valid JSON, or is nested so deeply that the stack overflows.
    return null;
  }
}

/**
 * Converts a token in JSON serialization (flattened, or with one signature) to compact serialization; empty if that is
 * not possible.
 */
function compactOf(text: string): string {
  const document = parseOnce(text, JSON.parse);
  if (!document) return '';
  const signatures = getKey(document, 'signatures');
  const one = signatures === undefined ? document : Array.isArray(signatures) ? signatures[0] : null;
  if (Array.isArray(signatures) && (signatures.length !== 1 || Object.hasOwn(document, 'signature'))) return '';
  if (!isObject(one) || Object.hasOwn(one, 'header')) return '';
  const segments = [getKey(one, 'protected'), getKey(document, 'payload'), getKey(one, 'signature')];
  return segments.every((segment) => typeof segment === 'string') ? segments.join('.') : '';
}

/** @returns null if the ID is invalid. */
function nameOfKey(header: DataObject, strategy: IdentifyStrategy): string | null {
  const kid = getKey(header, 'kid') ?? '';
  const thumbprint = strategy === 'kid' ? '' : (getKey(header, strategy === 'x5t#S256' ? strategy : 'x5t') ?? '');
  if (typeof kid !== 'string' || typeof thumbprint !== 'string') return null;
  const id = strategy === 'kid_x5t' ? kid + thumbprint : thumbprint || kid;
  return id.length > MAX_KEY_ID ? null : id;
}

/** Freezes claims, because requests with the same token share them. */
export function frozen<T extends Data>(value: T): T {
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value;
  for (const member of Object.values(value)) frozen(member as Data);
  return Object.freeze(value);
}
