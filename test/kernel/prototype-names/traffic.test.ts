import { deepEqual, equal, match } from 'node:assert/strict';
import { request as ask } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Gateway } from '../../../kernel/sluice.ts';
import { startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { holding, PROTOTYPE_NAMES } from '../../support/prototype-names.ts';

for (const name of PROTOTYPE_NAMES) {
  describe(`the name ${name}`, () => {
    let backend: TestBackend;
    const running: Gateway[] = [];

    before(async () => {
      backend = await startBackend(({ target, method, headers, body }, response) => {
        response.setHeader('Content-Type', 'application/json');
        if (method === 'POST') return response.end(body);
        const { searchParams, pathname } = new URL(target, 'http://x');
        const asked = { path: pathname, query: Object.fromEntries(searchParams), header: headers['x-told'] ?? null };
        return response.end(JSON.stringify({ asked, ...holding(name, { inner: 'here', other: 1 }) }));
      });
    });
    after(async () => {
      for (const gateway of running) await gateway.close();
      await backend.close();
    });
    afterEach(() => equal(Object.keys(Object.prototype).length, 0, 'something was put into Object.prototype'));

    const endpointOf = (fields: object, ...backends: object[]) => ({
      endpoint: '/a',
      backend: (backends.length === 0 ? [{}] : backends).map((given) => ({
        host: [backend.url],
        url_pattern: '/b',
        ...given,
      })),
      ...fields,
    });

    async function serve(fields: object, ...backends: object[]): Promise<Gateway> {
      const gateway = await startGateway({ endpoints: [endpointOf(fields, ...backends)] });
      running.push(gateway);
      return gateway;
    }

    const get = async (gateway: Gateway, url: string, headers: Record<string, string> = {}) =>
      (await gateway.inject({ url, headers })).json();

    describe('in a request', () => {
      it('can be the name of a path variable', async () => {
        const gateway = await serve({ endpoint: `/a/{${name}}/b` }, { url_pattern: `/got/{${name}}` });
        equal((await get(gateway, '/a/value/b')).asked.path, '/got/value');
        equal((await get(gateway, '/a/with%20space/b')).asked.path, '/got/with%20space');
      });

      it('can be the name of a path variable in a path that also has a wildcard', async () => {
        const gateway = await serve({ endpoint: `/a/{${name}}/*` }, { url_pattern: `/got/{${name}}` });
        equal((await get(gateway, '/a/value/rest')).asked.path, '/got/value/rest');
      });

      it('can be the name of a query parameter', async () => {
        const gateway = await serve({ input_query_strings: [name] });
        deepEqual((await get(gateway, `/a?${name}=1&other=2`)).asked.query, holding(name, '1'));
        const all = await serve({ input_query_strings: ['*'] });
        deepEqual((await get(all, `/a?${name}=1`)).asked.query, holding(name, '1'));
        deepEqual((await get(all, '/a')).asked.query, {});
      });

      it('can be the name of a header', async () => {
        for (const listed of [name, '*']) {
          const gateway = await serve({ input_headers: [listed] });
          const { port } = await gateway.listen();
          equal(await sendHeader(port), 200);
          const { rawHeaders } = backend.requests.at(-1)!;
          const at = rawHeaders.findIndex((text) => text.toLowerCase() === name.toLowerCase());
          equal(rawHeaders[at + 1], 'told');
        }
      });

      function sendHeader(port: number): Promise<number> {
        return new Promise((resolve, reject) => {
          const sent = ask({ port, path: '/a', headers: [name, 'told', 'Host', 'x'] }, (response) => {
            text(response).then(() => resolve(response.statusCode!), reject);
          });
          sent.on('error', reject).end();
        });
      }

      it('can be a key of a body that is validated and forwarded', async () => {
        const schema = { type: 'object', required: [name], properties: holding(name, { type: 'integer' }) };
        const gateway = await serve(
          { method: 'POST', extra_config: { 'validation/json-schema': schema } },
          { method: 'POST' },
        );
        const post = (payload: string) => gateway.inject({ method: 'POST', url: '/a', payload });
        const response = await post(`{"${name}":1}`);
        equal(response.statusCode, 200);
        equal(response.body, `{"${name}":1}`);
        equal((await post('{}')).statusCode, 400);
        equal((await post(`{"${name}":"x"}`)).statusCode, 400);
      });
    });

    describe('in a reply', () => {
      const data = { inner: 'here', other: 1 };

      it('can be the name of a group', async () => {
        const gateway = await serve({}, { group: name });
        deepEqual(Object.keys(await get(gateway, '/a')), [name]);
      });

      it('can be the name of a target', async () => {
        deepEqual(await get(await serve({}, { target: name }), '/a'), data);
        equal((await (await serve({}, { target: `asked.${name}` })).inject('/a')).body, '{}');
      });

      it('can be allowed, denied and renamed', async () => {
        deepEqual(await get(await serve({}, { allow: [`${name}.inner`] }), '/a'), holding(name, { inner: 'here' }));
        deepEqual(Object.keys(await get(await serve({}, { deny: [name] }), '/a')), ['asked']);
        deepEqual(Object.keys(await get(await serve({}, { mapping: holding(name, 'new') }), '/a')), ['asked', 'new']);
        const renamed = await get(await serve({}, { mapping: { asked: name }, allow: ['asked'] }), '/a');
        deepEqual(Object.keys(renamed), [name]);
      });

      it('can be a key of merged responses', async () => {
        const gateway = await serve({}, {}, { group: name });
        deepEqual(Object.keys(await get(gateway, '/a')), ['asked', name]);
        for (const combiner of ['append', 'deep']) {
          const combined = await serve({ extra_config: { proxy: { combiner } } }, {}, {});
          deepEqual((await get(combined, '/a'))[name], data);
        }
      });

      it('can be the field of an earlier response that a placeholder in url_pattern inserts', async () => {
        const gateway = await serve(
          { extra_config: { proxy: { sequential: true } } },
          {},
          { url_pattern: `/got/{resp0_${name}.inner}`, group: 'second' },
        );
        equal((await get(gateway, '/a')).second.asked.path, '/got/here');
      });

      it('can be a key of static and moved data', async () => {
        const fixed = await serve({
          extra_config: { proxy: { static: { strategy: 'always', data: holding(name, 5) } } },
        });
        equal((await get(fixed, '/a'))[name], 5);
        const moved = await serve(
          {},
          {
            extra_config: { proxy: { flatmap_filter: [{ type: 'move', args: ['asked', name] }] } },
          },
        );
        deepEqual(Object.keys((await get(moved, '/a'))[name]), ['path', 'query', 'header']);
      });

      for (const encoding of ['xml', 'yaml', 'json', 'fast-json', 'negotiate']) {
        it(`can be a key of data with the encoding ${encoding}`, async () => {
          const gateway = await serve({ output_encoding: encoding }, { allow: [`${name}.inner`] });
          const { statusCode, body } = await gateway.inject('/a');
          equal(statusCode, 200);
          match(body, new RegExp(`${name}[\\s\\S]*here`));
        });
      }
    });
  });
}
