import type { CommandContext } from './command.ts';

/** Aborts a signal on SIGINT and SIGTERM. */
export class Interruption {
  readonly #signals: CommandContext['signals'];
  readonly #ending = new AbortController();
  readonly #abort = (): void => this.#ending.abort();

  constructor({ signals }: CommandContext) {
    this.#signals = signals;
    signals.once('SIGINT', this.#abort);
    signals.once('SIGTERM', this.#abort);
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  end(): void {
    this.#signals.off('SIGINT', this.#abort);
    this.#signals.off('SIGTERM', this.#abort);
  }
}
