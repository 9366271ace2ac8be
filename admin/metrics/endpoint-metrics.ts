import { latencyBands, maskTexts, type Operations, statusClasses } from '#kernel';
import { type Metric, type Sample, writeValue } from './exposition.ts';

/** Histogram bucket bounds, in milliseconds. They match the bounds at which latencies are counted, so that no value is interpolated. */
const BOUNDS_MS = [
  0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6, 819.2, 1638.4, 3276.8, 6553.6, 13_107.2, 52_428.8,
];

/** Traffic metrics of the endpoints in the serving configuration; endpoints that were never called are omitted. */
export function endpointMetrics({ serving }: Pick<Operations, 'serving'>): Metric[] {
  const called = serving.compiled.published
    .filter(({ traffic }) => traffic.calls > 0)
    .map(({ endpoint, traffic }) => ({ labels: { method: endpoint.method, endpoint: endpoint.endpoint }, traffic }));
  return [
    {
      name: 'gateway_endpoint_requests_total',
      type: 'counter',
      help: 'Number of requests that an endpoint served.',
      samples: called.map(({ labels, traffic }) => ({ labels, value: traffic.calls })),
    },
    {
      name: 'gateway_endpoint_errors_total',
      type: 'counter',
      help: 'Number of requests that an endpoint answered with status 500 or higher.',
      samples: called.map(({ labels, traffic }) => ({ labels, value: traffic.errors })),
    },
    {
      name: 'gateway_endpoint_responses_total',
      type: 'counter',
      help: 'Number of requests by status class. 499 means that the client disconnected before the response.',
      samples: called.flatMap(({ labels, traffic }) => byClass(labels, traffic.statuses)),
    },
    {
      name: 'gateway_backend_responses_total',
      type: 'counter',
      help: 'Number of backend calls by status class. "none" means that the backend did not respond.',
      samples: called.flatMap(({ labels, traffic }) =>
        Array.from(traffic.backends).flatMap(([backend, statuses]) =>
          byClass({ ...labels, backend: maskTexts(backend) }, statuses),
        ),
      ),
    },
    {
      name: 'gateway_endpoint_duration_seconds',
      type: 'histogram',
      help: 'Request duration.',
      samples: called.flatMap(({ labels, traffic }) => histogram(labels, traffic)),
    },
  ];
}

type Route = Operations['serving']['compiled']['routes'][number];

/** Status classes without responses are omitted. */
function byClass(labels: NonNullable<Sample['labels']>, statuses: Route['traffic']['statuses']): Sample[] {
  return statuses
    .snapshot()
    .map((value, at) => ({ labels: { ...labels, status_class: statusClasses[at]! }, value }))
    .filter(({ value }) => value > 0);
}

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
  return [
    ...buckets,
    { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: window.calls },
    { suffix: '_sum', labels, value: window.latencyNs / 1e9 },
    { suffix: '_count', labels, value: window.calls },
  ];
}
