import { hash } from 'node:crypto';
import { definePort, type Site } from '#contract';
import { fnv128 } from './fnv.ts';
import type { KeyHash, ServiceConfig, Strategy } from './schema.ts';

/** Entry of an API key. */
export interface KeyEntry {
  /** Digest that identifies the key without revealing it. */
  readonly id: string;
  readonly roles: readonly string[];
}

/** API keys of the service, and the settings shared by all endpoints. */
export interface KeyCatalogue {
  readonly strategy: Strategy;
  readonly identifier: string;
  /** Header that passes the role to backends; empty to send none. */
  readonly propagateRole: string;
  readonly roles: ReadonlySet<string>;
  readonly isEmpty: boolean;
  /** Query parameters that contain keys. Endpoints with their own parameter names add to them. */
  readonly parameters: Set<string>;
  /** Looks up the key sent by a client. Takes the same time for all unknown keys. */
  find(key: string): KeyEntry | undefined;
}

export const keyCatalogue = definePort<KeyCatalogue>('api keys');

/** Maximum length of a key, in characters. Longer keys are rejected without a lookup. */
export const MAX_KEY_LENGTH = 1024;

/** Number of hexadecimal digits of each hash. */
const digits: Readonly<Record<Exclude<KeyHash, 'plain'>, number>> = { fnv128: 32, sha256: 64, sha1: 40 };

/** @throws ConfigError API_KEYS_HASH, API_KEYS_KEY. Warnings API_KEYS_TWICE, API_KEYS_UNUSED. */
export function openCatalogue(site: Site<ServiceConfig>): KeyCatalogue {
  const { keys, strategy, identifier, hash: kind, salt, propagate_role } = site.config;
  if (kind === 'plain' && salt !== '')
    site.warn('API_KEYS_UNUSED', '/salt', 'salt has no effect on keys in plain text');
  const entries = new Map<string, KeyEntry>();
  const places = new Map<string, string>();
  for (const [index, { key, roles }] of keys.entries()) {
    const pointer = `/keys/${index}/key`;
    const id = idOf(checked(site, kind, key, pointer));
    const known = entries.get(id);
    if (known) {
      site.warn('API_KEYS_TWICE', pointer, 'the key is listed twice: its roles are combined', {
        related: [`${site.pointer}${places.get(id)}`],
      });
    }
    places.set(id, pointer);
    entries.set(id, { id, roles: [...new Set([...(known?.roles ?? []), ...roles])] });
  }
  const stored = storedAs(kind, salt);
  const name = identifier ?? (strategy === 'header' ? 'Authorization' : 'key');
  return {
    strategy,
    identifier: name,
    parameters: new Set(strategy === 'query_string' ? [name] : []),
    propagateRole: propagate_role,
    roles: new Set(keys.flatMap(({ roles }) => roles)),
    isEmpty: keys.length === 0,
    find: (key) => (key === '' || key.length > MAX_KEY_LENGTH ? undefined : entries.get(idOf(stored(key)))),
  };
}

/**
 * Returns the SHA-256 digest of a stored key. Comparing digests instead of keys prevents timing from revealing anything
 * about the key.
 */
function idOf(stored: string): string {
  return hash('sha256', stored, 'hex');
}

/** Returns a function that converts a client's key to the form in which the configuration stores keys. */
function storedAs(kind: KeyHash, salt: string): (key: string) => string {
  if (kind === 'plain') return (key) => key;
  if (kind === 'fnv128') return (key) => fnv128(Buffer.from(salt + key));
  return (key) => hash(kind, salt + key, 'hex');
}

/** Validates a configured key. @returns the key in the form used for comparison. */
function checked(site: Site<ServiceConfig>, kind: KeyHash, key: string, pointer: string): string {
  if (kind === 'plain') {
    if (key.length <= MAX_KEY_LENGTH && key === key.trim()) return key;
    throw site.fault(
      'API_KEYS_KEY',
      pointer,
      `a key must have at most ${MAX_KEY_LENGTH} characters and no space at its start or end`,
    );
  }
  const hex = key.toLowerCase();
  if (hex.length === digits[kind] && /^[0-9a-f]+$/.test(hex)) return hex;
  throw site.fault('API_KEYS_HASH', pointer, `a ${kind} hash must have ${digits[kind]} hexadecimal digits`, {
    hint: 'write the hash of salt and key, or set "hash": "plain"',
  });
}
