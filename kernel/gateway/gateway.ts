import type { InjectOptions, Response } from 'light-my-request';
import type { ConfigError, ServiceConfig } from '#contract';
import type { Applied } from '../control/change.ts';
import type { ListenOptions } from '../control/public-port.ts';
import type { Source } from '../control/snapshot.ts';

export type { ListenOptions } from '../control/public-port.ts';

/** A gateway: serving as soon as it is made, to `inject`; to the network once it listens. */
export interface Gateway {
  /** What serves, completed by defaults. */
  readonly config: ServiceConfig;
  readonly status: GatewayStatus;
  /**
   * Opens the port that the configuration names, or the given one; every later configuration then keeps that.
   * @throws GatewayError LISTEN_OPTIONS for an address that is not valid, LISTEN_FAILED, LISTENING when another address is open.
   */
  listen(address?: ListenOptions): Promise<{ host: string; port: number }>;
  /**
   * Puts another configuration in the place of the serving one; without one, the source is read again. Requests in flight
   * end on the configuration they began with. Calls wait for one another.
   * @throws ConfigErrors with every mistake; the old configuration then serves on, untouched.
   */
  reload(source?: Source): Promise<Applied>;
  /**
   * From now on a saved change of the configuration's file, or of any file it was built from, is applied; a broken one is
   * told in the log and the old configuration serves on. Needs a source that is a file.
   */
  watch(): Promise<void>;
  /**
   * Answers a request without a socket: a path, or an object with `url`, `method`, `headers`, `payload` and the other options
   * of light-my-request.
   * @throws GatewayError GATEWAY_CLOSED after `close`, INJECT_OPTIONS for a request that is not valid.
   */
  inject(request: InjectOptions | string): Promise<Response>;
  /** Stops accepting, waits for requests in flight as long as the configuration says, and releases everything. */
  close(): Promise<void>;
}

/** What a gateway does at this moment. */
export interface GatewayStatus {
  /** The revision that serves. */
  readonly revision: number;
  /** Its fingerprint. */
  readonly hash: string;
  /** Mistakes of the serving configuration that did not refuse it. */
  readonly warnings: readonly ConfigError[];
  /** Requests in flight, on every configuration and in every process. */
  readonly calls: number;
  /** Streams under way, likewise. */
  readonly streams: number;
  /** Replaced configurations that still have requests. */
  readonly draining: number;
}
