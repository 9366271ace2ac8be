import { writePlugin, written } from './configuration.ts';
import { type RunningGateway, startGateway } from './gateway.ts';
import { Model } from './model.ts';
import type { Step } from './steps.ts';
import type { Surroundings } from './surroundings.ts';

/** Number of configurations that a gateway serves before the test replaces it with a new one: about as many as its history keeps. */
const MOST_ACCEPTED = 20;
/** Number of times that workers of a gateway are killed before the test replaces the gateway: the pause before a restart grows with each. */
const MOST_KILLS = 4;

/** A gateway, and a model of its expected behavior. */
interface Run {
  readonly gateway: RunningGateway;
  readonly model: Model;
  /** Steps of earlier inputs. */
  readonly earlier: Step[];
  /** Number of kills, in all runs, before this one. */
  readonly killed: number;
}

/** Runs inputs on gateways, a new one for each or one for several. */
export class Runs {
  readonly #around: Surroundings;
  #kept: Run | null = null;

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** Runs steps on a gateway of their own. @throws Error when the gateway does not behave as expected. */
  async alone(steps: readonly Step[]): Promise<void> {
    const run = await this.#start();
    try {
      await this.#take(run, steps);
      await this.#end(run, steps.at(-1));
    } finally {
      await this.#remove(run);
    }
  }

  /**
   * Runs steps on the gateway of the steps before, unless that gateway must be replaced.
   * @throws Error when it breaks a promise, with the earlier steps if the last ones alone do not show it.
   */
  async take(steps: readonly Step[]): Promise<void> {
    const run = this.#kept ?? (await this.#start());
    this.#kept = null;
    try {
      await this.#take(run, steps);
      for (const step of steps) run.earlier.push(step);
      if (!this.#isWorn(run)) {
        this.#kept = run;
        return;
      }
      await this.#end(run, steps.at(-1));
    } catch (error) {
      await this.#remove(run);
      if (run.earlier.length === 0) throw error;
      await this.alone(steps);
      throw new Error(`${(error as Error).message}, after ${JSON.stringify(run.earlier)}`, { cause: error });
    }
    await this.#remove(run);
  }

  /** Closes the last gateway. @throws Error when it does not behave as expected. */
  async close(): Promise<void> {
    const run = this.#kept;
    this.#kept = null;
    if (!run) return;
    try {
      await this.#end(run, undefined);
    } finally {
      await this.#remove(run);
    }
  }

  async #start(): Promise<Run> {
    const { workers, ports, backend, kills } = this.#around;
    const killed = kills.killed.size;
    let first = '';
    const gateway = await startGateway(workers, (folder) => {
      writePlugin(folder, true);
      first = written({ mark: 'start', kind: 'plain', port: ports[0]!, host: backend.host, folder });
      return first;
    });
    return { gateway, model: new Model(gateway, first, this.#around), earlier: [], killed };
  }

  async #take({ model }: Run, steps: readonly Step[]): Promise<void> {
    for (const step of steps) await model.take(step);
    await model.rest();
  }

  #isWorn({ model, earlier, killed }: Run): boolean {
    const kills = this.#around.kills.killed.size - killed;
    return model.accepted > MOST_ACCEPTED || kills >= MOST_KILLS || earlier.at(-1)?.act === 'arm';
  }

  /** @param last a kill to arm: a worker may be killed while the gateway closes. */
  async #end({ gateway, model }: Run, last: Step | undefined): Promise<void> {
    await model.end();
    if (last?.act === 'arm') this.#around.kills.arm(last.kill);
    await gateway.close();
  }

  async #remove({ gateway }: Run): Promise<void> {
    const { system, backend, kills } = this.#around;
    system.follow('nothing fails');
    backend.release();
    await gateway.operations.close();
    kills.disarm();
    gateway.remove();
  }
}
