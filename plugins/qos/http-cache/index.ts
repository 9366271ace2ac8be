import { randomUUID } from 'node:crypto';
import {
  type AtBackend,
  atBackend,
  type BackendSite,
  definePlugin,
  type Infer,
  meterOf,
  meters,
  type Schema,
} from '#contract';
import { changedReplies } from '../../services/changed-replies.ts';
import { placeOf } from '../lib/backend-place.ts';
import { cached, type Use } from './cached.ts';
import { Flights } from './flights.ts';
import { type Message, pack, unpack } from './messages.ts';
import { type Limits, Store } from './store.ts';

const schema = {
  type: 'object',
  title: 'HTTP cache',
  examples: [{}, { shared: true }, { max_items: 10_000, max_size: 67_108_864 }],
  properties: {
    shared: {
      type: 'boolean',
      description: 'Answers are kept in one store for all backends that say so. Default: each backend has its own.',
      default: false,
    },
    max_items: {
      type: 'integer',
      minimum: 1,
      description: 'Answers the store holds at most; with max_size only. Default: no limit of its own.',
      examples: [10_000],
    },
    max_size: {
      type: 'integer',
      minimum: 1024,
      description:
        'Bytes the store holds at most, in each worker; as much again while answers arrive. Default: 64 MiB, with 1 KiB added for every answer.',
      examples: [67_108_864],
    },
  },
} as const satisfies Schema;

type Config = Infer<typeof schema>;

/** What a store without limits holds. */
const DEFAULT_LIMITS: Limits = { maxItems: Number.POSITIVE_INFINITY, maxBytes: 64 * 1024 * 1024, overheadBytes: 1024 };

/** Bytes of a body that is told to other workers; a larger one is kept by the worker that fetched it. */
const MAX_TOLD_BYTES = 4 * 1024 * 1024;

/** Protocols whose answers are none of HTTP. */
const otherProtocols = /^(?:backend\/(?:lambda|grpc|amqp\/.+|pubsub\/.+|static-filesystem)|ai\/llm)$/;

/** What one process keeps for a store. */
interface Shelf {
  readonly store: Store;
  readonly flights: Flights;
  /** Its own messages come back to it. */
  readonly id: string;
}

/** Keeps answers of backends as RFC 9111 says a shared cache does. */
export const plugin = definePlugin({
  name: 'qos/http-cache',
  description: 'Keeps answers of a backend in memory for as long as their Cache-Control says.',
  leaves: ['requests', 'data'],
  takes: [changedReplies, meters],
  places: [atBackend(schema, attach)],
});

function attach(site: BackendSite<Config>): AtBackend {
  const { endpoint, backend, role } = site;
  const limits = limitsOf(site);
  const other = Object.keys(backend.extra_config).find((name) => otherProtocols.test(name));
  if (other !== undefined) {
    site.warn('CACHE_WITHOUT_EFFECT', '', `answers of ${other} are not kept: only those over HTTP are`);
    return {};
  }
  if (site.encoding(endpoint.output_encoding)?.streams) {
    site.warn('CACHE_WITHOUT_EFFECT', '', `answers that are streamed (${endpoint.output_encoding}) are not kept`);
    return {};
  }
  if (backend.method !== 'GET' && backend.method !== 'HEAD' && !site.config.shared) {
    site.warn('CACHE_WITHOUT_EFFECT', '', `answers to ${backend.method} are not kept: only those to GET and HEAD are`);
  }
  const { maxItems, maxBytes } = limits;
  const isLimited = limits !== DEFAULT_LIMITS;
  const key = { store: site.config.shared ? 'shared' : placeOf(site), ...(isLimited && { maxItems, maxBytes }) };
  const shelf = site.mirror<Shelf, Uint8Array>(key, {
    open: () => ({ store: new Store(), flights: new Flights(), id: randomUUID() }),
    apply({ store, id }, bytes) {
      const message = unpack(bytes);
      if (message.by === id) return;
      if (message.does === 'clear') store.clear();
      else if (message.does === 'drop') for (const each of message.keys) store.dropAll(each);
      // The process that decides never answers a request.
      else if (role !== 'owner') store.put(message.entry, limits);
    },
    // A worker that starts begins with nothing: it is a cache.
    snapshot: ({ id }) => pack({ does: 'drop', by: id, keys: [] }),
  });
  const { store, flights, id } = shelf.value;
  const report = (message: Message) => {
    if (role !== 'alone') shelf.change(pack(message));
  };
  site.cache('http', () => {
    store.clear();
    report({ does: 'clear', by: id });
  });
  const caching = {
    ...{ store, flights, limits, timeoutMs: endpoint.timeout },
    isRaw: [endpoint.output_encoding, backend.encoding].some((name) => site.encoding(name)?.raw),
    changes: site.takeAll(changedReplies),
    kept(entry: Parameters<Store['put']>[0]) {
      if ((entry.body?.length ?? 0) <= MAX_TOLD_BYTES) report({ does: 'put', by: id, entry });
    },
    dropped: (keys: readonly string[]) => report({ does: 'drop', by: id, keys }),
    counted: counter(site),
  };
  return { transport: (next) => cached(caching, next) };
}

/** @throws ConfigError CACHE_LIMITS */
function limitsOf({ config, fault }: BackendSite<Config>): Limits {
  const { max_items: maxItems, max_size: maxBytes } = config;
  if (maxItems === undefined && maxBytes === undefined) return DEFAULT_LIMITS;
  if (maxItems === undefined || maxBytes === undefined) {
    const missing = maxItems === undefined ? 'max_items' : 'max_size';
    throw fault('CACHE_LIMITS', '', `"${missing}" is missing: the two limits go together`, { hint: missing });
  }
  return { maxItems, maxBytes, overheadBytes: 0 };
}

/** Counts what became of requests, where somebody exports it. */
function counter(site: BackendSite<Config>): (use: Use) => void {
  const counted = meterOf(site)?.counter('http_cache.requests', { description: 'Requests to a backend with a cache.' });
  if (!counted) return () => {};
  const { endpoint, backend } = site;
  const place = { route: endpoint.endpoint, backend: `${backend.method} ${backend.url_pattern}` };
  return (result) => counted.add(1, { ...place, result });
}
