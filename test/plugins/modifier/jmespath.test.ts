import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { BackendError, type Level, Reply } from '#contract';
import type { Gateway } from '#kernel';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { plugin } from '../../../plugins/modifier/jmespath.ts';
import { rememberingSinks, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { openHarness } from '../../support/harness.ts';

const people = [
  { n: 'Al', a: 20 },
  { n: 'Bo', a: 15 },
  { n: 'Cy', a: 40 },
];

const bodies: Readonly<Record<string, string>> = {
  '/people': JSON.stringify({ people }),
  '/list': '[1,2,3]',
  '/a': '{"v":1}',
  '/b': '{"v":2}',
  '/big': '{"n":9007199254740993,"i":7}',
  '/empty': '{}',
  '/yes': '{"yes":true,"no":null}',
};

describe('modifier/jmespath', () => {
  let backend: TestBackend;
  let gateway: Gateway;
  let lines: readonly string[];

  const replaced = (expr: string) => ({ extra_config: { 'modifier/jmespath': { expr } } });
  const one = (endpoint: string, url_pattern: string, expr: string, around: object = {}) => ({
    ...{ endpoint, ...replaced(expr), backend: [{ url_pattern }] },
    ...around,
  });
  const collection = { output_encoding: 'json-collection' };
  const groups = (other: string) => [
    { url_pattern: '/a', group: 'a' },
    { url_pattern: other, group: 'b' },
  ];

  before(async () => {
    backend = await startBackend(({ target }, response) => {
      const body = bodies[target];
      response.writeHead(body === undefined ? 500 : 200, { 'Content-Type': 'application/json' }).end(body ?? '');
    });
    const sinks = rememberingSinks();
    lines = sinks.lines;
    gateway = await startGateway(
      {
        host: [backend.url],
        endpoints: [
          one('/1', '/people', 'people[?a > `18`].n', collection),
          one('/2', '/people', 'people[?a > `18`].n'),
          one('/3', '/people', '{names: people[].n, total: length(people)}'),
          one('/4', '/people', 'people[0]'),
          one('/5', '/people', 'nothing'),
          one('/6', '/people', 'max_by(people,&a).n'),
          {
            ...one('/7', '/list', 'reverse(collection)', collection),
            backend: [{ url_pattern: '/list', is_collection: true }],
          },
          { ...one('/7b', '/list', 'collection[:2]'), backend: [{ url_pattern: '/list', is_collection: true }] },
          { ...one('/8', '', '{x: a.v, y: b.v}'), backend: groups('/b') },
          { ...one('/8b', '', '{x: a.v, y: b.v}'), backend: groups('/broken') },
          one('/9', '/people', 'sum(people)'),
          one('/big', '/big', '{n: n, i: i, sum: sum([n, i])}'),
          one('/yes', '/yes', 'yes'),
          one('/empty', '/empty', '`{"made": "up"}`'),
          one('/broken', '/broken', '`{"made": "up"}`'),
          {
            endpoint: '/backend',
            backend: [
              { url_pattern: '/people', ...replaced('{first: all[0].n}'), mapping: { people: 'all' } },
              { url_pattern: '/a' },
            ],
          },
          {
            endpoint: '/grouped',
            backend: [{ url_pattern: '/people', ...replaced('g.people[*].n'), group: 'g' }, { url_pattern: '/a' }],
          },
          {
            endpoint: '/failing',
            backend: [{ url_pattern: '/people', ...replaced('sum(people)') }, { url_pattern: '/a' }],
          },
          {
            endpoint: '/flat',
            extra_config: {
              proxy: {
                flatmap_filter: [{ type: 'move', args: ['a.v', 'moved'] }],
                static: { data: { s: 1 }, strategy: 'always' },
              },
              'modifier/jmespath': { expr: '{moved: moved, static: s}' },
              'modifier/lua-proxy': { post: "local d = response.load():data(); d:set('seen', d:get('moved'))" },
            },
            backend: groups('/b'),
          },
          {
            endpoint: '/raw',
            output_encoding: 'no-op',
            ...replaced('people'),
            backend: [{ url_pattern: '/people' }],
          },
        ],
      },
      { sinks },
    );
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  const ask = async (url: string) => {
    const { statusCode, headers, body } = await gateway.inject(url);
    return {
      status: statusCode,
      completed: headers['x-gateway-completed'],
      body: body === '' ? null : JSON.parse(body),
    };
  };
  const bodyOf = async (url: string) => (await ask(url)).body;

  it('returns a plain array with json-collection', async () => deepEqual(await bodyOf('/1'), ['Al', 'Cy']));

  it('wraps an array in "collection"', async () => deepEqual(await bodyOf('/2'), { collection: ['Al', 'Cy'] }));

  it('builds another object', async () => {
    deepEqual(await bodyOf('/3'), { names: ['Al', 'Bo', 'Cy'], total: 3 });
  });

  it('returns an object unchanged', async () => deepEqual(await bodyOf('/4'), { n: 'Al', a: 20 }));

  it('returns an empty object for null', async () => deepEqual(await bodyOf('/5'), {}));

  it('wraps a scalar in "content"', async () => {
    deepEqual(await bodyOf('/6'), { content: 'Cy' });
    deepEqual(await bodyOf('/yes'), { content: true });
  });

  it('reads the array of a collection from "collection"', async () => {
    deepEqual(await bodyOf('/7'), [3, 2, 1]);
    deepEqual(await bodyOf('/7b'), { collection: [1, 2] });
  });

  it('runs on the merged data of an endpoint without changing whether the data is complete', async () => {
    deepEqual(await ask('/8'), { status: 200, completed: 'true', body: { x: 1, y: 2 } });
    deepEqual(await ask('/8b'), { status: 200, completed: 'false', body: { x: 1, y: null } });
  });

  it('returns 500 and logs the reason if the expression fails', async () => {
    const { status, completed, body } = await ask('/9');
    deepEqual([status, completed, body], [500, 'false', null]);
    ok(lines.some((line) => /ERROR.*\[ENDPOINT: \/9\] sum\(\) requires an array of numbers/.test(line)));
  });

  it('fails a backend whose expression fails, while the other backends respond', async () => {
    deepEqual(await ask('/failing'), { status: 200, completed: 'false', body: { v: 1 } });
  });

  it("runs on a backend's data after its response manipulation and before the merge", async () => {
    deepEqual(await bodyOf('/backend'), { first: 'Al', v: 1 });
    deepEqual(await bodyOf('/grouped'), { collection: ['Al', 'Bo', 'Cy'], v: 1 });
  });

  it('preserves the value of numbers', async () => {
    const { body } = await gateway.inject('/big');
    equal(body, '{"n":9007199254740993,"i":7,"sum":9007199254741000}');
  });

  it('does not run on empty data or failed calls', async () => {
    deepEqual(await bodyOf('/empty'), {});
    deepEqual(await ask('/broken'), { status: 500, completed: 'false', body: null });
  });

  it('runs after flatmap and static data, and before scripts', async () => {
    deepEqual(await bodyOf('/flat'), { moved: 1, static: 1, seen: 1 });
  });

  it('has no effect with the no-op encoding, and causes a warning', async () => {
    deepEqual(await bodyOf('/raw'), { people });
    const warningsAt = async (level: Level, around: object) => {
      const harness = await openHarness(plugin, level, { expr: 'a' }, around);
      const told = harness.warnings.map(({ code, message }) => [code, message]);
      await harness.close();
      return told;
    };
    const message = 'the expression has no effect: with the encoding no-op, the response is not decoded';
    deepEqual(await warningsAt('endpoint', { endpoint: { output_encoding: 'no-op' } }), [['JMESPATH_RAW', message]]);
    deepEqual(await warningsAt('backend', { backend: { encoding: 'no-op' } }), [['JMESPATH_RAW', message]]);
  });

  it('rejects an invalid expression with the position of the error', async () => {
    for (const level of ['endpoint', 'backend'] as const) {
      await rejects(openHarness(plugin, level, { expr: 'a b' }), (error: unknown) => {
        if (!(error instanceof ConfigErrors)) throw error;
        deepEqual(
          error.errors.map(({ code, pointer, message, within }) => [code, pointer, message, within]),
          [['JMESPATH_SYNTAX', '/expr', 'unexpected "b" at column 3', { start: 2, end: 3 }]],
        );
        return true;
      });
    }
    await rejects(openHarness(plugin, 'endpoint', {}), ConfigErrors);
    await rejects(openHarness(plugin, 'endpoint', { expr: 'a', variables: {} }), ConfigErrors);
  });

  it('changes neither the status nor headers, and does not run on failed responses', async () => {
    const made = Reply.data({ a: 1 }, false);
    made.headers.set('X-A', '1');
    made.status = 201;
    const harness = await openHarness(plugin, 'backend', { expr: '{b: a}' }, { next: () => made });
    const { status, headers, data, complete } = await harness.send('GET /');
    deepEqual([status, headers.get('x-a'), data, complete], [201, '1', { b: 1 }, false]);
    await harness.close();
    const failed = Reply.failed(new BackendError('TEST', 'no'));
    const other = await openHarness(plugin, 'backend', { expr: '{b: a}' }, { next: () => failed });
    match((await other.send('GET /')).errors[0]!.message, /no/);
    await other.close();
  });
});
