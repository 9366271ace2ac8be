import { ConfigError, type Log } from '#contract';
import {
  adminSettings,
  bindTrouble,
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

/** For answers under way when a port is closed, in milliseconds. */
const GRACE_MS = 2_000;

export interface AdminPortOptions {
  readonly gateway: Operations;
  /** The address of the command line or the environment. */
  readonly listen: string | undefined;
  readonly respond: RequestListener;
  readonly log: Log;
  /** Told of every address that was opened, and of every configuration that serves there, before its change is answered. */
  readonly onServing: (address: string) => Promise<void>;
  /** How long a replaced address goes on, in milliseconds. Default 10 s. */
  readonly handoverMs?: number;
}

/** An entrance for a configuration that does not serve yet; null where there is to be none. */
interface Opening {
  readonly entrance: SocketListener | null;
  /** Undoes what opening it has done. */
  giveBack(): void | Promise<void>;
}

/**
 * Where the admin API is served. It takes part in every change of configuration: a new address is open before the change
 * is answered on the old one, and one that is taken refuses the change.
 */
export class AdminPort implements Participant {
  readonly #options: AdminPortOptions;
  #entrance: SocketListener | null = null;
  /** As it was asked for. */
  #listen: string | null = null;
  #speaker: HttpServer | null = null;
  /** Replaced, and to be closed soon; by the address that was asked for. */
  readonly #leaving = new Map<string, { readonly entrance: SocketListener; readonly timer: NodeJS.Timeout }>();

  constructor(options: AdminPortOptions) {
    this.#options = options;
  }

  /** Where clients connect; null while it is off. */
  get address(): string | null {
    return this.#entrance?.address ?? null;
  }

  /** @throws GatewayError ADMIN_LISTEN when the port cannot be had and somebody asked for it. */
  async open(): Promise<void> {
    const { gateway, listen } = this.#options;
    try {
      const plan = planPort(gateway.serving, listen);
      // The first connection may come before the address is known to everybody.
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
      const mistake = new ConfigError(code, AT, (error as Error).message, { cause: error });
      throw new Refusal(isPlan ? 'validation' : 'warmup', 'prepare', [mistake], snapshot.document);
    }
  }

  /** @throws the system's error when an address that somebody asked for cannot be had. */
  async #openFor({ address, listen, isAsked }: PortPlan): Promise<Opening> {
    if (address.kind === 'off') return { entrance: null, giveBack() {} };
    // A free port stays the same when it is asked for by its number.
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
      const reported = `the admin API cannot listen on ${listen}: ${bindTrouble(error as Error)}`;
      if (isAsked) throw new Error(reported, { cause: error });
      this.#options.log.warning(`${reported}; continuing without it`);
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

  /** Lets an address go on for a while: clients are still on it, and a rollback may want it again. */
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

  /** Waits a moment for what is being answered. */
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
