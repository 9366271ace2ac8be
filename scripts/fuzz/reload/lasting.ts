import type { ServerResponse } from 'node:http';
import { eventually } from '../eventually.ts';
import { type Address, type Answer, ask } from './clients.ts';
import type { RunningGateway } from './gateway.ts';
import { ownerOf } from './kills.ts';
import type { Surroundings } from './surroundings.ts';

/** Maximum time to wait for a request that lasts until `release` is called, in milliseconds. */
const LASTING_MS = 120_000;

/** A request that lasts until `release` is called. */
interface Begun {
  readonly answer: Promise<Answer | Error>;
  readonly expected: string;
  /** Worker that serves the request; undefined without a worker, or if the worker is dead. */
  readonly pid: number | undefined;
}

/** Requests and streams that last through configuration changes. */
export class Lasting {
  readonly #gateway: RunningGateway;
  readonly #around: Surroundings;
  readonly #begun = new Set<Begun>();

  constructor(gateway: RunningGateway, around: Surroundings) {
    this.#gateway = gateway;
    this.#around = around;
  }

  /**
   * Begins a request or stream, and waits until it reaches the backend.
   * @param mayBeLost whether killed workers are being replaced: the port is closed while none is left.
   * @throws Error when it does not, unless a worker has been killed.
   */
  async begin(address: Address, path: string, expected: string, mayBeLost: boolean): Promise<void> {
    const { backend, kills } = this.#around;
    const killed = kills.killed.size;
    const others = new Set(backend.held);
    let early: Answer | Error | null = null;
    const answer = ask(address, path, { patienceMs: LASTING_MS }).catch((error: Error) => error);
    void answer.then((result) => {
      early = result;
    });
    let held: ServerResponse | undefined;
    await eventually(
      () => {
        held = [...backend.held].find((one) => !others.has(one));
        return held !== undefined || early !== null;
      },
      () => `a request for ${path} does not reach its backend`,
    );
    if (held) {
      const { remotePort, localPort } = held.socket!;
      const pid = ownerOf(remotePort!, localPort!, this.#gateway.pids);
      this.#begun.add({ answer, expected, pid });
    } else if (!mayBeLost && kills.killed.size === killed)
      throw new Error(`a request for ${path} ends early: ${String(early)}`);
  }

  /** Lets all requests and streams end. @throws Error when one of them fails, unless its worker has been killed. */
  async release(): Promise<void> {
    this.#around.backend.release();
    for (const { answer, expected, pid } of this.#begun) {
      const result = await answer;
      if (result instanceof Error && this.#isLost(pid)) continue;
      if (result instanceof Error) throw new Error(`a request in flight fails: ${result.message}`);
      if (result.status !== 200 || result.body !== expected)
        throw new Error(`a request in flight is answered ${result.status} ${result.body}`);
    }
    this.#begun.clear();
  }

  /** @throws Error when the gateway reports other numbers of requests and streams. */
  async mustBeCounted(): Promise<void> {
    const { processes } = this.#gateway.operations;
    let counted = 0;
    const expected = (): number => [...this.#begun].filter(({ pid }) => !this.#isLost(pid)).length;
    await eventually(
      async () => {
        counted = await processes.countInFlight();
        return counted === expected();
      },
      () => `${counted} requests in flight, not ${expected()}`,
    );
  }

  #isLost(pid: number | undefined): boolean {
    const { workers, kills } = this.#around;
    return workers > 0 && (pid === undefined || kills.killed.has(pid));
  }
}
