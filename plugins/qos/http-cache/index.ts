import { createHash, randomUUID } from 'node:crypto';
import {
  type AtBackend,
  atBackend,
  type BackendSite,
  type DataObject,
  definePlugin,
  type Infer,
  type Mirror,
  meterOf,
  meters,
  type Schema,
} from '#contract';
import { personalHeaders } from '../../shared/http-headers/personal.ts';
import { changedReplies } from '../../shared/ports/changed-replies.ts';
import { placeOf } from '../lib/backend-place.ts';
import { cached } from './cached.ts';
import type { Use } from './caching.ts';
import { Depot } from './depot.ts';
import { Flights } from './flights.ts';
import { GatewayStore } from './gateway-store.ts';
import { identifier } from './identity.ts';
import { type News, pack, type Question, unpack } from './messages.ts';
import { type Limits, Store } from './store.ts';

const schema = {
  type: 'object',
  title: 'HTTP cache',
  examples: [{}, { shared: true }, { max_items: 10_000, max_size: 67_108_864 }],
  properties: {
    shared: {
      type: 'boolean',
      description:
        'Shares one store between all backends with this setting. Responses for different credentials are stored separately. Default: each backend has its own store.',
      default: false,
    },
    max_items: {
      type: 'integer',
      minimum: 1,
      description: 'Maximum number of cached responses. Requires max_size. Default: limited by size only.',
      examples: [10_000],
    },
    max_size: {
      type: 'integer',
      minimum: 1024,
      description:
        'Maximum size of the store in bytes, including 1 KiB of overhead per response. Responses that are being received can take up the same amount in addition; each worker also keeps copies of up to a quarter of the size, at least 1 MiB. Default: 64 MiB.',
      examples: [67_108_864],
    },
  },
} as const satisfies Schema;

type Config = Infer<typeof schema>;

/** Default limits of a store. */
const DEFAULT_LIMITS: Limits = { maxItems: Number.POSITIVE_INFINITY, maxBytes: 64 * 1024 * 1024, overheadBytes: 1024 };

/** Minimum capacity for a worker's own copies, in bytes. */
const MIN_COPIES_BYTES = 1024 * 1024;

/** Protocols whose responses are not HTTP responses. */
const otherProtocols = /^(?:backend\/(?:lambda|grpc|amqp\/.+|pubsub\/.+|static-filesystem)|ai\/llm)$/;

/** State of the cache in one process, for one store. */
interface Shelf {
  readonly store: Store;
  readonly flights: Flights;
  /** ID by which the process recognizes its own messages, which it also receives. */
  readonly id: string;
}

/** Caches backend responses as a shared cache (RFC 9111). */
export const plugin = definePlugin({
  name: 'qos/http-cache',
  description: 'Caches backend responses in memory (RFC 9111).',
  leaves: ['requests', 'data'],
  takes: [changedReplies, meters, personalHeaders],
  places: [atBackend(schema, attach)],
});

function attach(site: BackendSite<Config>): AtBackend {
  const { endpoint, backend, role } = site;
  const limits = limitsOf(site);
  const other = Object.keys(backend.extra_config).find((name) => otherProtocols.test(name));
  if (other !== undefined) {
    site.warn('CACHE_WITHOUT_EFFECT', '', `responses of ${other} are not cached; only HTTP responses are`);
    return {};
  }
  if (site.encoding(endpoint.output_encoding)?.streams) {
    site.warn('CACHE_WITHOUT_EFFECT', '', `streamed responses (${endpoint.output_encoding}) are not cached`);
    return {};
  }
  if (!['', 'GET', 'HEAD'].includes(backend.method) && !site.config.shared) {
    site.warn(
      'CACHE_WITHOUT_EFFECT',
      '',
      `responses to ${backend.method} are not cached: only responses to GET and HEAD are`,
    );
  }
  const { maxItems, maxBytes } = limits;
  const isLimited = limits !== DEFAULT_LIMITS;
  const key = { store: site.config.shared ? 'shared' : placeOf(site), ...(isLimited && { maxItems, maxBytes }) };
  const shelf = site.mirror<Shelf, Uint8Array>(key, {
    open: () => ({ store: new Store(), flights: new Flights(), id: randomUUID() }),
    apply: (one, bytes) => hear(one, unpack<News>(bytes)),
    // The copy of a new worker begins empty; the worker requests the responses that it needs.
    snapshot: ({ id }) => pack({ does: 'drop', by: id, keys: [] }),
  });
  const { store, flights, id } = shelf.value;
  const gateway = role === 'alone' ? null : new GatewayStore(openDepot(site, key, limits, shelf), id);
  site.cache('http', () => {
    store.clear();
    gateway?.clear();
  });
  const caching = {
    ...{ store, flights, gateway, maxBytes, timeoutMs: endpoint.timeout },
    limits: role === 'worker' ? limitsOfCopies(limits) : limits,
    isRaw: [endpoint.output_encoding, backend.encoding].some((name) => site.encoding(name)?.raw),
    changes: site.takeAll(changedReplies),
    identify: identifier(
      site.config.shared ? realmOf(site) : '',
      site.takeAll(personalHeaders).flat(),
      site.setting('router').request_id,
    ),
    counted: counter(site),
  };
  const stored = role === 'owner' ? site.keep(...depotKept(key)).stored : store;
  const state = () =>
    role === 'worker' ? null : { storedResponses: stored.items, storedBytes: stored.bytes, limitBytes: maxBytes };
  return { transport: (next) => cached(caching, next), state };
}

