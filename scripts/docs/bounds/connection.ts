import type { Bound } from './bound.ts';

/** Limits on what clients can make the gateway store before a component handles the request. */
export const connectionBounds: readonly Bound[] = [
  {
    holds: 'Open connections of clients, for each worker',
    limit: 'max_connections',
    setting: 'root: max_connections',
    beyond: 'New connections are closed as soon as they are accepted; one WARNING per second.',
    tests: ['client connections beyond max_connections are closed with a log line, while the others are served'],
  },
  {
    holds: 'Requests over the life of a connection',
    limit: 'max_requests_per_connection',
    setting: 'root: max_requests_per_connection',
    beyond: 'The connection is closed gracefully: `Connection: close` or GOAWAY.',
    tests: [
      'client connections end with the response to the last request that max_requests_per_connection allows',
      'client connections end over HTTP/2 with GOAWAY after max_requests_per_connection, when pending responses are complete',
    ],
  },
  {
    holds: 'Time until the request line and headers are complete',
    limit: 'read_header_timeout',
    setting: 'root: read_header_timeout',
    default: '10 seconds',
    beyond: 'The request is rejected with 408, or the connection closed.',
    tests: ['the timeouts of the port close a connection whose request head does not arrive in time, with 408'],
  },
  {
    holds: 'Connections whose PROXY protocol header is incomplete',
    limit: 'proxy_protocol.header_timeout',
    setting: 'root: proxy_protocol.header_timeout',
    default: '5 seconds',
    beyond: 'The connection is closed; a WARNING at most once a second for each proxy.',
    tests: [
      'the PROXY protocol on the public port closes connections whose header does not arrive within header_timeout',
    ],
  },
  {
    holds: 'PROXY protocol header with its extensions',
    from: 'kernel/server/port/proxy-header.ts',
    limit: '{LONGEST_HEADER} bytes',
    beyond: 'The connection is closed; a WARNING at most once a second for each proxy.',
    tests: ['a PROXY protocol header is rejected if it announces more than 4096 bytes, before they arrive'],
  },
  {
    holds: 'Time that a connection waits for a request',
    limit: 'idle_timeout',
    setting: 'root: idle_timeout',
    default: '2 minutes',
    beyond: 'The connection is closed.',
    tests: [
      'the timeouts of the port close a connection that waits too long for its next request',
      'HTTP/2 limits close an idle connection after idle_timeout',
    ],
  },
  {
    holds: 'Time without progress of a response that the client does not read',
    limit: 'send_timeout',
    setting: 'root: send_timeout',
    beyond: 'The response is aborted and its backend connection closed.',
    tests: [
      'a response that its client never reads is aborted after send_timeout, and so is its backend request: /whole over HTTP/1.1',
    ],
  },
  {
    holds: 'Request line and headers',
    limit: 'max_header_bytes',
    setting: 'root: max_header_bytes',
    beyond: 'The request is rejected with 431.',
    tests: ['a malformed request with many headers beyond the limit is answered with 431 and is not executed'],
  },
  {
    holds: 'Header fields of a request',
    from: 'kernel/server/http1/framing.ts',
    limit: '{HEADER_LIMIT} fields',
    beyond: 'The request is rejected with 431.',
    tests: ['a malformed request with more headers than the limit of 2,000 is answered with 431 and is not executed'],
  },
  {
    holds: 'Query parameters of a request',
    from: 'kernel/contract/query.ts',
    limit: '{PARAMETER_LIMIT} parameters',
    beyond: 'The request is rejected with 414, which is logged at most once a second.',
    tests: ['the framing of an HTTP request can have a thousand query parameters at most'],
  },
  {
    holds: 'Fields of a form that a component parses',
    from: 'kernel/contract/query.ts',
    limit: '{PARAMETER_LIMIT} fields',
    beyond: 'The request is rejected with 413.',
    tests: ['modifier/request-body-generator rejects forms of more than 1,000 fields with 413 without a call'],
  },
  {
    holds: 'Requests waiting on an HTTP/1.1 connection (pipelining)',
    from: 'kernel/server/http1/connection.ts',
    limit: '{PIPELINE_LIMIT} requests',
    beyond: 'The connection is closed with 503 after the pending responses.',
    tests: ['an HTTP/1.1 connection with pipelined requests accepts at most 100 waiting requests'],
  },
  {
    holds: 'Concurrent requests on an HTTP/2 connection',
    from: 'kernel/server/http2/server.ts',
    limit: '{CONCURRENT_STREAMS} streams',
    beyond: 'Further streams are refused with REFUSED_STREAM.',
    tests: ['bounds of data that clients fill apply over HTTP/2 to streams and to bytes of unread bodies'],
  },
  {
    holds: 'Request body that was received over HTTP/2 but not yet read',
    from: 'kernel/server/http2/server.ts',
    limit: '{STREAM_WINDOW_BYTES:bytes} for a request',
    beyond: 'The client must wait (flow control).',
    tests: [
      'an HTTP/2 connection whose requests are not read receives one flow-control window of each body, and no more',
    ],
  },
  {
    holds: 'Request bodies that were received on an HTTP/2 connection but not yet read',
    from: 'kernel/server/http2/unread-bodies.ts',
    limit: '{UNREAD_BYTES:bytes}, and {CONNECTION_WINDOW_BYTES:bytes} that may be in flight',
    beyond: 'The client must wait until half of them has been read. Requests without a body are not affected.',
    tests: [
      'an HTTP/2 connection whose requests are not read receives 5 MiB at most, and all bodies once they are read',
    ],
  },
  {
    holds: 'Request body parsed by a component',
    limit: 'max_payload',
    setting: 'service: router: max_payload',
    default: '1 MiB for bodies that are parsed; no limit for bodies that are passed through',
    beyond: 'The request is rejected with 413.',
    tests: ['a request body that a component parses can be at most 1 MiB if no limit is configured'],
  },
  {
    holds: 'Request body after gzip decompression',
    from: 'kernel/server/request/body.ts',
    limit: '{INFLATED_LIMIT_BYTES}, or max_payload',
    beyond: 'The request is rejected with 413.',
    tests: ['a request body under the limits of an endpoint is never decompressed to more than 64 MB'],
  },
  {
    holds: 'Header names whose canonical spelling is cached',
    from: 'kernel/contract/headers.ts',
    limit: '{KEPT_NAMES} names of at most {KEPT_LENGTH} characters',
    beyond: 'Further names are converted for each request.',
    tests: ['bounds of data that clients fill limit the cache of header names to a thousand'],
  },
];
