import type { PipeRequest, Reply } from '#contract';
import type { ChangeReply } from '../../shared/ports/changed-replies.ts';
import type { Directives } from './directives.ts';
import { type Entry, replyOf } from './entry.ts';
import type { Flights } from './flights.ts';
import type { GatewayStore } from './gateway-store.ts';
import type { Asker } from './identity.ts';
import { partOf } from './ranges.ts';
import { type Limits, type Store, type Asking as StoreAsking, shortened } from './store.ts';
import { isHeldByClient } from './use.ts';

/** Cache result of a request, for metrics. */
export type Use = 'hit' | 'miss' | 'stale' | 'confirmed' | 'bypass';

/** Dependencies of one backend's cache. */
export interface Caching {
  readonly store: Store;
  readonly flights: Flights;
  /** Store shared by all workers; null when there is only one process. */
  readonly gateway: GatewayStore | null;
  /** Limits of this process's store. */
  readonly limits: Limits;
  /** Maximum size of a stored response, here or in the shared store, in bytes. */
  readonly maxBytes: number;
  /**
   * True when responses are passed to the client unchanged, so that a request can get a 304 if the client has the
   * response already, or a 206 for a part of it.
   */
  readonly isRaw: boolean;
  /** Timeout of background requests to the backend, in milliseconds. */
  readonly timeoutMs: number;
  /** Modifications of replies by components outside the cache. */
  readonly changes: readonly ChangeReply[];
  readonly identify: (request: PipeRequest) => Asker;
  readonly counted: (use: Use) => void;
}

/** One request in the cache. */
export interface Asking extends StoreAsking {
  readonly request: PipeRequest;
  readonly key: string;
  readonly requested: Directives;
}

/** Store key of an address; a long target is replaced by its digest. */
export function keyOf(method: string, origin: string, target: string): string {
  return shortened(`${method} ${origin}`, target);
}

/** Responds with a stored response. @param now milliseconds since 1970. */
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
