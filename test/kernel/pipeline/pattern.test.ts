import { deepEqual, equal } from 'node:assert/strict';
import { Call, claimsSlot, type DataObject, HeaderBag, makeRequest, PipeRequest, Query, Reply } from '#contract';
import { compileDemands, compilePattern, compileText, encodeHost } from '../../../kernel/pipeline/request/pattern.ts';

/** Values of the request that placeholders can name. */
interface Brought {
  readonly params?: Record<string, string>;
  readonly headers?: string[];
  /** The client's query. */
  readonly search?: string;
  /** The query that is forwarded. */
  readonly forwarded?: string;
  readonly claims?: DataObject;
  /** Data of earlier backends. */
  readonly earlier?: (DataObject | null)[];
}

function bring({ params = {}, headers = [], search = '', forwarded = '', claims, earlier = [] }: Brought) {
  const client = makeRequest({ params, headers: new HeaderBag(headers), search });
  const request = new PipeRequest(client, params, Query.parse(forwarded), new HeaderBag(), null);
  request.earlier = earlier.map((data) => Reply.data(data));
  const lines: string[] = [];
  const report = (line: string | (() => string)) => void lines.push(typeof line === 'string' ? line : line());
  const log = { debug: report, info: report, warning: report, error: report, critical: report, at: () => log };
  const call = new Call(log);
  if (claims) call.set(claimsSlot, claims);
  return { request, call, lines };
}

function target(pattern: string, brought: Brought = {}, wildcard = false): string | undefined {
  const { request, call } = bring(brought);
  return compilePattern(pattern, wildcard)(request, call);
}

