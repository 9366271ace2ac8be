import { deepEqual, equal, match } from 'node:assert/strict';
import { issuesOf, through, warningsOf } from './testbed.ts';

describe('headers in modifier/martian:', () => {
  it('are set on the request, replacing all values', async () => {
    const set = { 'header.Modifier': { name: 'authorization', value: 'Basic eA==', scope: ['request'] } };
    const { headers, replied } = await through(set, {
      headers: ['Authorization', 'a', 'X', '1', 'authorization', 'b'],
    });
    deepEqual([headers, replied], [['X', '1', 'Authorization', 'Basic eA=='], []]);
  });

  it('are set on requests and responses without a scope', async () => {
    const { headers, replied } = await through({ 'header.Modifier': { name: 'X-A', value: '1' } });
    deepEqual(
      [headers, replied],
      [
        ['X-A', '1'],
        ['X-A', '1'],
      ],
    );
  });

  it('are set on requests and responses with an empty scope', async () => {
    const { headers, replied } = await through({ 'header.Modifier': { name: 'X-A', value: '1', scope: [] } });
    deepEqual(
      [headers, replied],
      [
        ['X-A', '1'],
        ['X-A', '1'],
      ],
    );
  });

  it('are sent as UTF-8 bytes beyond ASCII, without placeholder substitution', async () => {
    const { headers } = await through({ 'header.Modifier': { name: 'X-A', value: 'é {id}', scope: ['request'] } });
    deepEqual(headers, ['X-A', 'Ã© {id}']);
  });

  it('can receive an additional value', async () => {
    const { headers } = await through(
      { 'header.Append': { name: 'x-a', value: '2', scope: ['request'] } },
      { headers: ['X-A', '1'] },
    );
    deepEqual(headers, ['X-A', '1', 'X-A', '2']);
  });

  it('are copied with their first value, or an empty one if missing', async () => {
    const copy = { 'header.Copy': { from: 'x-from', to: 'X-To', scope: ['request'] } };
    const full = await through(copy, { headers: ['X-From', '1', 'X-From', '2', 'X-To', 'old'] });
    const none = await through(copy);
    deepEqual(
      [full.headers.slice(4), none.headers],
      [
        ['X-To', '1'],
        ['X-To', ''],
      ],
    );
  });

  it('are removed from requests', async () => {
    const remove = { 'header.Blacklist': { names: ['x-forwarded-for', 'X-B'], scope: ['request'] } };
    const { headers } = await through(remove, { headers: ['X-Forwarded-For', '10.0.0.9', 'X-B', '1', 'X-C', '2'] });
    deepEqual(headers, ['X-C', '2']);
  });

  it('are removed from responses', async () => {
    const remove = { 'header.Blacklist': { names: ['Server'], scope: ['response'] } };
    const { replied } = await through(remove, {}, { headers: ['Server', 'x', 'ETag', '"1"'] });
    deepEqual(replied, ['ETag', '"1"']);
  });

  it('can contain a generated UUID unless they have a value', async () => {
    const id = { 'header.Id': { header: 'X-Request-Id' } };
    const own = await through(id, { headers: ['x-request-id', 'mine'] });
    const empty = await through(id, { headers: ['X-Request-Id', ''] });
    const none = await through(id);
    deepEqual(own.headers, ['x-request-id', 'mine']);
    for (const { headers } of [empty, none]) match(headers.join(), /^X-Request-Id,[\da-f]{8}-[\da-f]{4}-4[\da-f-]+$/);
  });

  it('are named X-Krakend-Id by default for UUIDs', async () => {
    equal((await through({ 'header.Id': {} })).headers[0], 'X-Krakend-Id');
  });

  describe('header.Filter', () => {
    const a = { 'header.Modifier': { name: 'X-Then', value: '1' } };
    const b = { 'header.Modifier': { name: 'X-Else', value: '1' } };
    const filter = (fields: object) => ({ 'header.Filter': { name: 'X-V', modifier: a, else: b, ...fields } });
    const chosen = async (config: object, headers: string[], given: string[] = []) => {
      const { request, reply } = await through(config, { headers }, { headers: given });
      return [request.headers, reply.headers].map((bag) => ['x-then', 'x-else'].filter((name) => bag.has(name)).join());
    };

    it('matches if one value is equal', async () => {
      const config = filter({ value: 'é' });
      deepEqual(await chosen(config, ['X-V', 'a', 'x-v', 'Ã©'], ['X-V', 'b']), ['x-then', 'x-else']);
    });

    for (const [what, fields] of [
      ['no value', {}],
      ['an empty value', { value: '' }],
    ] as const) {
      it(`matches headers that are present, with ${what}`, async () => {
        deepEqual(await chosen(filter(fields), ['X-V', 'anything']), ['x-then', 'x-else']);
      });
    }

    it("runs in its scopes only, and its modifier in the modifier's own scopes", async () => {
      deepEqual(await chosen(filter({ scope: ['request'] }), ['X-V', '1']), ['x-then', '']);
      const onResponse = { 'header.Modifier': { name: 'X-Then', value: '1', scope: ['response'] } };
      deepEqual(await chosen(filter({ modifier: onResponse, else: onResponse }), ['X-V', '1']), ['', 'x-then']);
    });

    it('does nothing if it does not match and has no "else"', async () => {
      deepEqual(await chosen({ 'header.Filter': { name: 'X-V', modifier: a } }, []), ['', '']);
    });
  });

  describe('header.RegexFilter', () => {
    const beta = (scope: string[]) => ({
      'header.RegexFilter': {
        header: 'X-V',
        regex: '-beta$',
        modifier: scope.includes('request')
          ? { 'querystring.Modifier': { name: 't', value: '1' } }
          : { 'header.Modifier': { name: 'X-T', value: '1' } },
        scope,
      },
    });

    it('matches if the first value of the header contains a match', async () => {
      equal((await through(beta(['request']), { headers: ['X-V', '1-beta'] })).target, '/x?t=1');
      equal((await through(beta(['request']), { headers: ['X-V', '1', 'X-V', '1-beta'] })).target, '/x');
      equal((await through(beta(['request']))).target, '/x');
    });

    it('matches the header of the request even in the response scope', async () => {
      const matching = await through(beta(['response']), { headers: ['X-V', '1-beta'] });
      const other = await through(beta(['response']), {}, { headers: ['X-V', '1-beta'] });
      deepEqual(
        [matching.replied, other.replied],
        [
          ['X-T', '1'],
          ['X-V', '1-beta'],
        ],
      );
    });

    it('does not support "else"', async () => {
      const [{ 'header.RegexFilter': config }] = [beta(['request'])];
      deepEqual(await issuesOf({ 'header.RegexFilter': { ...config, else: config.modifier } }), [
        "/header.RegexFilter/else unknown key 'else' in 'header.RegexFilter'",
      ]);
    });

    it('rejects an invalid regular expression', async () => {
      const config = { header: 'X', regex: '(', modifier: { 'header.Id': {} } };
      match((await issuesOf({ 'header.RegexFilter': config }))[0]!, /^\/header\.RegexFilter\/regex /);
    });
  });

  describe('stash.Modifier', () => {
    it('copies the request URL into a header, even in the response', async () => {
      const { headers, replied } = await through(
        { 'stash.Modifier': { headerName: 'X-Called' } },
        { origin: 'http://ada:secret@h1:81', target: '/x?a=1' },
      );
      deepEqual(
        [headers, replied],
        [
          ['X-Called', 'http://h1:81/x?a=1'],
          ['X-Called', 'http://h1:81/x?a=1'],
        ],
      );
    });

    it('requires the request scope if it has the response scope', async () => {
      deepEqual(await issuesOf({ 'stash.Modifier': { headerName: 'X', scope: ['response'] } }), [
        '/stash.Modifier/scope the URL is stored when the request is processed: the scope "response" requires "request" as well',
      ]);
    });
  });

  describe('Host', () => {
    it('can be set for a backend at any address', async () => {
      const set = { 'header.Modifier': { name: 'host', value: 'v.example', scope: ['request'] } };
      const { host, origin, headers } = await through(set);
      deepEqual([host, origin, headers], ['v.example', 'http://h1', []]);
    });

    it('is read with the value that will be sent', async () => {
      const copy = { 'header.Copy': { from: 'Host', to: 'X-Host', scope: ['request'] } };
      deepEqual((await through(copy)).headers, ['X-Host', 'h1']);
    });

    it("is reset to the backend's host if it is removed", async () => {
      const modifiers = [
        { 'header.Modifier': { name: 'Host', value: 'v', scope: ['request'] } },
        { 'header.Blacklist': { names: ['Host'], scope: ['request'] } },
      ];
      equal((await through({ 'fifo.Group': { modifiers } })).host, null);
    });

    it('cannot have a second value', async () => {
      deepEqual(await issuesOf({ 'header.Append': { name: 'Host', value: 'b', scope: ['request'] } }), [
        '/header.Append/name Host can have only one value',
      ]);
    });
  });

  describe('Content-Length', () => {
    const set = (value: string) => ({ 'header.Modifier': { name: 'Content-Length', value } });

    it('must be a non-negative integer', async () => {
      deepEqual(await issuesOf(set('many')), ['/header.Modifier/value Content-Length must be a whole number']);
    });

    it('fails the call if it does not match the body of the request or response', async () => {
      const request = await through(set('5'), { method: 'POST', body: 'abc' });
      const response = await through(
        { 'header.Modifier': { name: 'Content-Length', value: '5', scope: ['response'] } },
        {},
        { body: 'abc' },
      );
      for (const { reply } of [request, response]) {
        deepEqual(
          [reply.status, reply.errors[0]!.code, reply.errors[0]!.message],
          [500, 'MARTIAN_FAILED', 'modifier/martian: Content-Length 5 does not match the body of 3 bytes'],
        );
      }
    });

    it('can be set to the correct value', async () => {
      const { reply, replied } = await through(set('3'), { method: 'POST', body: 'abc' }, { body: 'abc' });
      deepEqual([reply.status, replied], [200, ['Content-Length', '3']]);
    });

    it('cannot have a second value', async () => {
      deepEqual(await issuesOf({ 'header.Append': { name: 'content-length', value: '5' } }), [
        '/header.Append/name content-length can have only one value',
      ]);
    });
  });

  it('cannot be connection headers, which a warning reports', async () => {
    const set = { 'header.Modifier': { name: 'Transfer-Encoding', value: 'chunked' } };
    const { headers, replied } = await through(set);
    deepEqual([headers, replied], [[], []]);
    deepEqual(await warningsOf(set), [
      '/header.Modifier/name "Transfer-Encoding" is set by the gateway itself: this modifier has no effect',
    ]);
  });

  for (const [what, config, issue] of [
    ['an invalid name', { 'header.Modifier': { name: 'X Y', value: '' } }, '/name "X Y" is not a valid header name'],
    [
      'a value with a line break',
      { 'header.Modifier': { name: 'X', value: 'a\r\nY: b' } },
      '/value the value contains control',
    ],
    [
      'a list with an invalid name',
      { 'header.Blacklist': { names: ['a', 'b:'] } },
      '/names/1 "b:" is not a valid header name',
    ],
    ['a copy to an invalid name', { 'header.Copy': { from: 'a', to: 'b c' } }, '/to "b c" is not a valid header name'],
    ['a UUID in the response scope', { 'header.Id': { scope: ['response'] } }, "/scope/0 'scope[0]' must be request"],
  ] as const) {
    it(`are rejected if they have ${what}`, async () => {
      const [first] = await issuesOf(config);
      equal(first!.slice(Object.keys(config)[0]!.length + 1, -1).startsWith(issue.slice(0, -1)), true, first);
    });
  }
});
