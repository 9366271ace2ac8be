/** Weight of the newest measurement in a moving average. */
const NEWEST = 0.2;

/** Age after which a latency no longer counts, in milliseconds. */
const OUTDATED_MS = 60_000;

/** Longest cooldown that a provider can demand, in milliseconds. */
const MAX_COOLDOWN_MS = 600_000;

/** Recent behavior of one provider, shared by all routers of a process. */
export class Health {
  #coolUntil = Number.NEGATIVE_INFINITY;
  #latencyMs = 0;
  #measuredAt = Number.NEGATIVE_INFINITY;
  #failureRate = 0;

  isCooling(now: number): boolean {
    return now < this.#coolUntil;
  }

  /** Share of the recent requests that failed, from 0 to 1. */
  get failureRate(): number {
    return this.#failureRate;
  }

  /** Average time until a response begins, in milliseconds; 0 if the latency must be measured anew. */
  latencyMs(now: number): number {
    return now - this.#measuredAt < OUTDATED_MS ? this.#latencyMs : 0;
  }

  /** Marks the latency as being measured, so that only one request measures it again; concurrent requests use the outdated value. */
  measuring(now: number): void {
    this.#measuredAt = now;
  }

  answered(latencyMs: number, now: number): void {
    this.#latencyMs = this.#latencyMs === 0 ? latencyMs : this.#latencyMs + NEWEST * (latencyMs - this.#latencyMs);
    this.#measuredAt = now;
    this.#failureRate *= 1 - NEWEST;
    this.#coolUntil = Number.NEGATIVE_INFINITY;
  }

  /** @param demandedMs cooldown that the provider demands; 0 without one. */
  failed(now: number, cooldownMs: number, demandedMs: number): void {
    this.#failureRate += NEWEST * (1 - this.#failureRate);
    if (cooldownMs > 0) this.#coolUntil = now + (demandedMs > 0 ? Math.min(demandedMs, MAX_COOLDOWN_MS) : cooldownMs);
  }
}
