import { deepEqual, equal } from 'node:assert/strict';
import { HeaderBag, makeRequest, PipeRequest, Query, RequestBody } from '#contract';
import {
  compileBackendFilter,
  compileRequest,
  connectionNames,
  dropConnectionHeaders,
  isLookAlike,
} from '../../../kernel/pipeline/request/request.ts';

/** Headers that components set. */
const set = new Set(['x-user']);

interface Sent {
  readonly headers?: string[];
  readonly search?: string;
  readonly body?: RequestBody;
}

/** The parts of a request that an endpoint's lists forward. */
function forwarded(lists: { headers?: string[]; queries?: string[] }, { headers = [], search = '', body }: Sent) {
  const endpoint = { input_headers: lists.headers ?? [], input_query_strings: lists.queries ?? [] };
  const client = makeRequest({
    headers: new HeaderBag(headers),
    search,
    ip: '9.9.9.9',
    host: 'api.test',
    body: body ?? null,
  });
  const { headers: bag, query } = compileRequest(
    endpoint as never,
    { agent: 'Agent', requestId: '', addCertificate: null },
    set,
  )(client);
  return { headers: [...bag].map((pair) => pair.join(': ')), query: String(query) };
}

const own = ['X-Forwarded-For: 9.9.9.9', 'X-Forwarded-Host: api.test'];
const plain = ['User-Agent: Agent', ...own];

describe('the headers that an endpoint forwards', () => {
  it('are only those of the gateway by default', () => {
    deepEqual(forwarded({}, { headers: ['X-A', '1', 'User-Agent', 'me'] }).headers, plain);
  });

  it('include the listed ones, in any letter case', () => {
    deepEqual(forwarded({ headers: ['x-a'] }, { headers: ['X-B', '2', 'X-A', '1'] }).headers, ['X-A: 1', ...plain]);
  });

  it("include the client's User-Agent if it is listed, with the gateway's name in X-Forwarded-Via", () => {
    const headers = ['X-A', '1', 'user-agent', 'me'];
    const via = ['X-Forwarded-Via: Agent', ...own];
    deepEqual(forwarded({ headers: ['User-Agent'] }, { headers }).headers, ['User-Agent: me', ...via]);
    deepEqual(forwarded({ headers: ['*'] }, { headers }).headers, ['X-A: 1', 'User-Agent: me', ...via]);
    for (const list of [['User-Agent', 'X-A'], ['*']]) {
      deepEqual(forwarded({ headers: list }, { headers: ['X-A', '1'] }).headers, ['X-A: 1', ...plain]);
    }
    deepEqual(forwarded({ headers: ['User-Agent'] }, { headers: ['X-A', '1'] }).headers, plain);
  });

  it('never include connection headers or headers that the gateway sets, even if input_headers lists them or is *', () => {
    const headers = ['Host', 'x', 'X-Forwarded-For', '1.1.1.1', 'TE', 'trailers', 'Content-Length', '1'];
    for (const list of [['Host', 'X-Forwarded-For', 'TE', 'Content-Length'], ['X-Forwarded-For', 'X-B'], ['*']]) {
      deepEqual(forwarded({ headers: list }, { headers }).headers, plain);
    }
  });

  it('never include headers that the client lists in Connection', () => {
    const headers = ['Connection', 'x-a , X-B', 'X-A', '1', 'X-B', '2', 'X-C', '3'];
    deepEqual([...dropConnectionHeaders(headers)!], ['x-a', 'x-b']);
    deepEqual(headers, ['Connection', 'x-a , X-B', 'X-C', '3']);
    deepEqual(forwarded({ headers: ['X-A', 'X-B', 'X-C'] }, { headers }).headers, ['X-C: 3', ...plain]);
    deepEqual(forwarded({ headers: ['*'] }, { headers }).headers, ['X-C: 3', ...plain]);
  });

  it('include headers that a component sets, even if the client lists them in Connection', () => {
    const headers = ['Connection', 'X-User', 'X-User', 'set'];
    deepEqual(forwarded({ headers: ['X-User'] }, { headers }).headers, ['X-User: set', ...plain]);
    deepEqual(forwarded({ headers: ['*'] }, { headers }).headers, ['X-User: set', ...plain]);
  });

  it('include headers of the body, even if the client lists them in Connection', () => {
    const framing = [
      'Host',
      'a',
      'Content-Length',
      '2',
      'Content-Type',
      'text/x',
      'X-Forwarded-For',
      '1.1.1.1',
      'TE',
      'x',
    ];
    const headers = ['Connection', framing.filter((_, at) => at % 2 === 0).join(), ...framing];
    deepEqual([...dropConnectionHeaders(headers)!], []);
    deepEqual(headers.slice(2), framing);
  });

  it('exclude names that some backends treat like a header of the gateway, even if input_headers is *', () => {
    const headers = [
      'X_Forwarded.For',
      '1',
      'Transfer_Encoding',
      'x',
      'Content.Type',
      'x',
      'X_A.b',
      '2',
      'X_User',
      '3',
    ];
    deepEqual(forwarded({ headers: ['*'] }, { headers }).headers, ['X_a.b: 2', ...plain]);
    const names = ['x_user', 'x.user', 'x-user', 'cookie', 'c_ookie', 'user_agent', 'proxy.connection', 'x_a'];
    deepEqual(
      names.filter((name) => isLookAlike(name, set)),
      ['x_user', 'x.user', 'user_agent', 'proxy.connection'],
    );
  });

  it('include Content-Type and Content-Encoding with a body only', () => {
    const headers = ['Content-Type', 'text/x', 'Content-Encoding', 'gzip'];
    const described = ['Content-Type: text/x', 'Content-Encoding: gzip'];
    for (const list of [[], ['Content-Type'], ['*']]) {
      deepEqual(forwarded({ headers: list }, { headers, body: RequestBody.of('x') }).headers, [...plain, ...described]);
      deepEqual(forwarded({ headers: list }, { headers }).headers, plain);
    }
  });
});

