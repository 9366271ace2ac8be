import { timerMs } from '#contract';
import { GatewayError } from '../contract/internal.ts';

/** Grants access to one caller at a time, in order of arrival. */
export class Mutex {
  readonly #waiting: (() => void)[] = [];
  #taken = false;

  /** True while a caller has access. */
  get locked(): boolean {
    return this.#taken;
  }

  /**
   * Waits until the caller has exclusive access.
   * @param waitMs longest wait; 0 not to wait, infinite for no limit.
   * @returns a function that releases the access.
   * @throws GatewayError RELOAD_IN_PROGRESS.
   */
  async acquire(waitMs: number): Promise<() => void> {
    if (this.#taken) await this.#wait(waitMs);
    this.#taken = true;
    return () => this.#leave();
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#taken = false;
  }

  #wait(waitMs: number): Promise<void> {
    const refusal = new GatewayError('RELOAD_IN_PROGRESS', 'another change is being applied');
    if (waitMs === 0) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      const late = Number.isFinite(waitMs) ? setTimeout(() => give(), timerMs(waitMs)) : null;
      const go = () => {
        if (late) clearTimeout(late);
        resolve();
      };
      const give = () => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1);
        reject(refusal);
      };
      this.#waiting.push(go);
    });
  }
}
