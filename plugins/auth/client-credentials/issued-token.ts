import { type DataObject, getKey, isObject } from '#contract';
import type { IssuedToken } from '../../clients/tokens/token-server.ts';

/** Maximum length of server texts in messages, in characters. */
const MAX_TOLD = 256;

/**
 * Reads the token from the response of a token endpoint.
 * @param secrets texts that are masked in messages.
 * @throws Error that describes the invalid response.
 */
export function readToken(status: number, contentType: string, text: string, secrets: readonly string[]): IssuedToken {
  const fields = fieldsOf(contentType, text);
  const isGood = status >= 200 && status <= 299;
  const error = fields && getKey(fields, 'error');
  if (!isGood || !fields || (error !== undefined && error !== null && error !== '')) {
    const reported = [error, fields && getKey(fields, 'error_description')].filter(
      (segment) => typeof segment === 'string',
    );
    const problem =
      reported.join(' ') || (isGood ? 'the response of the token endpoint cannot be read' : `status ${status}`);
    throw new Error(masked(problem, secrets));
  }
  const token = getKey(fields, 'access_token');
  const type = getKey(fields, 'token_type');
  if (!isPrintable(token)) throw new Error('the response of the token endpoint has no access_token');
  if (type !== undefined && type !== null && type !== '' && !isPrintable(type)) {
    throw new Error('the token endpoint returned an invalid token_type');
  }
  return { authorization: `${schemeOf(type || 'Bearer')} ${token}`, lifeMs: lifeOf(fields) };
}

/** Parses the response fields, in form or JSON encoding; null if the response has neither. */
function fieldsOf(contentType: string, text: string): DataObject | null {
  if (/^(?:application\/x-www-form-urlencoded|text\/plain)\s*(?:;|$)/i.test(contentType)) {
    return Object.fromEntries(new URLSearchParams(text));
  }
  try {
    const document: unknown = JSON.parse(text);
    return isObject(document) ? document : null;
  } catch {
    return null;
  }
}

/** Whether a text can be part of a header without ending the header. */
function isPrintable(value: unknown): value is string {
  return typeof value === 'string' && /^[\x20-\x7e]+$/.test(value) && value.trim() !== '';
}

const schemes: ReadonlyMap<string, string> = new Map([
  ['bearer', 'Bearer'],
  ['mac', 'MAC'],
  ['basic', 'Basic'],
]);

function schemeOf(type: string): string {
  return schemes.get(type.toLowerCase()) ?? type;
}

function lifeOf(fields: DataObject): number | null {
  const written = getKey(fields, 'expires_in') ?? 0;
  const seconds = typeof written === 'string' && written.trim() !== '' ? Number(written) : written;
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) {
    throw new Error('the token endpoint returned an expires_in that is not a number');
  }
  return seconds === 0 ? null : seconds * 1000;
}

function masked(text: string, secrets: readonly string[]): string {
  const plain = secrets.reduce((masking, secret) => masking.replaceAll(secret, '***'), text);
  return plain.replace(/[^\x20-\x7e]+/g, ' ').slice(0, MAX_TOLD);
}
