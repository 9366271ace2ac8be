import type { PipeRequest, Reply } from '#contract';
import type { ChangeReply } from '../../services/changed-replies.ts';
import type { Directives } from './directives.ts';
import { type Entry, replyOf } from './entry.ts';
import type { Flights } from './flights.ts';
import type { GatewayStore } from './gateway-store.ts';
import type { Asker } from './identity.ts';
import { partOf } from './ranges.ts';
import { type Limits, type Store, type Asking as StoreAsking, shortened } from './store.ts';
import { isHeldByClient } from './use.ts';

/** How a request was answered, for those who count. */
export type Use = 'hit' | 'miss' | 'stale' | 'confirmed' | 'bypass';

/** What the cache of one backend works with. */
export interface Caching {
  readonly store: Store;
  readonly flights: Flights;
  /** The store of all workers; null where there are none. */
  readonly gateway: GatewayStore | null;
  /** Of the store of this process. */
  readonly limits: Limits;
  /** Bytes of the largest answer that is kept, here or for all workers. */
  readonly maxBytes: number;
  /** Answers go to the client as they are: one it has already can be answered with 304, and a part of it with 206. */
  readonly isRaw: boolean;
  /** How long the backend may take when nobody waits, in milliseconds. */
  readonly timeoutMs: number;
  /** Changes that others make to replies outside of the cache. */
  readonly changes: readonly ChangeReply[];
  readonly identify: (request: PipeRequest) => Asker;
  readonly counted: (use: Use) => void;
}

/** One request on its way through the cache. */
export interface Asking extends StoreAsking {
  readonly request: PipeRequest;
  readonly key: string;
  readonly asked: Directives;
}

/** The name of an address in the store; of a long target its digest. */
export function keyOf(method: string, origin: string, target: string): string {
  return shortened(`${method} ${origin}`, target);
}

/** Answers a request with what is kept. @param now milliseconds since 1970. */
export function give({ isRaw }: Caching, entry: Entry, { request, headers }: Asking, now: number): Reply {
  const reply = replyOf(entry, now);
  if (!isRaw) return reply;
  if (!isHeldByClient(entry, headers, reply.headers)) {
    return request.method === 'GET' ? partOf(reply, headers) : reply;
  }
  reply.status = 304;
  reply.body = null;
  reply.headers.delete('content-length');
  return reply;
}
