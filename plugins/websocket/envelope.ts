import { isObject } from '#contract';
import { bytesOfBase64 } from '../services/base64.ts';

/** What a client is known by at the backend, `uuid` first. */
export type Session = ReadonlyMap<string, string>;

/** A message of the backend, and whom it is for: clients at this address, with all of these values in their sessions. */
export interface Delivery {
  readonly payload: Buffer;
  /** Null for any. */
  readonly url: string | null;
  readonly session: readonly (readonly [key: string, value: string])[];
}

/** The envelopes of one client. */
export class Envelopes {
  readonly #start: string;

  /** @param url path and nothing else, as the client asked for it. */
  constructor(url: string, session: Session) {
    // `fromEntries` defines keys and sets none: `__proto__` is one like any other.
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
 * Reads what the backend sent. What is no envelope is for everybody, as it is.
 * @returns null for an envelope for some that cannot be delivered: others must not see it.
 */
export function readEnvelope(data: Buffer): Delivery | null {
  const everybody = { payload: data, url: null, session: [] };
  if (data[0] !== OPENING_BRACE && !/^\s*\{/.test(data.toString('latin1', 0, 64))) return everybody;
  let read: unknown;
  try {
    read = JSON.parse(data.toString());
  } catch {
    return everybody;
  }
  if (!isObject(read)) return everybody;
  const { body = null, url = null, session = null } = read;
  const payload = typeof body === 'string' ? bytesOfBase64(body) : null;
  if (url === null && session === null) return payload ? { payload, url: null, session: [] } : everybody;
  const filters = session === null ? [] : isObject(session) ? Object.entries(session) : null;
  const areTexts = filters?.every((filter): filter is [string, string] => typeof filter[1] === 'string');
  if (!payload || !areTexts || !(url === null || typeof url === 'string')) return null;
  return { payload, url: url === '' ? null : url, session: filters as [string, string][] };
}
