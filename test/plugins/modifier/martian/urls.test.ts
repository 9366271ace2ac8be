import { deepEqual, equal } from 'node:assert/strict';
import { issuesOf, through } from './testbed.ts';

/** Sets a header if a filter matches, and another one otherwise. */
const marked = {
  modifier: { 'header.Modifier': { name: 'X-Then', value: '1' } },
  else: { 'header.Modifier': { name: 'X-Else', value: '1' } },
};

async function matches(filter: object, origin: string, target: string): Promise<boolean> {
  const { headers, replied } = await through(filter, { origin, target });
  equal(headers[0], replied[0]);
  return headers[0] === 'X-Then';
}

describe('the URLs of modifier/martian', () => {
  it('can receive a query parameter; other parameters are kept and sorted', async () => {
    const { target } = await through(
      { 'querystring.Modifier': { name: 'amount', value: '75' } },
      { target: '/x?currency=EUR&amount=5&amount=6' },
    );
    equal(target, '/x?amount=75&currency=EUR');
  });

  it('can receive a query if they have none', async () => {
    equal((await through({ 'querystring.Modifier': { name: 'a b', value: '&' } })).target, '/x?a+b=%26');
  });

  for (const [name, value, search, expected] of [
    ['a', undefined, '?a=1', true],
    ['a', '', '?a', true],
    ['a', undefined, '?b=1', false],
    ['a', '2', '?a=1&a=2', true],
    ['a', '3', '?a=1&a=2', false],
    ['a b', 'c d', '?a+b=c%20d', true],
  ] as const) {
    it(`${expected ? 'match' : 'do not match'} querystring.Filter ${name}=${value}: ${search}`, async () => {
      const filter = { 'querystring.Filter': { name, ...(value !== undefined && { value }), ...marked } };
      equal(await matches(filter, 'http://h1', `/x${search}`), expected);
    });
  }

  it('can have another host and path without changing the Host header', async () => {
    const { origin, target, host } = await through(
      { 'url.Modifier': { host: 'localhost:9', path: '/p' } },
      { target: '/x?a=1' },
    );
    deepEqual([origin, target, host], ['http://localhost:9', '/p?a=1', 'h1']);
  });

  it('can have another scheme and query', async () => {
    const { origin, target } = await through(
      { 'url.Modifier': { scheme: 'https', query: 'b=2' } },
      { target: '/x?a=1' },
    );
    deepEqual([origin, target], ['https://h1', '/x?b=2']);
  });

  it('are percent-encoded where needed, but never twice', async () => {
    const { target } = await through({ 'url.Modifier': { path: 'ü %2f?#', query: 'a=%20 b%' } });
    equal(target, '/%C3%BC%20%2f%3F%23?a=%20%20b%25');
  });

  it('keep a parameter that is set after the query was replaced', async () => {
    const modifiers = [{ 'url.Modifier': { query: 'z=1' } }, { 'querystring.Modifier': { name: 'a', value: '1' } }];
    equal((await through({ 'fifo.Group': { modifiers } })).target, '/x?a=1&z=1');
  });

  for (const [sections, origin, target, expected] of [
    [{ scheme: 'http', host: 'h1', path: '/x', query: 'a=1&b=2' }, 'http://h1', '/x?b=2&a=1', true],
    [{ scheme: 'https' }, 'http://h1', '/x', false],
    [{ host: 'h1:80' }, 'http://h1', '/x', false],
    [{ host: 'h1:81' }, 'http://h1:81', '/x', true],
    [{ host: '*.example.com' }, 'http://a.example.com', '/x', true],
    [{ host: '*.example.com' }, 'http://a.b.example.com', '/x', false],
    [{ host: '*.example.com' }, 'http://example.com', '/x', false],
    [{ host: 'A.example.com' }, 'http://ada:secret@a.EXAMPLE.com', '/x', true],
    [{ path: '/a b' }, 'http://h1', '/a%20b', true],
    [{ path: '/x' }, 'http://h1', '/x/y', false],
    [{ query: 'a=1' }, 'http://h1', '/x?a=1&b=2', false],
    [{ query: 'a=1' }, 'http://h1', '/x', false],
    [{}, 'http://h1', '/x', true],
  ] as const) {
    it(`${expected ? 'match' : 'do not match'} url.Filter ${JSON.stringify(sections)}: ${origin}${target}`, async () => {
      equal(await matches({ 'url.Filter': { ...sections, ...marked } }, origin, target), expected);
    });
  }

  it('are matched as a whole, including the query, by url.RegexFilter', async () => {
    const filter = { 'url.RegexFilter': { regex: '^http://h1/x\\?.*debug=1', ...marked } };
    deepEqual(
      [await matches(filter, 'http://h1', '/x?a=1&debug=1'), await matches(filter, 'http://h1', '/x')],
      [true, false],
    );
  });

  it('are matched in the response scope in their modified form', async () => {
    const modifiers = [
      { 'url.Modifier': { path: '/changed' } },
      { 'url.Filter': { path: '/changed', modifier: marked.modifier, scope: ['response'] } },
    ];
    deepEqual((await through({ 'fifo.Group': { modifiers } })).replied, ['X-Then', '1']);
  });

  for (const [config, origin, expected] of [
    [{ port: 8080 }, 'http://h1', 'http://h1:8080'],
    [{ port: 8080 }, 'http://ada:pw@h1:81', 'http://ada:pw@h1:8080'],
    [{ port: 8080 }, 'http://[::1]:81', 'http://[::1]:8080'],
    [{ defaultForScheme: true }, 'https://h1:81', 'https://h1'],
    [{ remove: true }, 'http://h1:81', 'http://h1'],
  ] as const) {
    it(`call ${expected} instead of ${origin} with port.Modifier ${JSON.stringify(config)}, and set the Host header`, async () => {
      const modifiers = [
        { 'header.Modifier': { name: 'Host', value: 'old', scope: ['request'] } },
        { 'port.Modifier': config },
      ];
      const called = await through({ 'fifo.Group': { modifiers } }, { origin });
      deepEqual([called.origin, called.host], [expected, null]);
    });
  }

  for (const [port, origin, expected] of [
    [81, 'http://h1:81', true],
    [80, 'http://h1', true],
    [443, 'https://h1', true],
    [80, 'https://h1', false],
  ] as const) {
    it(`${expected ? 'match' : 'do not match'} port.Filter ${port}: ${origin}`, async () => {
      const { headers } = await through({ 'port.Filter': { port, modifier: marked.modifier } }, { origin });
      equal(headers.length > 0, expected);
    });
  }

  it('run the else branch of port.Filter on another port', async () => {
    const config = { port: 81, modifier: marked.modifier, else: { 'header.Modifier': { name: 'Else', value: '1' } } };
    const { headers } = await through({ 'port.Filter': config }, { origin: 'http://h1' });
    deepEqual(headers, ['Else', '1']);
  });

  for (const [what, config, issue] of [
    [
      'a port modifier without a setting',
      { 'port.Modifier': {} },
      '/port.Modifier exactly one of "port", "defaultForScheme" and "remove" must be set',
    ],
    [
      'a port modifier with two settings',
      { 'port.Modifier': { port: 1, remove: true } },
      '/port.Modifier exactly one of "port", "defaultForScheme" and "remove" must be set',
    ],
    [
      'another scheme',
      { 'url.Modifier': { scheme: 'ftp' } },
      '/url.Modifier/scheme backends cannot be called over "ftp"',
    ],
    ['a host with a path', { 'url.Modifier': { host: 'h/x' } }, '/url.Modifier/host "h/x" is not a valid host'],
    [
      'a host with user information',
      { 'url.Modifier': { host: 'a@h' } },
      '/url.Modifier/host "a@h" is not a valid host',
    ],
    [
      'a parameter in the response scope',
      { 'querystring.Modifier': { name: 'a', value: '1', scope: ['request', 'response'] } },
      '/querystring.Modifier/scope/1 \'scope[1]\' must be request, found "response"',
    ],
  ] as const) {
    it(`are rejected if they have ${what}`, async () => deepEqual(await issuesOf(config), [issue]));
  }
});
