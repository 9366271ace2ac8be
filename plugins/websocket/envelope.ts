import { isObject } from '#contract';
import { bytesOfBase64 } from '../shared/values/base64.ts';

/** Session values that identify a client to the backend, `uuid` first. */
export type Session = ReadonlyMap<string, string>;

/** A message of the backend and its recipients: clients at this address whose sessions contain all these values. */
export interface Delivery {
  readonly payload: Buffer;
  /** Address of the recipients; null for any address. */
  readonly url: string | null;
  readonly session: readonly (readonly [key: string, value: string])[];
}

/** Creates the envelopes of one client. */
export class Envelopes {
  readonly #start: string;

  /** @param url path that the client requested, without its query. */
  constructor(url: string, session: Session) {
    // `fromEntries` defines keys instead of assigning them, so `__proto__` is an ordinary key.
    this.#start = `{"url":${JSON.stringify(url)},"session":${JSON.stringify(Object.fromEntries(session))}`;
  }

  message(payload: Buffer): string {
    return `${this.#start},"body":"${payload.toString('base64')}"}`;
  }

  event(name: 'connected' | 'disconnected'): string {
    return `${this.#start},"event":"${name}"}`;
  }
}

const OPENING_BRACE = 0x7b;

/**
 * Parses a message of the backend. A message that is not an envelope is delivered unchanged to all clients.
 * @returns null for an envelope with recipients that cannot be delivered: other clients must not receive it.
 */
export function readEnvelope(data: Buffer): Delivery | null {
  const toAll = { payload: data, url: null, session: [] };
  if (data[0] !== OPENING_BRACE && !/^\s*\{/.test(data.toString('latin1', 0, 64))) return toAll;
  let read: unknown;
  try {
    read = JSON.parse(data.toString());
  } catch {
    return toAll;
  }
  if (!isObject(read)) return toAll;
  const { body = null, url = null, session = null } = read;
  const payload = typeof body === 'string' ? bytesOfBase64(body) : null;
  if (url === null && session === null) return payload ? { payload, url: null, session: [] } : toAll;
  const filters = session === null ? [] : isObject(session) ? Object.entries(session) : null;
  const areTexts = filters?.every((filter): filter is [string, string] => typeof filter[1] === 'string');
  if (!payload || !areTexts || !(url === null || typeof url === 'string')) return null;
  return { payload, url: url === '' ? null : url, session: filters as [string, string][] };
}
