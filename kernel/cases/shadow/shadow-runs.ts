import type { Applied, Change } from '../../control/change.ts';
import type { ShadowReport } from '../../control/shadow-report.ts';
import { systemTimers, type Timers } from '../../runtime/watch/timers.ts';
import { type ShadowingGateway, ShadowRun, type ShadowSettings } from './shadow-run.ts';

/** The shadow runs of a gateway, one at a time. */
export class ShadowRuns {
  readonly #gateway: ShadowingGateway;
  readonly #timers: Timers;
  /** The run that is being started, or that samples; null without one. */
  #current: ShadowRun | null = null;
  #last: ShadowReport | null = null;

  constructor(gateway: ShadowingGateway, timers: Timers = systemTimers) {
    this.#gateway = gateway;
    this.#timers = timers;
  }

  /** True while a run is being started, samples or ends. */
  get isBusy(): boolean {
    return this.#current !== null;
  }

  /** The run that samples, or else the last one; null before the first. */
  get report(): ShadowReport | null {
    return this.#current?.report ?? this.#last;
  }

  /**
   * Builds the configuration of a change without activating it, and sends it copies of requests. Nothing runs if the
   * configuration is already active.
   * @throws Error if a run is in progress; see `Operations.apply`.
   */
  async start(change: Change, settings: ShadowSettings): Promise<Applied> {
    if (this.#current) throw new Error('a shadow run is in progress');
    const run = new ShadowRun(this.#gateway, settings, this.#timers);
    this.#current = run;
    try {
      const rehearse: Change['rehearse'] = async (next, attempt) => {
        await change.rehearse?.(next, attempt);
        await run.open(next, attempt);
      };
      const applied = await this.#gateway.apply({ ...change, dryRun: true, rehearse });
      // A gateway that is closing has ended this run already.
      if (applied.result !== 'dry_run' || this.#current !== run) this.#discard(run);
      else this.#begin(run);
      return applied;
    } catch (error) {
      this.#discard(run);
      throw error;
    }
  }

  /** Ends the run that samples. @returns its report; null without one. */
  async stop(): Promise<ShadowReport | null> {
    if (!this.#current?.report) return null;
    return this.#current.end('stopped', 'stopped by an operator');
  }

  /** Ends everything, without waiting. */
  close(): void {
    const run = this.#current;
    this.#current = null;
    if (run?.report) void run.end('stopped', 'the gateway is closing');
    run?.discard();
  }

  #begin(run: ShadowRun): void {
    run.begin();
    void run.ended.then((report) => {
      this.#last = report;
      if (this.#current === run) this.#current = null;
    });
  }

  #discard(run: ShadowRun): void {
    run.discard();
    if (this.#current === run) this.#current = null;
  }
}
