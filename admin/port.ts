import { ConfigError, type Log } from '#contract';
import {
  adminSettings,
  bindErrorReason,
  GatewayError,
  type Next,
  type Operations,
  type Participant,
  type Ready,
  Refusal,
} from '#kernel';
import type { RequestListener } from './app.ts';
import { PlanError, type PortPlan, planPort } from './port-plan.ts';
import { createHttpServer, type HttpServer } from './server/http-server.ts';
import { openSocketListener, type SocketListener } from './server/socket-listener.ts';

const AT = '/extra_config/admin~1api/listen';

/** Grace period for responses in progress when a port is closed, in milliseconds. */
const GRACE_MS = 2_000;

export interface AdminPortOptions {
  readonly gateway: Operations;
  /** Address from the command line or the environment. */
  readonly listen: string | undefined;
  readonly respond: RequestListener;
  readonly log: Log;
  /** Called for every opened address, and for every configuration that serves there, before the response to its change is sent. */
  readonly onServing: (address: string) => Promise<void>;
  /** Time for which a replaced address stays open, in milliseconds. Default: 10 seconds. */
  readonly handoverMs?: number;
}

/** A listener for a configuration that does not serve yet; null when the admin port is off. */
interface Opening {
  readonly entrance: SocketListener | null;
  /** Releases the listener when the configuration is rejected after all. */
  giveBack(): void | Promise<void>;
}

/**
 * The port that serves the admin API. It participates in every configuration change: a new address is open before the
 * change is confirmed on the old one, and a new address already in use causes the change to be rejected.
 */
export class AdminPort implements Participant {
  readonly #options: AdminPortOptions;
  #entrance: SocketListener | null = null;
  /** Address as requested. */
  #listen: string | null = null;
  #speaker: HttpServer | null = null;
  /** Replaced listeners that will close soon, by requested address. */
  readonly #leaving = new Map<string, { readonly entrance: SocketListener; readonly timer: NodeJS.Timeout }>();

  constructor(options: AdminPortOptions) {
    this.#options = options;
  }

  /** Address that clients connect to; null while the port is off. */
  get address(): string | null {
    return this.#entrance?.address ?? null;
  }

  /** @throws GatewayError ADMIN_LISTEN when a requested port cannot be opened. */
  async open(): Promise<void> {
    const { gateway, listen } = this.#options;
    try {
      const plan = planPort(gateway.serving, listen);
      // TLS is set up before the address is announced, because the first connection may arrive earlier.
      this.#speak(plan.settings.pem);
      await this.#use(plan, (await this.#openFor(plan)).entrance);
    } catch (error) {
      this.#speaker?.close();
      throw new GatewayError('ADMIN_LISTEN', (error as Error).message, error);
    }
  }

  async prepare(next: Next): Promise<Ready> {
    const { plan, opening } = await this.#prepare(next);
    return {
      commit: () => this.#use(plan, opening.entrance),
      abort: () => opening.giveBack(),
    };
  }

  async #prepare({ runtime, snapshot }: Next): Promise<{ plan: PortPlan; opening: Opening }> {
    try {
      const plan = planPort({ config: runtime.config, admin: adminSettings(runtime) }, this.#options.listen);
      return { plan, opening: await this.#openFor(plan) };
    } catch (error) {
      const isPlan = error instanceof PlanError;
      const code = isPlan ? 'ADMIN_LISTEN' : 'LISTENER_BIND';
      const issue = new ConfigError(code, AT, (error as Error).message, { cause: error });
      throw new Refusal(isPlan ? 'validation' : 'warmup', 'prepare', [issue], snapshot.document);
    }
  }

  /** @throws the system's error when a requested address cannot be opened. */
  async #openFor({ address, listen, isExplicit }: PortPlan): Promise<Opening> {
    if (address.kind === 'off') return { entrance: null, giveBack() {} };
    // An ephemeral port stays open if the next configuration requests it by its number.
    if (this.#entrance && (listen === this.#listen || listen === this.#entrance.address))
      return { entrance: this.#entrance, giveBack() {} };
    const leaving = this.#leaving.get(listen);
    if (leaving) {
      const { entrance } = leaving;
      this.#stay(listen);
      return { entrance, giveBack: () => this.#leave(listen, entrance) };
    }
    try {
      const entrance = await openSocketListener(
        address,
        (bound) => this.#options.gateway.deny(bound),
        (socket) => this.#speaker?.take(socket),
      );
      return { entrance, giveBack: () => entrance.close(0) };
    } catch (error) {
      const reported = `the admin API cannot listen on ${listen}: ${bindErrorReason(error as Error)}`;
      if (isExplicit) throw new Error(reported, { cause: error });
      this.#options.log.warning(`${reported}; continuing without the admin API`);
      return { entrance: null, giveBack() {} };
    }
  }

  async #use({ settings: { pem }, listen }: PortPlan, entrance: SocketListener | null): Promise<void> {
    const [old, oldListen] = [this.#entrance, this.#listen];
    this.#entrance = entrance;
    if (entrance !== old) this.#listen = listen;
    if (!isSamePem(this.#speaker, pem)) this.#speak(pem);
    if (old && oldListen !== null && old !== entrance) this.#leave(oldListen, old);
    if (entrance) await this.#options.onServing(entrance.address);
  }

  #speak(pem: HttpServer['pem']): void {
    const old = this.#speaker;
    this.#speaker = createHttpServer(this.#options.respond, pem);
    old?.close();
  }

  /** Keeps an address open for a while: it still has clients, and a rollback may need it again. */
  #leave(listen: string, entrance: SocketListener): void {
    const { handoverMs = 10_000 } = this.#options;
    const end = () => {
      this.#leaving.delete(listen);
      this.#speaker?.drain();
      void entrance.close(GRACE_MS);
    };
    this.#leaving.set(listen, { entrance, timer: setTimeout(end, handoverMs).unref() });
  }

  #stay(listen: string): void {
    clearTimeout(this.#leaving.get(listen)?.timer);
    this.#leaving.delete(listen);
  }

  /** Closes the port after a short wait for responses in progress. */
  async close(): Promise<void> {
    const leaving = [...this.#leaving].map(([listen, { entrance }]) => {
      this.#stay(listen);
      return entrance;
    });
    const entrances = [...leaving, ...(this.#entrance ? [this.#entrance] : [])];
    this.#entrance = null;
    const closed = entrances.map((entrance) => entrance.close(GRACE_MS));
    this.#speaker?.close();
    await Promise.all(closed);
  }
}

function isSamePem(speaker: HttpServer | null, pem: HttpServer['pem']): boolean {
  return speaker !== null && JSON.stringify(speaker.pem) === JSON.stringify(pem);
}
