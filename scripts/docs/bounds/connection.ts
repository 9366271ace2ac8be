import type { Bound } from './bound.ts';

/** What clients can fill before a component sees their request. */
export const connectionBounds: readonly Bound[] = [
  {
    holds: 'Open connections of clients, for each worker',
    limit: 'max_connections',
    setting: 'root: max_connections',
    beyond: 'New connections are closed as they are accepted; a WARNING once a second.',
    tests: ['the connections of clients beyond max_connections are closed, which the log says, while the others serve'],
  },
  {
    holds: 'Requests over the life of a connection',
    limit: 'max_requests_per_connection',
    setting: 'root: max_requests_per_connection',
    beyond: 'The connection ends in order: `Connection: close` or GOAWAY.',
    tests: [
      'the connections of clients end with the response to the last of max_requests_per_connection',
      'the connections of clients end over HTTP/2 with GOAWAY after max_requests_per_connection, once the responses are complete',
    ],
  },
  {
    holds: 'Connections that send no complete request head',
    limit: 'read_header_timeout',
    setting: 'root: read_header_timeout',
    default: '10 seconds',
    beyond: 'The request is rejected with 408, or the connection closed.',
    tests: ['the timeouts of the port end a connection whose head does not come in time, with 408'],
  },
  {
    holds: 'Connections without a request',
    limit: 'idle_timeout',
    setting: 'root: idle_timeout',
    default: '2 minutes',
    beyond: 'The connection is closed.',
    tests: [
      'the timeouts of the port end a connection that waits too long for its next request',
      'HTTP/2 limits end a connection nobody uses after idle_timeout',
    ],
  },
  {
    holds: 'Response data that a client does not read',
    limit: 'send_timeout',
    setting: 'root: send_timeout',
    beyond: 'The response is aborted and its backend connection closed.',
    tests: [
      'a response that its client never reads is aborted after send_timeout, with its backend connection: /whole over HTTP/1.1',
    ],
  },
  {
    holds: 'Request line and headers',
    limit: 'max_header_bytes',
    setting: 'root: max_header_bytes',
    beyond: 'The request is rejected with 431.',
    tests: ['a malformed request with many headers beyond the limit is answered 431 and nothing runs'],
  },
  {
    holds: 'Header fields of a request',
    from: 'kernel/server/framing.ts',
    limit: '{HEADER_LIMIT} fields',
    beyond: 'The request is rejected with 431.',
    tests: ['a malformed request with more headers than are looked at is answered 431 and nothing runs'],
  },
  {
    holds: 'Query parameters of a request',
    from: 'kernel/server/framing.ts',
    limit: '{PARAMETER_LIMIT} parameters',
    beyond: 'The request is rejected with 414.',
    tests: ['the framing of a request may have a thousand query parameters, and no more'],
  },
  {
    holds: 'Requests that wait on an HTTP/1.1 connection (pipelining)',
    from: 'kernel/server/connection.ts',
    limit: '{PIPELINE_LIMIT} requests',
    beyond: 'The connection is closed with 503 after the responses before.',
    tests: ['a connection with pipelined requests takes 100 that wait, and no more'],
  },
  {
    holds: 'Concurrent requests on an HTTP/2 connection',
    from: 'kernel/server/http2.ts',
    limit: '{CONCURRENT_STREAMS} streams',
    beyond: 'Further streams are refused with REFUSED_STREAM.',
    tests: ['bounds that clients meet are those of HTTP/2: streams and bytes of bodies that nobody reads'],
  },
  {
    holds: 'Request body that has arrived over HTTP/2 and is not read',
    from: 'kernel/server/http2.ts',
    limit: '{STREAM_WINDOW_BYTES} for a request, {CONNECTION_WINDOW_BYTES} for a connection',
    beyond: 'The client must wait (flow control).',
    tests: ['bounds that clients meet are those of HTTP/2: streams and bytes of bodies that nobody reads'],
  },
  {
    holds: 'Request body that a component parses',
    limit: 'max_payload',
    setting: 'service: router: max_payload',
    default: '1 MiB for bodies that are parsed; none for bodies that pass through',
    beyond: 'The request is rejected with 413.',
    tests: ['a request body that a component parses is at most 1 MiB where the configuration sets no limit'],
  },
  {
    holds: 'Request body after gzip decompression',
    from: 'kernel/server/request-body.ts',
    limit: '{INFLATED_LIMIT_BYTES}, or max_payload',
    beyond: 'The request is rejected with 413.',
    tests: ['a body under the limits of an endpoint is never inflated to more than 64 MB'],
  },
  {
    holds: 'Header names whose canonical spelling is cached',
    from: 'kernel/contract/headers.ts',
    limit: '{KEPT_NAMES} names of at most {KEPT_LENGTH} characters',
    beyond: 'Further names are computed for each request.',
    tests: ['bounds that clients meet end a cache of header names at a thousand'],
  },
];