describe('the path and query of a backend request', () => {
  const cases: [what: string, pattern: string, brought: Brought, made: string | undefined][] = [
    ['are those of a pattern without placeholders', '/a/b?c=d', {}, '/a/b?c=d'],
    ['begin with a slash, which need not be written', 'a', {}, '/a'],
    ['have no query where nothing follows the question mark', '/a?', {}, '/a'],
    ['hold a path variable', '/u/{id}/x', { params: { Id: '7' } }, '/u/7/x'],
    ['hold a path variable, encoded', '/u/{id}', { params: { Id: 'a/b c?' } }, '/u/a%2Fb%20c%3F'],
    ['are not made without the path variable', '/u/{id}', {}, undefined],
    ['are not made with a path variable that is a dot segment', '/u/{id}', { params: { Id: '..' } }, undefined],
    ['are not made with a dot segment that has parameters', '/u/{id}', { params: { Id: '.;x' } }, undefined],
    ['are not made with a dot segment behind an escaped slash', '/u/{id}', { params: { Id: 'a/../b' } }, undefined],
    ['are not made with a dot segment before a backslash', '/u/{id}', { params: { Id: '..\\a' } }, undefined],
    ['are not made with a dot segment behind a backslash', '/u/{id}', { params: { Id: 'a\\..' } }, undefined],
    ['hold values with slashes and dots otherwise', '/u/{id}', { params: { Id: 'a/.b' } }, '/u/a%2F.b'],
    ['hold values that begin with dots otherwise', '/u/{id}', { params: { Id: '...' } }, '/u/...'],
    ['hold values with dots inside', '/u/{id}', { params: { Id: 'a..' } }, '/u/a..'],
    ['are not made with a dot segment of text and value', '/u/.{id}', { params: { Id: '.' } }, undefined],
    ['are not made with a dot segment of value and text', '/u/{id}.', { params: { Id: '.' } }, undefined],
    ['hold text and value that are no dot segment', '/u/.{id}', { params: { Id: 'a' } }, '/u/.a'],
    ['keep a dot segment that the pattern itself has', '/u/../a{id}', { params: { Id: '7' } }, '/u/../a7'],
    [
      'keep a dot segment with parameters that the pattern itself has',
      '/..;/a{id}',
      { params: { Id: '7' } },
      '/..;/a7',
    ],
    ['hold a client header', '/{input_headers.X-A}', { headers: ['X-A', 'v w'] }, '/v%20w'],
    ['hold the second of its values', '/{input_headers.x-a.1}', { headers: ['X-A', 'v', 'X-A', 'w'] }, '/w'],
    ['are not made without a second value', '/{input_headers.x-a.1}', { headers: ['X-A', 'v'] }, undefined],
    ["hold a parameter of the client's query", '/{input_query_strings.q}', { search: 'q=1&q=2' }, '/1'],
    ['hold the second value of a parameter', '/{input_query_strings.q.1}', { search: 'q=1&q=2' }, '/2'],
    ['take the names of parameters as they are written', '/{input_query_strings.Q}', { search: 'q=1' }, undefined],
    ['hold values in the query, encoded', '/a?b={id}', { params: { Id: 'x&y z' } }, '/a?b=x%26y+z'],
    ['may hold an empty value in the query', '/a?b={id}', {}, '/a?b='],
    ['are not made without a client value of the query', '/a?b={input_query_strings.q}', {}, undefined],
    ['forward parameters instead of the own query', '/a?b={input_headers.x}', { forwarded: 'q=1' }, '/a?q=1'],
    ['hold a claim', '/{JWT.sub}', { claims: { sub: 'me/you' } }, '/me%2Fyou'],
    ['hold a claim by its dotted path', '/{JWT.a.b}', { claims: { a: { b: 5 } } }, '/5'],
    ['hold a claim by its exact name first', '/{JWT.a.b}', { claims: { a: { b: 5 }, 'a.b': 6 } }, '/6'],
    ['keep a placeholder that no claim fills', '/{JWT.sub}', { claims: {} }, '/%7BJWT.sub%7D'],
    ['keep a placeholder of claims without a token', '/{JWT.sub}', {}, '/%7BJWT.sub%7D'],
    ['hold what a backend before answered', '/{resp0_a.b}', { earlier: [{ a: { b: 'x/y' } }] }, '/x/y'],
    ['hold what the eleventh backend answered', '/{resp10_a}', { earlier: [...Array(10).fill({}), { a: 1 }] }, '/1'],
    ['hold a path variable named like an answer', '/{xresp0_a}', { params: { Xresp0_a: '1' } }, '/1'],
    ['hold a path variable named like a claim', '/{aJWT.b}', { params: { 'AJWT.b': '1' } }, '/1'],
    ['hold a path variable named like a header', '/{xinput_headers.a}', { params: { 'Xinput_headers.a': '1' } }, '/1'],
    ['are not made without an eleventh value', '/{input_headers.x.10}', { headers: ['X', '0', 'X', '1'] }, undefined],
    ['contain an empty string for a missing response value', '/{resp0_a}/x', { earlier: [{}] }, '//x'],
    ['hold nothing for what a failed backend did not answer', '/{resp1_a}/x', { earlier: [null] }, '//x'],
    ['escape characters that are invalid in a URL', '/ü x"{id}', { params: { Id: '7' } }, '/%C3%BC%20x%227'],
    ['escape it in a pattern without placeholders', '/ü"', {}, '/%C3%BC%22'],
    ['escape it in the answer of a backend', '/{resp0_a}', { earlier: [{ a: 'ü "%41' }] }, '/%C3%BC%20%22%41'],
    ['keep characters that are valid in a URL', "/%41-._~:/[]@!$&'()*+,;=", {}, "/%41-._~:/[]@!$&'()*+,;="],
    ['keep braces around quotes', '/{"a"}', {}, '/%7B%22a%22%7D'],
    ['escape a broken character as the replacement character', '/\ud800', {}, '/%EF%BF%BD'],
  ];
  for (const [what, pattern, brought, made] of cases) {
    it(`${what}: ${pattern.toWellFormed()}`, () => equal(target(pattern, brought), made));
  }

  for (const [pattern, rest, made] of [
    ['/v2', 'a/b', '/v2/a/b'],
    ['/v2/', 'a/b', '/v2/a/b'],
    ['/v2', '/a', '/v2/a'],
    ['/v2/', '/a', '/v2/a'],
    ['/v2/', 'a/b/', '/v2/a/b/'],
    ['/v2?x=1', 'a', '/v2/a?x=1'],
  ] as const) {
    it(`end with "${rest}" matched by a wildcard, after one slash: ${pattern}`, () => {
      equal(target(pattern, { params: { Wildcard: rest } }, true), made);
      equal(target(pattern, { params: { Wildcard: rest } }), pattern);
    });
  }

  it('equal the pattern if a wildcard matched nothing', () => {
    equal(target('/v2', {}, true), '/v2');
    equal(target('/{id}', { params: { Wildcard: 'a' } }, true), undefined);
  });

  it('cause a log line if the value of a response or claim is missing', () => {
    for (const [pattern, line] of [
      ['/{resp0_a.b}', '{resp0_a.b} is missing in the response of backend 0'],
      ['/{JWT.sub}', 'the token has no claim for {JWT.sub}'],
    ] as const) {
      const { request, call, lines } = bring({});
      compilePattern(pattern, false)(request, call);
      deepEqual(lines, [line]);
    }
  });
});

