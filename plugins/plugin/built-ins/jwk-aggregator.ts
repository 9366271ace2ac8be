import type { ServerResponse } from 'node:http';
import {
  type ClientRequest,
  type DataObject,
  type Infer,
  type Log,
  type Offer,
  offer,
  type PortHandler,
  type Schema,
  type Site,
  type Wrap,
} from '#contract';
import { type KeyAggregator, keyAggregators } from '../../clients/keys/key-aggregator.ts';
import { type KeyDocument, type KeyServer, keyServer } from '../../clients/keys/key-server.ts';
import { keysIn } from '../../clients/keys/key-set.ts';

export const schema = {
  type: 'object',
  description:
    'Settings of `jwk-aggregator`, which combines the JWK sets of several identity providers and serves the result on this machine.',
  required: ['port', 'origins'],
  properties: {
    port: {
      type: 'integer',
      minimum: 1,
      maximum: 65535,
      description: 'Port on the loopback address that serves the combined set, under any path.',
    },
    origins: {
      type: 'array',
      minItems: 1,
      items: { type: 'string', minLength: 1 },
      description: 'URLs of the JWK sets.',
    },
    cache: {
      type: 'boolean',
      description: 'Caches each set for the `max-age` of its response, and longer while its server is unreachable.',
      default: false,
    },
  },
} as const satisfies Schema;

export type JwkAggregatorConfig = Infer<typeof schema>;

/** Part of the pipeline to which the built-in plugin `jwk-aggregator` is attached. */
export interface Aggregating {
  readonly wrap: Wrap<ClientRequest>;
  readonly offers: readonly Offer[];
}

/**
 * Fetches the key sets of all origins in parallel and serves them as one, in the order of the origins.
 * @param pointer to its settings.
 * @throws ConfigError KEYS_URL; warning KEYS_INSECURE.
 */
export function aggregating(site: Site<unknown>, config: JwkAggregatorConfig, pointer: string): Aggregating {
  const log = site.log.at('[PLUGIN: jwk-aggregator]');
  const ended = new AbortController();
  site.defer(() => ended.abort());
  const origins = config.origins.map((address, index) => {
    const server = serverOf(site, address, `${pointer}/origins/${index}`);
    const cached = config.cache ? site.keep(['aggregated keys', server.identity], () => new CachedSet()) : null;
    return new Origin(address, server, cached, () => site.use('clock').now());
  });
  const read = once(() => readAll(origins, log, ended.signal));
  const identity = JSON.stringify(['aggregated', config.port, config.origins]);
  const aggregator: KeyAggregator = { port: config.port, identity, read };
  site.listen({ host: '127.0.0.1', port: config.port }, keyPort(aggregator));
  return { wrap: (next) => next, offers: [offer(keyAggregators, aggregator)] };
}

function serverOf(site: Site<unknown>, address: string, pointer: string): KeyServer {
  const isPlain = URL.canParse(address) && new URL(address).protocol === 'http:';
  if (isPlain) {
    site.warn('KEYS_INSECURE', pointer, 'without TLS, anyone on the network path could replace the keys', {
      hint: 'https://',
    });
  }
  const config = { disable_jwk_security: isPlain, jwk_fingerprints: [], cipher_suites: [...DEFAULT_SUITES] };
  return keyServer(site, address, config, pointer)!;
}

/** Default cipher suites, the same as in `auth/validator`. */
const DEFAULT_SUITES = [49199, 49195, 49200, 49196, 52392, 52393] as const;

/** Key set of one origin, kept across reloads. */
class CachedSet {
  keys: readonly DataObject[] | null = null;
  until = Number.NEGATIVE_INFINITY;
}

class Origin {
  /** Name of the origin in the log: its URL without credentials and query. */
  readonly name: string;
  readonly #server: KeyServer;
  readonly #cached: CachedSet | null;
  readonly #now: () => number;

  constructor(address: string, server: KeyServer, cached: CachedSet | null, now: () => number) {
    const { host, pathname } = new URL(address);
    this.name = host + pathname;
    this.#server = server;
    this.#cached = cached;
    this.#now = now;
  }

  /** @returns null, after logging the reason, if no keys are available. */
  async keys(log: Log, signal: AbortSignal): Promise<readonly DataObject[] | null> {
    const cached = this.#cached;
    if (cached && this.#now() < cached.until) return cached.keys;
    try {
      const { text, maxAgeMs } = await this.#server.fetch(signal);
      const keys = keysIn(text);
      if (cached) Object.assign(cached, { keys, until: this.#now() + (maxAgeMs ?? 0) });
      return keys;
    } catch (error) {
      const consequence = cached?.keys ? 'its previous keys are used' : 'the set does not contain its keys';
      if (!signal.aborted) log.error(() => `${this.name}: ${(error as Error).message}; ${consequence}`);
      return cached?.keys ?? null;
    }
  }
}

/** The last reported set of duplicate names, so that each change is reported once. */
const loggedOf = new WeakMap<readonly Origin[], string>();

async function readAll(origins: readonly Origin[], log: Log, signal: AbortSignal): Promise<KeyDocument> {
  const sets = await Promise.all(origins.map((origin) => origin.keys(log, signal)));
  if (sets.every((set) => set === null)) throw new Error('none of the key servers responded');
  const repeated = repeatedNames(sets.map((set) => set ?? []));
  const names = repeated.slice(0, 16).join(', ');
  if (names !== '' && loggedOf.get(origins) !== names) {
    log.warning(() => `several origins have keys with the same ID; the last one is used: ${JSON.stringify(names)}`);
  }
  loggedOf.set(origins, names);
  return { text: JSON.stringify({ keys: sets.flatMap((set) => set ?? []) }), maxAgeMs: null };
}

/** Returns the key names that occur in more than one set. */
function repeatedNames(sets: readonly (readonly DataObject[])[]): string[] {
  const first = new Map<string, number>();
  const repeated = new Set<string>();
  for (const [index, set] of sets.entries()) {
    for (const { kid } of set) {
      if (typeof kid !== 'string') continue;
      if ((first.get(kid) ?? index) !== index) repeated.add(kid.slice(0, 64));
      else first.set(kid, index);
    }
  }
  return [...repeated].sort();
}

/** Merges concurrent calls into one: calls made during a run share its result. */
function once<T>(call: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  return () => {
    running ??= call().finally(() => {
      running = null;
    });
    return running;
  };
}

function keyPort(aggregator: KeyAggregator): PortHandler {
  return (message, response) => {
    message.resume();
    if (message.method !== 'GET' && message.method !== 'HEAD') {
      response.writeHead(405, { Allow: 'GET, HEAD' }).end();
      return;
    }
    aggregator.read().then(
      ({ text }) => send(response, 200, text),
      () => send(response, 502, ''),
    );
  };
}

function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
  response.end(response.req.method === 'HEAD' ? '' : text);
}
