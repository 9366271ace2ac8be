import type { Log } from '#contract';
import type { Ask } from '../ask.ts';

/** Maximum number of registered gateways. */
const MAX_INSTANCES = 10_000;

/** A registered gateway. */
interface Instance {
  readonly name: string;
  /** Origin that the gateway listens on, such as `http://10.0.0.7:1234`. */
  readonly origin: string;
  /** ID that changes when the gateway restarts. */
  readonly run: string;
  seenAt: number;
  /** Whether the gateway has missed an update and needs the whole set. */
  isBehind: boolean;
}

/** Number of gateways notified, and how many of them failed. */
export interface PushOutcome {
  readonly instances: number;
  readonly failed: number;
}

/** Settings for notifying gateways of revocations. */
export interface Pushing {
  readonly ask: Ask;
  readonly workers: number;
  readonly retries: number;
  /** Time without a heartbeat after which a gateway is removed, in milliseconds. */
  readonly patienceMs: number;
}

/** Gateways registered at a revoke server, by address. */
export class Instances {
  readonly #known = new Map<string, Instance>();

  /** @param now milliseconds, like the `now` parameters of the other methods. */
  list(now: number): { id: string; name: string; seen_ms_ago: number }[] {
    return [...this.#known].map(([id, { name, seenAt }]) => ({ id, name, seen_ms_ago: Math.round(now - seenAt) }));
  }

  /** @returns false if the gateway was not registered. */
  forget(id: string): boolean {
    return this.#known.delete(id);
  }

  forgetSilent(patienceMs: number, now: number, log: Log): void {
    for (const [id, { seenAt, name }] of this.#known) {
      if (now - seenAt <= patienceMs) continue;
      this.#known.delete(id);
      log.warning(`${name} at ${id} has not reported for ${Math.round(patienceMs / 1000)}s and was removed`);
    }
  }

  /**
   * Records a heartbeat.
   * @returns the gateway's address if it needs the whole set, otherwise null; undefined if too many are registered.
   */
  heard(name: string, host: string, port: number, run: string, now: number): string | null | undefined {
    const id = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    const known = this.#known.get(id);
    if (known && known.run === run) {
      known.seenAt = now;
      return known.isBehind ? id : null;
    }
    if (!known && this.#known.size >= MAX_INSTANCES) return undefined;
    this.#known.set(id, { name, origin: `http://${id}`, run, seenAt: now, isBehind: true });
    return id;
  }

  /**
   * Sends the whole set to one gateway.
   * @param pack packs the current revocations.
   * @returns the reason if it failed; null if it succeeded.
   */
  async complete(
    id: string,
    pack: () => Promise<Uint8Array>,
    pushing: Pushing,
    signal: AbortSignal,
  ): Promise<string | null> {
    const instance = this.#known.get(id);
    if (!instance) return 'it was removed';
    const { ask, retries } = pushing;
    // From now on, elements are also sent to this gateway separately. If that fails, it is marked as behind once more.
    instance.isBehind = false;
    const problem = await deliver(ask, new URL('/union', instance.origin), await pack(), retries, signal);
    if (problem !== null) instance.isBehind = true;
    return problem;
  }

  /** Sends an update to all gateways, several at a time. */
  async push(body: Uint8Array, { ask, workers, retries }: Pushing, signal: AbortSignal): Promise<PushOutcome> {
    const waiting = [...this.#known.values()];
    const instances = waiting.length;
    let failed = 0;
    const work = async () => {
      for (let one = waiting.pop(); one; one = waiting.pop()) {
        if ((await deliver(ask, new URL('/add', one.origin), body, retries, signal)) === null) continue;
        one.isBehind = true;
        failed++;
      }
    };
    await Promise.all(Array.from({ length: Math.min(workers, instances) }, work));
    return { instances, failed };
  }
}

/** Sends a request, with retries. @returns the reason if it failed; null if it succeeded. */
async function deliver(
  ask: Ask,
  url: URL,
  body: Uint8Array,
  retries: number,
  signal: AbortSignal,
): Promise<string | null> {
  let problem = 'given up';
  for (let attempt = 0; attempt <= Math.max(0, retries) && !signal.aborted; attempt++) {
    try {
      const status = await ask(url, body, signal);
      if (status === 200) return null;
      problem = `status ${status}`;
    } catch (error) {
      problem = (error as Error).message;
    }
  }
  return problem;
}
