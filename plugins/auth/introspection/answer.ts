import { type DataObject, getKey, isObject, parseExact } from '#contract';
import { Undecided, undecidedStatus } from '../lib/undecided.ts';
import { readRegistered, type Times } from '../validator/claims.ts';
import { frozen } from '../validator/token.ts';
import { hasTwins } from '../validator/twins.ts';

/** Response of the authorization server about one token. */
export interface Answer {
  /** The whole response, frozen; null for an inactive token. */
  readonly claims: Readonly<DataObject> | null;
  readonly times: Times;
  /** Time of the request, in milliseconds of the clock. */
  readonly requestedAt: number;
  /** Number of characters of the response. */
  readonly length: number;
}

const always: Times = {
  notBefore: Number.NEGATIVE_INFINITY,
  expires: Number.POSITIVE_INFINITY,
  issued: Number.NEGATIVE_INFINITY,
};

/**
 * Reads a response of the introspection endpoint.
 * @throws Undecided if the response is not valid; the message contains nothing of the response.
 */
export function readAnswer(status: number, contentType: string, text: string, requestedAt: number): Answer {
  if (status === 401 || status === 403) {
    throw new Undecided(
      `status ${status}: the authorization server does not accept the gateway's client credentials`,
      false,
    );
  }
  if (status !== 200) throw undecidedStatus(status);
  if (/^\s*application\/(?:token-introspection\+)?jwt\b/i.test(contentType)) {
    throw new Undecided('the response is a JWT (RFC 9701), which is not supported: configure a JSON response', false);
  }
  const claims = parse(text);
  const active = getKey(claims, 'active');
  if (typeof active !== 'boolean') throw new Undecided('"active" in the response is neither true nor false', false);
  // Other properties of an inactive token are ignored.
  if (!active) return { claims: null, times: always, requestedAt, length: 0 };
  const times = readRegistered(claims);
  if (typeof times === 'string') throw new Undecided(`the response is not valid: ${times}`, false);
  return { claims: frozen(claims), times, requestedAt, length: text.length };
}

function parse(text: string): DataObject {
  try {
    const document: unknown = parseExact(text);
    if (isObject(document) && !hasTwins(text)) return document;
  } catch {
    // The response is not valid JSON, or nested so deeply that the stack overflows.
  }
  throw new Undecided('the response is not a JSON object, or a key is repeated', false);
}
