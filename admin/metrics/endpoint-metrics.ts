import { type Gateway, latencyBands } from '#kernel';
import { type Metric, type Sample, writeValue } from './exposition.ts';

/** Bounds of the histogram in milliseconds: at each, latencies are counted apart, so that no call is guessed. */
const BOUNDS_MS = [
  0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6, 819.2, 1638.4, 3276.8, 6553.6, 13_107.2, 52_428.8,
];

/** What the endpoints of the serving configuration have served; those never called are left out. */
export function endpointMetrics({ generations }: Pick<Gateway, 'generations'>): Metric[] {
  const called = generations.current.runtime.compiled.routes
    .filter(({ traffic }) => traffic.calls > 0)
    .map(({ endpoint, traffic }) => ({ labels: { method: endpoint.method, endpoint: endpoint.endpoint }, traffic }));
  return [
    {
      name: 'gateway_endpoint_requests_total',
      type: 'counter',
      help: 'Requests answered by an endpoint.',
      samples: called.map(({ labels, traffic }) => ({ labels, value: traffic.calls })),
    },
    {
      name: 'gateway_endpoint_errors_total',
      type: 'counter',
      help: 'Requests an endpoint answered with a status of 500 or above.',
      samples: called.map(({ labels, traffic }) => ({ labels, value: traffic.errors })),
    },
    {
      name: 'gateway_endpoint_duration_seconds',
      type: 'histogram',
      help: 'Time to answer a request. The sum is estimated from finer buckets and at most an eighth off.',
      samples: called.flatMap(({ labels, traffic }) => histogram(labels, traffic)),
    },
  ];
}

type Route = Gateway['generations']['current']['runtime']['compiled']['routes'][number];

function histogram(labels: NonNullable<Sample['labels']>, traffic: Route['traffic']): Sample[] {
  const window = traffic.snapshot();
  const bands = latencyBands(window);
  const below = (boundMs: number): number =>
    bands.reduce((sum, { toMs, calls }) => (toMs <= boundMs ? sum + calls : sum), 0);
  const buckets = BOUNDS_MS.map((boundMs) => ({
    suffix: '_bucket',
    labels: { ...labels, le: writeValue(boundMs / 1000) },
    value: below(boundMs),
  }));
  const middleMs = bands.map(
    ({ fromMs, toMs, calls }) => (Number.isFinite(toMs) ? (fromMs + toMs) / 2 : fromMs) * calls,
  );
  return [
    ...buckets,
    { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: window.calls },
    { suffix: '_sum', labels, value: middleMs.reduce((sum, ms) => sum + ms, 0) / 1000 },
    { suffix: '_count', labels, value: window.calls },
  ];
}
