import { ConfigError, type Log, type ServiceConfig } from '#contract';
import type { Normalized } from '../config/index.ts';
import { ConfigErrors, GatewayError } from '../contract/internal.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { type Listener, listen } from '../server/listener.ts';
import type { Serving } from '../server/protocols.ts';

export interface PublicPortOptions {
  /** Answers requests, whatever serves. */
  readonly serving: Serving;
  readonly log: Log;
}

/** The port as another configuration wants it: opened already, or the one there is. */
export interface PortChange {
  /**
   * Takes it over; the old one goes on until its requests have ended. Synchronous.
   * @param waitMs longest wait for them, in milliseconds; infinite to wait.
   * @returns the addresses that were opened in the place of others, and when the old ones are closed.
   */
  commit(waitMs: number): { readonly rebound: readonly string[]; readonly closed: Promise<void> };
  abort(): Promise<void>;
}

/** An address as a configuration has it: an empty `ip` for all of the machine, port 0 for any free one. */
interface AskedAddress {
  readonly ip: string;
  readonly port: number;
}

/** Where clients of the gateway connect, as the serving configuration says. */
export class PublicPort {
  readonly #options: PublicPortOptions;
  #listener: Listener | null = null;
  #asked: AskedAddress = { ip: '', port: 0 };
  #closing = false;

  constructor(options: PublicPortOptions) {
    this.#options = options;
  }

  /** Null before it is open. */
  get address(): { readonly host: string; readonly port: number } | null {
    return this.#listener && { host: this.#listener.host, port: this.#listener.port };
  }

  /**
   * Opens it.
   * @param known where other processes of this gateway listen: taken where any free port would do.
   * @throws GatewayError LISTEN_FAILED.
   */
  async open(runtime: Runtime, known: number | null): Promise<{ readonly host: string; readonly port: number }> {
    if (!this.#listener) {
      const asked = addressOf(runtime.config);
      const isFree = asked.port === 0 && known !== null;
      // Workers share a port under the number they asked for: where another one holds it as 0, 0 leads to it.
      const listener = isFree ? await this.#listen(runtime, known).catch(() => null) : null;
      this.#listener = listener ?? (await this.#listen(runtime, asked.port));
      this.#listener.setClosing(this.#closing);
      this.#asked = asked;
    }
    return this.address!;
  }

  /** @throws ConfigErrors LISTENER_BIND, at the port, when a new address cannot be opened. */
  async prepare(runtime: Runtime, origin: Normalized['origin']): Promise<PortChange> {
    const wanted = addressOf(runtime.config);
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
      const listener = await this.#listen(runtime, wanted.port);
      return { commit: (waitMs) => this.#replace(listener, wanted, waitMs), abort: () => listener.close(0) };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const at = wanted.port === this.#asked.port ? '/listen_ip' : '/port';
      throw new ConfigErrors([new ConfigError('LISTENER_BIND', origin(at), error.message, { cause: error })]);
    }
  }

  setClosing(closing: boolean): void {
    this.#closing = closing;
    this.#listener?.setClosing(closing);
  }

  /** Accepts no more, and waits for requests in flight. @param waitMs as of `commit`. */
  async close(waitMs: number): Promise<void> {
    await this.#listener?.close(waitMs);
    this.#listener = null;
  }

  #listen(runtime: Runtime, port: number): Promise<Listener> {
    return listen(runtime, port, this.#options.serving, this.#options.log);
  }

  /** A free port stays the same while any will do, and when it is asked for by its number. */
  #isAt({ ip, port }: AskedAddress): boolean {
    return ip === this.#asked.ip && (port === this.#asked.port || port === this.#listener!.port);
  }

  #replace(listener: Listener, asked: AskedAddress, waitMs: number): ReturnType<PortChange['commit']> {
    const old = this.#listener!;
    this.#listener = listener;
    this.#asked = asked;
    listener.setClosing(this.#closing);
    return { rebound: [`${listener.host}:${listener.port}`], closed: old.close(waitMs) };
  }
}

function addressOf({ listen_ip: ip, port }: ServiceConfig): AskedAddress {
  return { ip, port };
}
