import { ConfigError, type Log, type ServiceConfig } from '#contract';
import type { Normalized } from '../config/index.ts';
import { ConfigErrors, GatewayError } from '../contract/internal.ts';
import { socketPath } from '../net/address-range.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { type Listener, listen, type RequestedAddress } from '../server/port/listener.ts';
import type { Serving } from '../server/port/protocols.ts';
import { HeaderFaults } from '../server/port/proxy-protocol.ts';

export interface PublicPortOptions {
  /** Handles requests with the serving configuration. */
  readonly serving: Serving;
  readonly log: Log;
}

/** The port for another configuration: newly opened, or the existing one. */
export interface PortChange {
  /**
   * Begins to use the port; the old one stays open until its requests have ended. Synchronous.
   * @param waitMs maximum time for these requests, in milliseconds; infinite for no limit.
   * @returns the addresses that were opened in place of others, and a promise for the closing of the old ones.
   */
  commit(waitMs: number): { readonly rebound: readonly string[]; readonly closed: Promise<void> };
  abort(): Promise<void>;
}

/** An address that replaces the configured one. */
export interface ListenOptions {
  /** Port; 0 for any free one. Default: the configured port. */
  readonly port?: number | undefined;
  /** Address or host name of this machine, or `unix:/path`. Default: `listen_ip` of the configuration. */
  readonly host?: string | undefined;
}

/** Address to open the port at. */
export interface ListenTarget {
  /** Port of the other processes of this gateway, used if the configuration allows any free port. */
  readonly known: number | null;
  /** Address that replaces the configured one, in this and all later configurations. */
  readonly address?: ListenOptions | undefined;
}

/** The gateway's port for clients: at the address of the serving configuration, or at the one passed to `listen`. */
export class PublicPort {
  readonly #options: PublicPortOptions;
  /** Counts connections without a valid PROXY protocol header, on the current address and on earlier ones. */
  readonly headerFaults: HeaderFaults;
  #listener: Listener | null = null;
  #requested: RequestedAddress = { ip: '', port: 0 };
  #chosen: ListenOptions = {};
  #closing = false;

  constructor(options: PublicPortOptions) {
    this.#options = options;
    this.headerFaults = new HeaderFaults(options.log);
  }

  /** Open connections; 0 before the port is open. */
  get connections(): number {
    return this.#listener?.connections ?? 0;
  }

  /** Address of the port; null before the port is open. */
  get address(): { readonly host: string; readonly port: number } | null {
    return this.#listener && { host: this.#listener.host, port: this.#listener.port };
  }

  /**
   * Opens the port unless it is open.
   * @throws GatewayError LISTEN_FAILED, LISTENING when it is open at an address other than the requested one.
   */
  async open(
    runtime: Runtime,
    { known, address = {} }: ListenTarget = { known: null },
  ): Promise<{ readonly host: string; readonly port: number }> {
    if (this.#listener) this.#demandOpen(address);
    else {
      this.#chosen = address;
      const requested = this.#addressOf(runtime.config);
      const isFree = requested.port === 0 && known !== null;
      // Workers share a port by the number that they requested: if another worker requested port 0, requesting 0 here
      // opens the same port.
      const listener = isFree ? await this.#listen(runtime, { ...requested, port: known }).catch(() => null) : null;
      this.#listener = listener ?? (await this.#listen(runtime, requested));
      this.#listener.setClosing(this.#closing);
      this.#requested = requested;
    }
    return this.address!;
  }

  /** @throws ConfigErrors LISTENER_BIND, at the port, when a new address cannot be opened. */
  async prepare(runtime: Runtime, origin: Normalized['origin']): Promise<PortChange> {
    const wanted = this.#addressOf(runtime.config);
    if (!this.#listener || this.#isAt(wanted)) {
      const adjust = this.#listener?.prepare(runtime);
      return {
        commit: () => {
          adjust?.();
          return { rebound: [], closed: Promise.resolve() };
        },
        abort: async () => {},
      };
    }
    try {
      const listener = await this.#listen(runtime, wanted);
      return { commit: (waitMs) => this.#replace(listener, wanted, waitMs), abort: () => listener.close(0) };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const isOfIp = socketPath(wanted.ip) !== null || wanted.port === this.#requested.port;
      const at = isOfIp ? '/listen_ip' : '/port';
      throw new ConfigErrors([new ConfigError('LISTENER_BIND', origin(at), error.message, { cause: error })]);
    }
  }

  setClosing(closing: boolean): void {
    this.#closing = closing;
    this.#listener?.setClosing(closing);
  }

  /** Stops accepting, and waits for requests in flight. @param waitMs see `commit`. */
  async close(waitMs: number): Promise<void> {
    await this.#listener?.close(waitMs);
    this.#listener = null;
    this.headerFaults.close();
  }

  #listen(runtime: Runtime, requested: RequestedAddress): Promise<Listener> {
    return listen(runtime, requested, this.#options.serving, this.#options.log, this.headerFaults);
  }

  #addressOf({ listen_ip: ip, port }: ServiceConfig): RequestedAddress {
    const { host, port: chosen } = this.#chosen;
    if (host === undefined && chosen === undefined) return { ip, port };
    // If only another port was chosen, a Unix socket in the configuration is ignored.
    return { ip: host ?? (socketPath(ip) === null ? ip : ''), port: chosen ?? port };
  }

  #demandOpen({ host = this.#requested.ip, port = this.#requested.port }: ListenOptions): void {
    if (this.#isAt({ ip: host, port })) return;
    const address = printed(this.#listener!);
    throw new GatewayError('LISTENING', `the gateway already listens on ${address}`);
  }

  /** The open port is kept if any free port is requested, or if the port is requested by its number. */
  #isAt({ ip, port }: RequestedAddress): boolean {
    if (ip !== this.#requested.ip) return false;
    return socketPath(ip) !== null || port === this.#requested.port || port === this.#listener!.port;
  }

  #replace(listener: Listener, requested: RequestedAddress, waitMs: number): ReturnType<PortChange['commit']> {
    const old = this.#listener!;
    this.#listener = listener;
    this.#requested = requested;
    listener.setClosing(this.#closing);
    return { rebound: [printed(listener)], closed: old.close(waitMs) };
  }
}

function printed({ host, port }: Listener): string {
  return port === 0 ? host : `${host}:${port}`;
}