describe('the headers that a client lists in Connection', () => {
  for (const [headers, names] of [
    [[], null],
    [['Upgradeable', 'x'], null],
    [['Keep-Alive', 'x'], null],
    [['Connection', 'keep-alive', 'X-A', 'connection'], null],
    [['connection', 'Close'], null],
    [
      ['CONNECTION', 'close, X-A', 'Connection', ' x-b '],
      ['close', 'x-a', 'x-b'],
    ],
  ] as const) {
    it(`are ${names?.join(', ') ?? 'none'} of ${JSON.stringify(headers)}`, () => {
      const results = connectionNames(headers);
      deepEqual(results && [...results], names);
    });
  }
});

describe('the query parameters that an endpoint forwards', () => {
  it('include nothing by default, otherwise the listed names, or all names with *', () => {
    const search = 'b=1&a=2&b=3';
    deepEqual(
      [[], ['b'], ['b', 'c'], ['*'], ['a', '*']].map((queries) => forwarded({ queries }, { search }).query),
      ['', 'b=1&b=3', 'b=1&b=3', 'a=2&b=1&b=3', 'a=2&b=1&b=3'],
    );
    deepEqual(
      [[], ['b'], ['*']].map((queries) => forwarded({ queries }, {}).query),
      ['', '', ''],
    );
  });

  it('can be changed without affecting the client request', () => {
    const client = makeRequest({ search: 'a=1' });
    const { query } = compileRequest(
      { input_headers: [], input_query_strings: ['*'] } as never,
      { agent: 'Agent', requestId: '', addCertificate: null },
      set,
    )(client);
    query.set('a', '2');
    equal(client.query.get('a'), '1');
  });
});

describe("a backend's own lists of headers and parameters", () => {
  const request = (body: RequestBody | null = null) => {
    const headers = new HeaderBag(['X-A', '1', 'X-B', '2', 'Content-Type', 'text/x']);
    return new PipeRequest(makeRequest({}), {}, Query.parse('a=1&b=2'), headers, body);
  };

  it('filter nothing if they are empty', () => {
    deepEqual(compileBackendFilter([], []), { headers: null, query: null });
  });

  it('keep the listed names, and the headers of a body', () => {
    const { headers, query } = compileBackendFilter(['x-A'], ['b']);
    const [without, withBody] = [request(), request(RequestBody.of('x'))];
    headers!(without);
    headers!(withBody);
    deepEqual(
      [...without.headers].map(([name]) => name),
      ['X-A'],
    );
    deepEqual(
      [...withBody.headers].map(([name]) => name),
      ['X-A', 'Content-Type'],
    );
    query!(without);
    equal(String(without.query), 'b=2');
  });

  it('drop everything if they list the empty name', () => {
    const { headers, query } = compileBackendFilter([''], ['']);
    const all = request();
    headers!(all);
    query!(all);
    deepEqual([[...all.headers], String(all.query)], [[], '']);
  });
});