/** Key of the store of all workers, and the function that creates it. */
function depotKept(key: DataObject): [key: DataObject, open: () => Depot] {
  return [{ depot: key }, () => new Depot()];
}

/** Opens the store of all workers in the process that owns it. @returns a function that queries it. */
function openDepot(
  site: BackendSite<Config>,
  key: DataObject,
  limits: Limits,
  shelf: Mirror<Shelf, Uint8Array>,
): (question: Uint8Array) => Promise<Uint8Array> {
  const notify = (news: News) => shelf.change(pack(news));
  const answer = site.share<Depot, Uint8Array, Uint8Array>(...depotKept(key), (depot, bytes) =>
    pack(depot.answer(unpack<Question>(bytes), limits, notify, Date.now())),
  );
  return async (question) => answer(question);
}

/** Handles messages from the store of the gateway. */
function hear({ store, flights, id }: Shelf, news: News): void {
  if (news.by === id) return;
  if (news.does === 'clear') store.clear();
  else if (news.does === 'land') flights.landedElsewhere(news.key, news.landing);
  else if (news.does === 'renew') for (const each of news.keys) store.dropAll(each);
  else for (const each of news.keys) store.changed(each);
}

/** Limits of a worker's copies of the gateway's store: enough for frequently requested responses. */
function limitsOfCopies(limits: Limits): Limits {
  const { maxBytes } = limits;
  return { ...limits, maxBytes: Math.min(maxBytes, Math.max(maxBytes / 4, MIN_COPIES_BYTES)) };
}

/** Credentials with which a backend is called: responses must not be shared across them. */
function realmOf({ backend }: BackendSite<Config>): string {
  const own = Object.entries(backend.extra_config).filter(([name]) => /^(?:auth\/|backend\/http\/client$)/.test(name));
  if (own.length === 0) return '';
  return createHash('sha256').update(JSON.stringify(own)).digest('base64');
}

/** @throws ConfigError CACHE_LIMITS */
function limitsOf({ config, fault }: BackendSite<Config>): Limits {
  const { max_items: maxItems, max_size: maxBytes } = config;
  if (maxItems === undefined && maxBytes === undefined) return DEFAULT_LIMITS;
  if (maxItems === undefined || maxBytes === undefined) {
    const missing = maxItems === undefined ? 'max_items' : 'max_size';
    throw fault('CACHE_LIMITS', '', `"${missing}" is missing: both limits must be set`, { hint: missing });
  }
  return { maxItems, maxBytes, overheadBytes: 0 };
}

/** Counts requests by cache result, if metrics are exported. */
function counter(site: BackendSite<Config>): (use: Use) => void {
  const counted = meterOf(site)?.counter('http_cache.requests', {
    description: 'Number of requests to backends with a cache.',
  });
  if (!counted) return () => {};
  const { endpoint, backend } = site;
  const place = { route: endpoint.endpoint, backend: `${backend.method} ${backend.url_pattern}` };
  return (result) => counted.add(1, { ...place, result });
}
