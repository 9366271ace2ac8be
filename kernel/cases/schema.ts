import type { Infer, Schema } from '#contract';

export const text = { type: 'string' } as const satisfies Schema;

/** A header value cannot contain line breaks. */
const headerValue = { type: 'string', pattern: '^[^\\r\\n\\0]*$' } as const satisfies Schema;

export const headers = {
  type: 'object',
  values: headerValue,
  description: 'Headers, by name.',
  examples: [{ Accept: 'application/json' }],
} as const satisfies Schema;

const responseSchema = {
  type: 'object',
  description: 'Response of the server.',
  properties: {
    status: { type: 'integer', minimum: 200, maximum: 599, default: 200, description: 'Status code.' },
    headers: { ...headers, default: {} },
    body: {
      type: 'any',
      description: 'Body. A string is sent unchanged, any other value as JSON. Default: no body.',
      examples: [{ id: 1 }],
    },
    delay: {
      type: 'duration',
      default: '0s',
      description: 'Time until the response or the failure, in real time.',
      examples: ['20ms'],
    },
    failure: {
      type: 'string',
      enum: ['refused', 'reset', 'timeout', 'dns', 'tls', 'hang'],
      description:
        'Failure of the connection in place of a response. `hang` never responds, until the gateway gives up. Default: the server responds.',
    },
  },
  examples: [{ status: 200, body: { id: 1 } }, { failure: 'refused' }],
} as const satisfies Schema;

const mockSchema = {
  type: 'object',
  description: 'Mocked server: the requests that it answers, and its responses.',
  properties: {
    url: {
      type: 'string',
      minLength: 1,
      description:
        'URL of the requests, or a path for any host. `*` matches within a path segment, `**` anything. Queries are ignored unless the URL has one.',
      examples: ['http://users:8000/users/*'],
    },
    method: { type: 'string', minLength: 1, description: 'Method of the requests. Default: any.', examples: ['GET'] },
    protocol: {
      type: 'string',
      minLength: 1,
      description:
        'Protocol of the requests: `http`, or the namespace of the component that sends them, for example that of gRPC backends. Default: any.',
    },
    response: responseSchema,
    responses: {
      type: 'array',
      items: responseSchema,
      minItems: 1,
      maxItems: 1000,
      description: 'Responses in order. The last one is repeated.',
    },
  },
  required: ['url'],
  exactlyOneOf: [['response', 'responses']],
} as const satisfies Schema;

export const mocks = {
  type: 'object',
  values: mockSchema,
  default: {},
  description: 'Mocked servers by name. The first whose `url`, `method` and `protocol` match answers a request.',
  examples: [{ users: { url: 'http://users:8000/users/*', response: { body: { id: 1 } } } }],
} as const satisfies Schema;

const expectedHeader = {
  anyOf: [
    text,
    { type: 'array', items: text, minItems: 1, description: 'All values of the header, in order.' },
    {
      type: 'object',
      properties: {
        matches: { type: 'string', description: 'Regular expression in RE2 syntax that the value matches.' },
        absent: {
          type: 'boolean',
          description: 'Absence of the header: true requires it, false requires the header with any value.',
        },
      },
      exactlyOneOf: [['matches', 'absent']],
    },
  ],
} as const satisfies Schema;

const expectedHeaders = {
  type: 'object',
  values: expectedHeader,
  default: {},
  description:
    'Expected headers by name: the exact value, a list of all values, `{"matches": "EXPRESSION"}` or `{"absent": true}`. Other headers are not checked.',
  examples: [{ 'Content-Type': 'application/json; charset=utf-8', 'X-Internal': { absent: true } }],
} as const satisfies Schema;

const expectedRequest = {
  type: 'object',
  description: 'Expectations of one request to a mocked server.',
  properties: {
    method: { type: 'string', description: 'Method. Default: not checked.' },
    path: { type: 'string', description: 'Path, without the query. Default: not checked.' },
    query: {
      type: 'object',
      values: { anyOf: [text, { type: 'array', items: text }] },
      description: 'Query parameters: all of them, with their values. Default: not checked.',
    },
    headers: expectedHeaders,
    body: {
      type: 'any',
      description: 'Exact request body, with the same rules as `body` in `expect`. Default: not checked.',
    },
    body_contains: {
      type: 'any',
      description:
        'Part of the request body, with the same rules as `body_contains` in `expect`. Default: not checked.',
    },
    body_matches: {
      type: 'string',
      description:
        'Regular expression that the request body must match, with the same rules as `body_matches` in `expect`. Default: not checked.',
    },
  },
} as const satisfies Schema;

