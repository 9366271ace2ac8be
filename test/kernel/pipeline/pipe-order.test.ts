import { deepEqual, equal } from 'node:assert/strict';
import { until } from '../../support/conditions.ts';
import { json, startBackend, startGateway } from '../../support/gateway.ts';

describe('the pipeline of an endpoint', () => {
  it('calls all backends concurrently, each with a separate request', async () => {
    const waiting: (() => void)[] = [];
    const backend = await startBackend((_seen, response) => {
      waiting.push(() => response.end('{}'));
    });
    const gateway = await startGateway({
      host: [backend.url],
      endpoints: [
        {
          endpoint: '/x/{id}',
          method: 'POST',
          input_headers: ['X-Seen'],
          backend: [
            { url_pattern: '/a/{id}', extra_config: { 'modifier/lua-backend': { pre: changing('a') } } },
            { url_pattern: '/b/{id}', extra_config: { 'modifier/lua-backend': { pre: changing('b') } } },
          ],
        },
      ],
    });
    try {
      const reply = gateway.inject({ method: 'POST', url: '/x/7', headers: { 'X-Seen': 'client' }, payload: 'body' });
      await until(() => waiting.length === 2);
      for (const end of waiting) end();
      equal((await reply).statusCode, 200);
      const seen = backend.requests.map(({ target, headers, body }) => [target, headers['x-seen'], String(body)]);
      deepEqual(seen.toSorted(), [
        ['/a/7', 'a', 'body a'],
        ['/b/7', 'b', 'body b'],
      ]);
    } finally {
      await gateway.close();
      await backend.close();
    }
  });

  it('runs script, condition, schema, static data and shaping of the merge in this order, and back', async () => {
    const backend = await startBackend(json({ a: 1 }));
    const gateway = await startGateway({
      host: [backend.url],
      endpoints: [
        {
          endpoint: '/x',
          method: 'POST',
          backend: [{ url_pattern: '/1' }, { url_pattern: '/2', group: 'second' }],
          extra_config: {
            'modifier/lua-proxy': {
              pre: `local r = request.load(); r:headers('X-Sent', 'script'); r:body('{"name": "x"}')`,
              post: `local d = response.load():data(); d:set('last', d:get('stays'))`,
            },
            'validation/cel': [
              { check_expr: "req_headers['X-Sent'] == ['script']" },
              { check_expr: "resp_data.stays == 'static' && !('last' in resp_data)" },
            ],
            'validation/json-schema': { type: 'object', required: ['name'] },
            proxy: {
              static: { strategy: 'always', data: { stays: 'static' } },
              flatmap_filter: [
                { type: 'del', args: ['stays'] },
                { type: 'move', args: ['second.a', 'moved'] },
                { type: 'del', args: ['second'] },
              ],
            },
          },
        },
      ],
    });
    try {
      const reply = await gateway.inject({ method: 'POST', url: '/x', payload: '{}' });
      deepEqual(reply.json(), { a: 1, moved: 1, stays: 'static', last: 'static' });
    } finally {
      await gateway.close();
      await backend.close();
    }
  });

  it('returns the data of a single backend unchanged', async () => {
    const data = { list: [1, { a: null }], '': 'empty', deep: { deep: {} } };
    const backend = await startBackend(json(data));
    const gateway = await startGateway({
      host: [backend.url],
      endpoints: [{ endpoint: '/x', backend: [{ url_pattern: '/' }] }],
    });
    try {
      deepEqual((await gateway.inject('/x')).json(), data);
    } finally {
      await gateway.close();
      await backend.close();
    }
  });
});

/** Changes a request in place. */
function changing(name: string): string {
  return `local r = request.load(); r:headers('X-Seen', '${name}'); r:body(r:body() .. ' ${name}')`;
}
