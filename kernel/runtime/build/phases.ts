/** The steps of a reload, in order. */
export type Phase = 'read' | 'validate' | 'build' | 'warmup' | 'rehearse' | 'prepare' | 'swap';

/** Measures the duration of each step of one attempt. */
export class Phases {
  readonly #spentMs = new Map<Phase, number>();
  readonly #onEnter: (phase: Phase) => void;
  /** Signal that aborts when the attempt is abandoned. */
  readonly signal: AbortSignal;
  #current: Phase = 'read';
  #since = performance.now();
  #over = false;

  /** @param onEnter called at the beginning of every step. @param signal aborts the attempt. Default: never. */
  constructor(onEnter: (phase: Phase) => void = () => {}, signal: AbortSignal = new AbortController().signal) {
    this.#onEnter = onEnter;
    this.signal = signal;
  }

  /** The current step, or the last one. */
  get current(): Phase {
    return this.#current;
  }

  /** Ends the current step and begins another. */
  enter(phase: Phase): void {
    this.#note();
    this.#current = phase;
    this.#onEnter(phase);
  }

  /** Ends the current step, which is the last one. */
  end(): void {
    this.#note();
    this.#over = true;
  }

  /** Milliseconds per step, so far. */
  get spentMs(): Readonly<Partial<Record<Phase, number>>> {
    this.#note();
    return Object.fromEntries([...this.#spentMs].map(([phase, ms]) => [phase, Math.round(ms * 100) / 100]));
  }

  #note(): void {
    if (this.#over) return;
    const now = performance.now();
    this.#spentMs.set(this.#current, (this.#spentMs.get(this.#current) ?? 0) + now - this.#since);
    this.#since = now;
  }
}