const expectedCalls = {
  type: 'object',
  description: 'Expected calls to a mocked server.',
  properties: {
    calls: { type: 'integer', minimum: 0, description: 'Number of calls. Default: the number of `requests`.' },
    requests: {
      type: 'array',
      items: expectedRequest,
      description: 'Expectations of the first requests, in order. Default: not checked.',
    },
  },
  examples: [{ calls: 1, requests: [{ method: 'GET', path: '/users/1' }] }],
} as const satisfies Schema;

export const expectSchema = {
  type: 'object',
  default: {},
  description: 'Expectations of the response. Fields that are not set are not checked.',
  properties: {
    status: { type: 'integer', minimum: 100, maximum: 599, description: 'Status code. Default: not checked.' },
    headers: expectedHeaders,
    body: {
      type: 'any',
      description:
        'Exact body. A string is compared with the text of the body, any other value with its JSON, in which the order of keys is irrelevant. Default: not checked.',
    },
    body_contains: {
      type: 'any',
      description: 'Part of a JSON body: objects may have more keys, lists have the same length. Default: not checked.',
    },
    body_matches: {
      type: 'string',
      description: 'Regular expression in RE2 syntax that the text of the body matches. Default: not checked.',
    },
    body_schema: {
      type: 'object',
      description: 'JSON Schema, draft 07, that the body is valid for. Default: not checked.',
      examples: [{ type: 'object', required: ['id'] }],
    },
    jmespath: {
      type: 'object',
      default: {},
      description: 'Expected results of JMESPath expressions on the body, by expression.',
      examples: [{ 'length(users)': 2 }],
    },
    backends: {
      type: 'object',
      values: expectedCalls,
      default: {},
      description: 'Expected calls to mocked servers, by the name of the mock.',
      examples: [{ users: { calls: 1 } }],
    },
    within: { type: 'duration', description: 'Maximum time of the response. Default: not checked.' },
  },
} as const satisfies Schema;

const requestSchema = {
  type: 'object',
  description: 'Request of the client.',
  properties: {
    method: { type: 'string', default: 'GET', minLength: 1, description: 'Method.' },
    path: {
      type: 'string',
      pattern: '^/',
      description: 'Path and query, encoded as on the wire.',
      examples: ['/users/1?full=1'],
    },
    headers: { ...headers, default: {} },
    body: {
      type: 'any',
      description:
        'Body. A string is sent unchanged, any other value as JSON with its `Content-Type`. Default: no body.',
    },
  },
  required: ['path'],
} as const satisfies Schema;

const testSchema = {
  type: 'object',
  description: 'One test: a request and its expectations.',
  properties: {
    name: { type: 'string', minLength: 1, description: 'Name of the test, in words.' },
    request: requestSchema,
    backends: {
      ...mocks,
      description:
        'Mocked servers of this test, by name. They are consulted before the mocks of the file, and replace mocks with equal names.',
    },
    expect: expectSchema,
    advance: {
      type: 'duration',
      default: '0s',
      description:
        "Time by which the gateway's clock is moved forward before the request, for limits and circuit breakers. Clocks of tokens are not affected.",
    },
    timeout: {
      type: 'duration',
      default: '10s',
      description: 'Maximum time of the test. A test that takes longer fails.',
    },
  },
  required: ['name', 'request'],
} as const satisfies Schema;

/** A file of tests. The tests of a file run in order, on a gateway of their own. */
export const fileSchema = {
  type: 'object',
  title: 'Tests of a configuration',
  description:
    'Tests that `sluice test` runs against a configuration, with mocked servers. They run in order on one gateway.',
  properties: {
    backends: mocks,
    recordings: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      maxItems: 100,
      default: [],
      description:
        'HAR files, relative to this one, whose responses answer requests with equal method and URL that no other mock matches.',
      examples: [['traffic.har']],
    },
    tests: { type: 'array', items: testSchema, minItems: 1, maxItems: 10_000, description: 'The tests of the file.' },
  },
  required: ['tests'],
} as const satisfies Schema;

export type FileData = Infer<typeof fileSchema>;
export type TestData = FileData['tests'][number];
export type ExpectData = Infer<typeof expectSchema>;
export type ExpectedHeaders = ExpectData['headers'];
export type ExpectedCalls = Infer<typeof expectedCalls>;
export type MockData = Infer<typeof mockSchema>;
export type ResponseData = Infer<typeof responseSchema>;
