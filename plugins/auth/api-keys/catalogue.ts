import { hash } from 'node:crypto';
import { definePort, type Site } from '#contract';
import { fnv128 } from './fnv.ts';
import type { KeyHash, ServiceConfig, Strategy } from './schema.ts';

/** What a key stands for. */
export interface KeyEntry {
  /** Tells it from others, and tells nobody the key. */
  readonly id: string;
  readonly roles: readonly string[];
}

/** The keys of the service, and what is the same for all endpoints. */
export interface KeyCatalogue {
  readonly strategy: Strategy;
  readonly identifier: string;
  /** Header with the role; empty for none. */
  readonly propagateRole: string;
  readonly roles: ReadonlySet<string>;
  readonly isEmpty: boolean;
  /** Parameters with keys, which endpoints with names of their own add to. */
  readonly parameters: Set<string>;
  /** What a key stands for that a client sends. Takes the same time for every key that there is not. */
  find(key: string): KeyEntry | undefined;
}

export const keyCatalogue = definePort<KeyCatalogue>('api keys');

/** Longest key that is looked at, in characters. */
export const MAX_KEY_LENGTH = 1024;

/** Digits of a hash in hexadecimal. */
const digits: Readonly<Record<Exclude<KeyHash, 'plain'>, number>> = { fnv128: 32, sha256: 64, sha1: 40 };

/** Faults: API_KEYS_HASH, API_KEYS_KEY; warnings: API_KEYS_TWICE, API_KEYS_UNUSED. */
export function openCatalogue(site: Site<ServiceConfig>): KeyCatalogue {
  const { keys, strategy, identifier, hash: kind, salt, propagate_role } = site.config;
  if (kind === 'plain' && salt !== '') site.warn('API_KEYS_UNUSED', '/salt', 'salt has no effect on plain keys');
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

/** Equal texts alone have equal digests: how long it takes to compare them says nothing of the text. */
function idOf(stored: string): string {
  return hash('sha256', stored, 'hex');
}

/** What the configuration has for a key that a client sends. */
function storedAs(kind: KeyHash, salt: string): (key: string) => string {
  if (kind === 'plain') return (key) => key;
  if (kind === 'fnv128') return (key) => fnv128(Buffer.from(salt + key));
  return (key) => hash(kind, salt + key, 'hex');
}

/** A key as it is compared. */
function checked(site: Site<ServiceConfig>, kind: KeyHash, key: string, pointer: string): string {
  if (kind === 'plain') {
    if (key.length <= MAX_KEY_LENGTH && key === key.trim()) return key;
    throw site.fault('API_KEYS_KEY', pointer, `a key has at most ${MAX_KEY_LENGTH} characters, and no space around it`);
  }
  const hex = key.toLowerCase();
  if (hex.length === digits[kind] && /^[0-9a-f]+$/.test(hex)) return hex;
  throw site.fault('API_KEYS_HASH', pointer, `a hash by ${kind} has ${digits[kind]} hexadecimal digits`, {
    hint: 'the hash of salt and key, or "hash": "plain"',
  });
}
