import type { Bound } from './bound.ts';

/** Resources of the admin API, which its clients can fill. */
export const adminBounds: readonly Bound[] = [
  {
    holds: 'Addresses that failed to authenticate at the admin port (`admin/api`)',
    from: 'admin/guards/failures.ts',
    limit: '{MAX_ADDRESSES} addresses',
    beyond: 'The oldest is dropped.',
    tests: ['the counter of failed logins remembers at most ten thousand addresses'],
  },
  {
    holds: 'Results of changes with an idempotency key (`admin/api`)',
    from: 'admin/idempotency.ts',
    limit: '{MAX_RESULTS} results',
    beyond: 'The oldest is dropped.',
    tests: ['stored results of idempotent requests are limited to about a thousand; the oldest are dropped first'],
  },
  {
    holds: 'Connections to the admin port (`admin/api`)',
    from: 'admin/server/socket-listener.ts',
    limit: '{MAX_CONNECTIONS} connections',
    beyond: 'New connections are closed as they are accepted.',
    tests: ['bounds of data that clients fill close connections to the admin port beyond 512'],
  },
  {
    holds: 'Event stream that its client does not read (`GET /v1/events`, `GET /v1/routes/observation`)',
    from: 'admin/operating/event-stream.ts',
    limit: '{MAX_WAITING_BYTES}',
    beyond: 'The client is disconnected.',
    tests: ['GET /v1/events closes the connection of a client that does not read the stream'],
  },
  {
    holds: 'One-time codes, and sessions of the dashboard (`admin/api`)',
    from: 'admin/tokens/sessions.ts',
    limit: '{MAX_COUNT} each',
    beyond: 'The oldest of the token with the most is dropped.',
    tests: [
      'sessions of the dashboard are limited to 100: a further one ends the oldest',
      'sessions of the dashboard end for the token that has opened the most of them, not for others',
    ],
  },
  {
    holds: 'Response of a request that `POST /v1/try` sends',
    from: 'admin/operations/try.ts',
    limit: '{MAX_BYTES}, {MAX_MS}',
    beyond: 'The response is cut and marked.',
    tests: ['a trial request over the admin API ends after 1 MiB of a response that never ends, also at the backend'],
  },
  {
    holds: 'Samples of the traffic (`GET /v1/traffic`)',
    limit: '360 samples of 10 seconds with 20 endpoints, 60 samples of 1 second with 200 endpoints',
    beyond: 'The oldest sample is dropped; of each sample, the endpoints with the fewest calls are omitted.',
    tests: ['the traffic of a gateway is kept for one hour'],
  },
];
