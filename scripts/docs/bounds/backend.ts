import type { Bound } from './bound.ts';

/** Resources that backends, and the servers that components call, can fill. */
export const backendBounds: readonly Bound[] = [
  {
    holds: 'Response head over HTTP/1.1',
    from: 'plugins/backend/http/client/http1/round-trip.ts',
    limit: '{MAX_HEAD_BYTES}, {MAX_INTERIM} interim responses',
    beyond: 'The call fails; the connection is closed.',
    tests: [
      'an HTTP/1.1 response is rejected if its head, interim responses, chunk extensions or trailers exceed their limits',
    ],
  },
  {
    holds: 'Chunk extensions and trailers over HTTP/1.1',
    from: 'plugins/backend/http/client/http1/chunks.ts',
    limit: '{MAX_EXTENSION_BYTES} of extensions, {MAX_TRAILER_BYTES} of trailers',
    beyond: 'The call fails; the connection is closed.',
    tests: [
      'an HTTP/1.1 response is rejected if its head, interim responses, chunk extensions or trailers exceed their limits',
    ],
  },
  {
    holds: 'Response head over HTTP/2',
    from: 'plugins/clients/http2/connection.ts',
    limit: '{MAX_HEADER_BYTES}, {MAX_HEADER_PAIRS} fields',
    beyond: 'The call fails; further calls use another connection.',
    tests: [
      'HTTP/2 failures of backend/http/client: headers larger than 128 KiB fail the call, and later calls use another connection',
    ],
  },
  {
    holds: 'Response body that was received but not yet read',
    from: 'kernel/contract/bytes.ts',
    limit: '{HIGH_WATER_BYTES} for a response',
    beyond: 'The gateway stops reading from the backend connection.',
    tests: [
      'the memory of the gateway stays constant while 256 MiB are streamed to a client that keeps pausing: no-op',
    ],
  },
  {
    holds: 'Response body that is decoded, after decompression',
    from: 'kernel/pipeline/backend/decode.ts',
    limit: '{BODY_LIMIT_BYTES}',
    beyond: 'The call fails.',
    tests: ['decoding a backend response fails for a body whose decompressed size exceeds the limit'],
  },
  {
    holds: 'Connection attempts without an answer',
    from: 'plugins/backend/http/client/settings.ts',
    limit: '{DEFAULT_DIAL_MS}, or dialer_timeout',
    setting: 'root: dialer_timeout',
    default: '20 seconds',
    beyond: 'The connection is given up and its request fails.',
    tests: [
      'a pending backend connection times out after 20 seconds if dialer_timeout is 0, even if its request was canceled earlier',
    ],
  },
  {
    holds: 'Idle connections to a host',
    limit: 'max_idle_connections_per_host',
    setting: 'root: max_idle_connections_per_host',
    beyond: 'A connection beyond it is closed after its response.',
    tests: ['the connections of backend/http/client are closed when idle beyond max_idle_connections_per_host'],
  },
  {
    holds:
      'Addresses from requests or redirects, and clients announced by proxy_protocol, whose connections are kept open',
    from: 'plugins/backend/http/client/transport.ts',
    limit: '{MAX_PASSING}',
    beyond: 'The connections of an unused address are closed.',
    tests: [
      'backend/http/client with dynamic hosts keeps at most 256 connections to redirect targets',
      'backend connections with the PROXY protocol are limited in number: the clients that were idle longest lose their connections',
    ],
  },
  {
    holds: 'HTTP/2 connections to an address',
    from: 'plugins/backend/http/client/http2-pool.ts',
    limit: '{MAX_CONNECTIONS} connections',
    beyond: 'Further calls share these connections or wait.',
    tests: ['HTTP/2 to backends opens more connections if a server allows few streams, and queues further requests'],
  },
  {
    holds: 'gRPC message of a server (`backend/grpc`)',
    from: 'plugins/backend/grpc/index.ts',
    limit: '{DEFAULT_MESSAGE_BYTES}, or max_call_recv_msg_size',
    setting: 'backend: backend/grpc: max_call_recv_msg_size',
    default: '4 MiB',
    beyond: 'The call fails with RESOURCE_EXHAUSTED.',
    tests: ['backend/grpc with misbehaving servers enforces the configured maximum message size'],
  },
  {
    holds: 'gRPC addresses whose connections are kept open (`backend/grpc`)',
    from: 'plugins/clients/grpc/channels.ts',
    limit: '{MAX_ADDRESSES} addresses',
    beyond: 'The connections of the oldest address without a call are closed.',
    tests: ['bounds of data that backends fill close the connections of the oldest unused gRPC address beyond 256'],
  },
  {
    holds: 'Line of `encoding/ndjson`, event of `encoding/sse`',
    from: 'plugins/encoding/lib/framing.ts',
    limit: '{MAX_MESSAGE_BYTES}',
    beyond: 'The stream ends with an error.',
    tests: [
      'encoding/ndjson aborts at a line over 1 MiB and reports its position',
      'encoding/sse aborts at a message over 1 MiB and reports its position',
    ],
  },
  {
    holds: 'Frame of `encoding/eventstream`',
    from: 'plugins/encoding/lib/event-frames.ts',
    limit: '{MAX_FRAME_BYTES}',
    beyond: 'The stream ends with an error.',
    tests: ['encoding/eventstream aborts at the length of a frame over 10 MiB'],
  },
  {
    holds: 'Response of a model (`ai/llm`)',
    from: 'plugins/ai/llm/completed.ts',
    limit: '{MAX_ANSWER_BYTES}',
    beyond: 'The call fails.',
    tests: ['ai/llm rejects a vendor response larger than 64 MiB'],
  },
  {
    holds: 'Responses of all semantic caches (`ai/semantic-cache`)',
    from: 'plugins/ai/semantic-cache/index-of-responses.ts',
    limit: '{MAX_BYTES}, {MAX_COMPARED} for requests that are compared with each other',
    beyond: 'The least recently used are dropped.',
    tests: [
      'the index of responses stores at most 64 MiB, and drops the least recently used responses',
      'the index of responses stores at most 2,000 responses of a variant, and drops the least recently used',
    ],
  },
  {
    holds: 'Vectors of semantic caches in Redis (`ai/semantic-cache`)',
    from: 'plugins/ai/semantic-cache/vector-lists.ts',
    limit: '{MAX_BYTES}, {MAX_LISTED} for requests that are compared with each other',
    beyond: 'The least recently used are dropped.',
    tests: [
      'copies of vectors from Redis take at most 64 MiB, and drop the least recently used variants',
      'copies of vectors from Redis have at most 2,000 vectors of a variant',
    ],
  },
  {
    holds: 'Response that a semantic cache stores (`ai/semantic-cache`)',
    from: 'plugins/ai/semantic-cache/stored.ts',
    limit: '{MAX_RESPONSE_BYTES}',
    beyond: 'The response is not stored.',
    tests: ['ai/semantic-cache does not store responses larger than 1 MiB'],
  },
  {
    holds: 'Error response of a model (`ai/llm`)',
    from: 'plugins/ai/llm/failure.ts',
    limit: '{MAX_BODY_BYTES}',
    beyond: 'The call fails without the details.',
    tests: ["ai/llm returns 500 if a vendor's error body exceeds 1 MiB or never ends"],
  },
  {
    holds: 'WebSocket message of a backend (`websocket`)',
    limit: 'max_message_size',
    setting: 'endpoint: websocket: max_message_size',
    beyond: 'The client is closed with 1009.',
    tests: [
      'websocket with a backend connection for each client closes a client with 1009 if its backend sends an oversized message',
    ],
  },
  {
    holds: 'Keys of a key set (`auth/validator`)',
    from: 'plugins/clients/keys/key-set.ts',
    limit: '{MAX_KEYS} keys',
    beyond: 'Only the last keys are used.',
    tests: ['a JSON Web Key Set keeps the last 10,000 keys'],
  },
  {
    holds: 'Response of an OpenID Connect provider (`auth/oidc`)',
    from: 'plugins/auth/oidc/fetch.ts',
    limit: '{MAX_BYTES:bytes}',
    beyond: 'The login or refresh fails, and the request is rejected.',
    tests: ['logins with auth/oidc are rejected with 503 while the provider is unreachable, and work again afterwards'],
  },
  {
    holds: 'Response of an authorization server (`auth/introspection`)',
    from: 'plugins/auth/introspection/server.ts',
    limit: '{MAX_BYTES:bytes}',
    beyond: 'The request is rejected with on_failure_status.',
    tests: [
      'auth/introspection a server that does not decide rejects requests when it responds with too much, and rejects them with on_failure_allow',
    ],
  },
  {
    holds: 'Body of a rejecting response (`auth/external`)',
    from: 'plugins/auth/external/http.ts',
    limit: '{MAX_BYTES:bytes}',
    beyond: 'The request is rejected with on_failure_status.',
    tests: [
      'a gateway with forward authentication rejects requests while the server rejects with a long body, and rejects them with on_failure_allow',
    ],
  },
  {
    holds: 'Clocks of AWS hosts (`auth/aws-sigv4`)',
    from: 'plugins/auth/aws-sigv4/clocks.ts',
    limit: '{MAX_HOSTS} hosts',
    beyond: 'The oldest is dropped.',
    tests: ['bounds of data that backends fill drop the oldest of more than a thousand host clocks'],
  },
  {
    holds: '`Vary` headers joined by `security/cors`',
    from: 'plugins/security/cors/dress.ts',
    limit: '{MAX_UNIONS} headers of up to 256 characters',
    beyond: 'Further header values are computed for each response.',
    tests: ['bounds of data that backends fill drop the oldest of more than 256 cached Vary headers'],
  },
  {
    holds: 'Spans and logs for a collector (`telemetry/opentelemetry`)',
    from: 'plugins/telemetry/lib/otlp/batch-queue.ts',
    limit: '{MAX_WAITING} entries',
    beyond: 'New items are dropped and counted; one log line per minute.',
    tests: ['an OTLP export queue holds at most 2048 items, and logs lost items once a minute'],
  },
  {
    holds: 'Batches for InfluxDB (`telemetry/influx`)',
    from: 'plugins/telemetry/influx/delivery.ts',
    limit: '{MAX_WAITING:bytes}',
    beyond: 'The oldest batches are dropped.',
    tests: ['the delivery of InfluxDB batches buffers at most 16 MiB, regardless of the configured number of batches'],
  },
  {
    holds: 'Events for Moesif (`telemetry/moesif`)',
    from: 'plugins/telemetry/moesif/delivery.ts',
    limit: '{MAX_BYTES}',
    beyond: 'New items are dropped and counted; one log line per minute.',
    tests: ['the delivery of Moesif events queues at most 64 MiB, regardless of the number of events'],
  },
];
