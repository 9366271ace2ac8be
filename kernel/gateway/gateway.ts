import type { InjectOptions, Response } from 'light-my-request';
import type { ConfigError, ServiceConfig } from '#contract';
import type { Applied } from '../control/change.ts';
import type { ListenOptions } from '../control/public-port.ts';
import type { Source } from '../control/snapshot.ts';

export type { ListenOptions } from '../control/public-port.ts';

/** A gateway. Serves `inject` as soon as it is created, and the network once it listens. */
export interface Gateway {
  /** The serving configuration, completed with defaults. References to secrets in stores are as written. */
  readonly config: ServiceConfig;
  readonly status: GatewayStatus;
  /**
   * Opens the port that the configuration names, or the given one, which later configurations then keep.
   * @throws GatewayError LISTEN_OPTIONS for an address that is not valid, LISTEN_FAILED, LISTENING when another address
   * is open.
   */
  listen(address?: ListenOptions): Promise<{ host: string; port: number }>;
  /**
   * Replaces the serving configuration; without a source, the current one is read again. Requests in flight end on the
   * configuration they began with. Calls run one at a time.
   * @throws ConfigErrors with every error; the old configuration then continues to serve, untouched.
   */
  reload(source?: Source): Promise<Applied>;
  /**
   * Applies every saved change of the configuration file, or of any file it was built from, from now on. A broken file
   * is logged and the old configuration continues to serve. Requires a source that is a file.
   */
  watch(): Promise<void>;
  /**
   * Handles a request without a socket: a path, or an object with `url`, `method`, `headers`, `payload` and the other
   * options of light-my-request.
   * @throws GatewayError GATEWAY_CLOSED after `close`, INJECT_OPTIONS for a request that is not valid.
   */
  inject(request: InjectOptions | string): Promise<Response>;
  /** Stops accepting, waits for requests in flight as long as the configuration allows, and releases everything. */
  close(): Promise<void>;
}

/** Current state of a gateway. */
export interface GatewayStatus {
  /** The serving revision. */
  readonly revision: number;
  /** Fingerprint of the serving configuration. */
  readonly hash: string;
  /** Errors of the serving configuration that did not cause a rejection. */
  readonly warnings: readonly ConfigError[];
  /** Requests in flight, across all configurations and processes. */
  readonly calls: number;
  /** Active streams, across all configurations and processes. */
  readonly streams: number;
  /** Replaced configurations that still have requests. */
  readonly draining: number;
}
