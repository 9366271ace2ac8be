import type { LogSinks } from '#contract';
import type { GenerationInfo, Generations } from '../control/generations.ts';
import type { ObservedPart } from '../control/observation/observed-request.ts';
import type { Observers } from '../control/observation/observers.ts';
import type { ListenOptions } from '../control/public-port.ts';
import type { Sampling } from '../server/exchange/sample.ts';
import { resourceUse } from '../workers/messages.ts';
import type { WorkerInfo } from '../workers/worker-info.ts';
import type { ServingProcesses } from './serving-processes.ts';

/** Serves requests in this process, without workers. */
export class OwnProcess implements ServingProcesses {
  readonly converged = true;
  readonly serving = true;
  readonly #generations: Generations;
  readonly #sinks: LogSinks;
  readonly #observers: Observers;
  readonly #startedAt = performance.now();

  constructor(generations: Generations, sinks: LogSinks, observers: Observers) {
    this.#generations = generations;
    this.#sinks = sinks;
    this.#observers = observers;
  }

  /** `loopLagMs` is always 0 here, because the code that monitors the event loop measures the lag. */
  get workers(): readonly WorkerInfo[] {
    const { current, requests, calls, streams, connections } = this.#generations;
    return [
      {
        id: 1,
        pid: process.pid,
        state: 'up',
        revision: current.runtime.id,
        uptimeMs: Math.round(performance.now() - this.#startedAt),
        requests,
        calls,
        streams,
        connections,
        loopLagMs: 0,
        lostLines: this.#sinks.lost,
        ...resourceUse(),
      },
    ];
  }

  get port(): number | null {
    return this.#generations.address?.port || null;
  }

  get closing(): boolean {
    return this.#generations.closing;
  }

  get held(): readonly GenerationInfo[] {
    return this.#generations.held;
  }

  get aborted(): number {
    return this.#generations.aborted;
  }

  get headerFaults(): number {
    return this.#generations.headerFaults;
  }

  get leaked(): number {
    return this.#generations.leaked;
  }

  get streamsByEndpoint(): ReadonlyMap<string, number> {
    return this.#generations.streamsByEndpoint;
  }

  listen(address: ListenOptions): Promise<{ host: string; port: number }> {
    return this.#generations.listen({ known: null, address });
  }

  async observe(id: string): Promise<readonly ObservedPart[]> {
    const part = this.#observers.take(id);
    return part ? [part] : [];
  }

  unobserve(id: string): void {
    this.#observers.release(id);
  }

  async countInFlight(): Promise<number> {
    return this.#generations.inFlight;
  }

  setClosing(closing: boolean): void {
    this.#generations.setClosing(closing);
  }

  sample(sampling: Sampling | null): void {
    this.#generations.sample(sampling);
  }
}
