/** The steps of a reload, in their order. */
export type Phase = 'read' | 'validate' | 'build' | 'warmup' | 'prepare' | 'swap';

/** How long each step of one attempt took. */
export class Phases {
  readonly #spentMs = new Map<Phase, number>();
  readonly #onEnter: (phase: Phase) => void;
  /** Aborts when the attempt is given up. */
  readonly signal: AbortSignal;
  #current: Phase = 'read';
  #since = performance.now();
  #over = false;

  /** @param onEnter called with every step that begins. @param signal aborts the attempt. Default: never. */
  constructor(onEnter: (phase: Phase) => void = () => {}, signal: AbortSignal = new AbortController().signal) {
    this.#onEnter = onEnter;
    this.signal = signal;
  }

  /** The step under way, or the last one. */
  get current(): Phase {
    return this.#current;
  }

  /** Ends the step under way and begins another. */
  enter(phase: Phase): void {
    this.#note();
    this.#current = phase;
    this.#onEnter(phase);
  }

  /** Ends the step under way: nothing comes after it. */
  end(): void {
    this.#note();
    this.#over = true;
  }

  /** Milliseconds by step, so far. */
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