describe('the host of a backend request', () => {
  for (const [value, made] of [
    ['', undefined],
    ['.', undefined],
    ['..', undefined],
    ['...', '...'],
    ['a..', 'a..'],
    ['..a', '..a'],
    ['a/b', 'a%2Fb'],
  ] as const) {
    it(`${made === undefined ? 'cannot contain' : 'can contain'} the value "${value}"`, () => {
      const { request, call } = bring({ headers: ['X-A', value] });
      equal(compileText('http://{input_headers.x-a}', encodeHost)(request, call), made && `http://${made}`);
    });
  }

  it('can contain half of a surrogate pair, as JSON of a response can', () => {
    equal(encodeHost('a\ud800'), 'a%EF%BF%BD');
  });
});

describe('values that must be present before any backend is called', () => {
  const demanded = (brought: Brought, ...backends: { url_pattern: string; host?: string[] }[]): boolean | null => {
    const { request, call } = bring(brought);
    return compileDemands(backends.map((backend) => ({ host: [], ...backend })))?.(request, call) ?? null;
  };
  const header = '{input_headers.x-a}';

  it('do not include values that come from responses and claims', () => {
    equal(demanded({}, { url_pattern: '/{resp0_a}/{JWT.sub}?a={JWT.sub}', host: ['http://a'] }), null);
  });

  it('include those in the path and host of every backend', () => {
    const backends = [{ url_pattern: '/' }, { url_pattern: `/${header}` }];
    deepEqual([demanded({}, ...backends), demanded({ headers: ['X-A', '1'] }, ...backends)], [false, true]);
    const hosts = { url_pattern: '/', host: ['http://b', `http://${header}`] };
    deepEqual([demanded({}, hosts), demanded({ headers: ['X-A', '1'] }, hosts)], [false, true]);
    deepEqual([demanded({ headers: ['X-A', '..'] }, hosts)], [false]);
  });

  it('include path variables', () => {
    const backend = { url_pattern: '/{id}' };
    deepEqual([demanded({}, backend), demanded({ params: { Id: '1' } }, backend)], [false, true]);
  });

  it('include those in the query, unless parameters are forwarded instead', () => {
    const backend = { url_pattern: '/?a={input_query_strings.q}' };
    deepEqual(
      [{}, { search: 'q=1' }, { search: 'q=' }, { forwarded: 'b=1' }].map((brought) => demanded(brought, backend)),
      [false, true, true, true],
    );
    equal(demanded({ forwarded: 'b=1' }, { url_pattern: `/${header}?a=${header}` }), false);
  });
});
