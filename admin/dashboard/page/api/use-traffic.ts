import { useEffect, useState } from 'preact/hooks';
import { read, type Schemas } from './client.ts';

export type TrafficSample = Schemas['TrafficSample'];

/** Time series of the traffic since the gateway began to record it, or since the page was opened. */
export interface Traffic {
  readonly samples: readonly TrafficSample[];
  /** Names of the status classes, in the order of `statuses` of a sample. */
  readonly statusClasses: readonly string[];
}

/** Maximum number of samples that the page keeps. */
const MAX_SAMPLES = 600;

const none: Traffic = { samples: [], statusClasses: [] };

/** Follows the traffic: by the second while the page is open, or every ten seconds for the last hour. */
export function useTraffic(interval: '1s' | '10s'): Traffic {
  const [traffic, setTraffic] = useState(none);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const everyMs = interval === '1s' ? 1000 : 10_000;
    let samples: readonly TrafficSample[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = async (): Promise<void> => {
      try {
        if (!document.hidden) {
          const after = samples.at(-1)?.id ?? 0;
          const next = await read('/v1/traffic', { query: { interval, after }, signal });
          // A restarted gateway numbers its samples from 1, and returns all of them.
          const isRestarted = (next.samples[0]?.id ?? after + 1) <= after;
          samples = [...(isRestarted ? [] : samples), ...next.samples].slice(-MAX_SAMPLES);
          setTraffic({ samples, statusClasses: next.statusClasses });
        }
      } catch {
        samples = [];
      }
      if (!signal.aborted) timer = setTimeout(load, everyMs);
    };
    setTraffic(none);
    load();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [interval]);
  return traffic;
}

/** Traffic of an endpoint, summed over samples. */
export interface EndpointRate {
  readonly endpoint: string;
  /** Requests per second. */
  readonly rate: number;
  /** Share of requests with an error, from 0 to 1. */
  readonly errorShare: number;
  /** The highest p99 of a sample; null without requests. */
  readonly p99Ms: number | null;
}

/** Rates of the endpoints over the last samples, by endpoint. */
export function ratesOf(samples: readonly TrafficSample[]): ReadonlyMap<string, EndpointRate> {
  const seconds = samples.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000;
  const totals = new Map<string, { calls: number; errors: number; p99Ms: number | null }>();
  for (const { endpoints } of samples) {
    for (const { endpoint, calls, errors, p99Ms } of endpoints) {
      const total = totals.get(endpoint) ?? { calls: 0, errors: 0, p99Ms: null };
      total.calls += calls;
      total.errors += errors;
      if (p99Ms !== null) total.p99Ms = Math.max(total.p99Ms ?? 0, p99Ms);
      totals.set(endpoint, total);
    }
  }
  const rates = Array.from(totals, ([endpoint, { calls, errors, p99Ms }]): [string, EndpointRate] => [
    endpoint,
    { endpoint, rate: calls / seconds, errorShare: calls === 0 ? 0 : errors / calls, p99Ms },
  ]);
  return new Map(rates);
}
