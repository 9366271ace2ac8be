import type { Bound } from './bound.ts';

/** Requests that an operator observes, which clients and backends can fill. */
export const observationBounds: readonly Bound[] = [
  {
    holds: 'Sampled requests of an observed endpoint that wait to be read, for each process (`admin/api`)',
    from: 'kernel/control/observation/endpoint-observer.ts',
    limit: '{MAX_SAMPLES} requests, and the {MAX_SLOW} slowest of the others',
    beyond: 'The requests are counted, but not shown.',
    tests: [
      'an observed endpoint keeps at most 40 samples until they are taken',
      'an observed endpoint reports the 5 slowest requests that are not sampled',
    ],
  },
  {
    holds: 'Sampled requests of an observed endpoint that are in progress, for each process (`admin/api`)',
    from: 'kernel/control/observation/endpoint-observer.ts',
    limit: '{MAX_OPEN} requests',
    beyond: 'Further requests are not sampled.',
    tests: ['an observed endpoint samples at most 100 requests that are in progress'],
  },
  {
    holds: 'Body of a sampled request or response (`admin/api`)',
    from: 'kernel/control/observation/sample.ts',
    limit: '{MAX_BODY_BYTES}, and {MAX_HEADERS} headers',
    beyond: 'The body is omitted with the reason; the client and the backend receive it unchanged.',
    tests: ['an observed endpoint omits bodies above 4 KiB, and large data before it is encoded'],
  },
  {
    holds: 'Endpoints that are observed at the same time (`admin/api`)',
    from: 'admin/operating/observations.ts',
    limit: '{MAX_ENDPOINTS} endpoints',
    beyond: 'Requests to observe another endpoint are rejected with 429.',
    tests: ['GET /v1/routes/observation requires an endpoint that exists, and observes at most 16 of them'],
  },
];
