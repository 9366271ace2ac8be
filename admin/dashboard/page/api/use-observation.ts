import { useEffect, useState } from 'preact/hooks';
import type { ApiError, Schemas } from './client.ts';
import { followStream } from './follow-stream.ts';

export type Observation = Schemas['Observation'];
export type ObservedRequest = Schemas['ObservedRequest'];

/** Traffic of an endpoint during a second. */
export type ObservedTraffic = NonNullable<Observation['traffic']> & { readonly endedAt: number };

/** Observations of an endpoint since its view was opened. */
export interface Observed {
  /** The last event; null before the first. */
  readonly latest: Observation | null;
  readonly traffic: readonly ObservedTraffic[];
  /** Sampled requests, latest first. */
  readonly requests: readonly ObservedRequest[];
  /** Slowest first. */
  readonly slowest: readonly ObservedRequest[];
  readonly error: ApiError | null;
}

/** Numbers that the page keeps. */
const MAX_TRAFFIC = 600;
const MAX_REQUESTS = 200;
const MAX_SLOWEST = 20;

/** Age after which a slow request is no longer recent, in milliseconds. */
const RECENT_MS = 15 * 60_000;

const nothing: Observed = { latest: null, traffic: [], requests: [], slowest: [], error: null };

/** Follows an endpoint while the page is visible. The gateway observes it only while the stream is open. */
export function useObservation(endpoint: string): Observed {
  const [observed, setObserved] = useState(nothing);
  useEffect(() => {
    let controller = new AbortController();
    const follow = (): void => {
      controller.abort();
      if (document.hidden) return;
      controller = new AbortController();
      const { signal } = controller;
      followStream(
        '/v1/routes/observation',
        () => ({ query: { endpoint } }),
        {
          onMessage: ({ data }) => signal.aborted || setObserved((last) => joined(last, JSON.parse(data))),
          onConnected: (connected) => connected && setObserved((last) => ({ ...last, error: null })),
          onRefused: (error) => setObserved((last) => ({ ...last, error })),
        },
        signal,
      );
    };
    setObserved(nothing);
    follow();
    document.addEventListener('visibilitychange', follow);
    return () => {
      document.removeEventListener('visibilitychange', follow);
      controller.abort();
    };
  }, [endpoint]);
  return observed;
}

function joined({ traffic, requests, slowest }: Observed, latest: Observation): Observed {
  const sampled = latest.requests.filter(({ sample }) => sample !== null).reverse();
  const recent = latest.at - RECENT_MS;
  return {
    latest,
    traffic: latest.traffic ? [...traffic, { ...latest.traffic, endedAt: latest.at }].slice(-MAX_TRAFFIC) : traffic,
    requests: sampled.length > 0 ? [...sampled, ...requests].slice(0, MAX_REQUESTS) : requests,
    slowest:
      latest.requests.length > 0
        ? [...slowest.filter(({ startedAt }) => startedAt > recent), ...latest.requests]
            .sort((a, b) => b.durationMs - a.durationMs)
            .slice(0, MAX_SLOWEST)
        : slowest,
    error: null,
  };
}
