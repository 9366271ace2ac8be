import type { Change } from './compare.ts';

interface Times {
  readonly before: number[];
  readonly after: number[];
}

/** An endpoint that responds more slowly. */
export interface Slower {
  readonly endpoint: string;
  readonly requests: number;
  readonly change: Change;
}

/** Response times of two configurations by endpoint, in milliseconds. */
export class ResponseTimes {
  readonly #byEndpoint = new Map<string, Times>();

  add(endpoint: string, before: number, after: number): void {
    const known = this.#byEndpoint.get(endpoint) ?? { before: [], after: [] };
    known.before.push(before);
    known.after.push(after);
    this.#byEndpoint.set(endpoint, known);
  }

  /** Endpoints whose median response time grows by more than a threshold. */
  slower(thresholdMs: number): Slower[] {
    return [...this.#byEndpoint].flatMap(([endpoint, { before, after }]) => {
      const [old, next] = [median(before), median(after)];
      if (next - old <= thresholdMs) return [];
      const change = { cause: 'time', at: '', shown: `${old.toFixed(1)} ms → ${next.toFixed(1)} ms` } as const;
      return [{ endpoint, requests: after.length, change }];
    });
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) / 2)]!;
}
