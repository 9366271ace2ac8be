import { deepEqual, equal, ok } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { reading } from '../../../admin/operations/reading.ts';
import { startGateway } from '../../support/gateway.ts';
import { openReading, type ReadingPort } from './support.ts';

describe('OpenAPI documents from the admin API', () => {
  let gateway: Operations;
  let admin: ReadingPort;

  const backend = [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }];

  before(async () => {
    gateway = await startGateway({
      name: 'shop',
      endpoints: [
        {
          endpoint: '/users/{id}',
          input_query_strings: ['lang'],
          input_headers: ['X-Trace', 'Authorization', 'Content-Type'],
          backend,
        },
        { endpoint: '/users/{user}', method: 'PUT', backend },
        { endpoint: '/feed', output_encoding: 'negotiate', input_query_strings: ['*'], backend },
        { endpoint: '/raw/*', output_encoding: 'no-op', backend },
        { endpoint: '/a-b', backend, extra_config: { 'documentation/openapi': { audience: ['partners'] } } },
        { endpoint: '/a/b', backend },
        { endpoint: '/__catchall', backend },
      ],
    });
    admin = await openReading(gateway);
  });

  after(async () => {
    await admin.close();
    await gateway.close();
  });

  describe('that describe the endpoints of the gateway', () => {
    const document = async () => (await admin.ask('/v1/openapi')).body;

    it('are version 3.1 and have the name of the service', async () => {
      const { openapi, info } = await document();
      deepEqual([openapi, info], ['3.1.0', { title: 'shop', version: '1.0.0' }]);
    });

    it('contain every endpoint except the catch-all', async () => {
      deepEqual(Object.keys((await document()).paths), ['/users/{id}', '/feed', '/raw/{wildcard}', '/a-b', '/a/b']);
    });

    it('contain only the endpoints of the requested audience', async () => {
      deepEqual(Object.keys((await admin.ask('/v1/openapi?audience=partners')).body.paths), ['/a-b']);
    });
  });

  describe('that describe the admin API itself', () => {
    const document = async () => (await admin.ask('/v1/admin-openapi')).body;

    it('contain every operation', async () => {
      const { paths } = await document();
      const described = Object.values(paths).flatMap((path) => Object.keys(path as object));
      equal(described.length, reading.length);
    });

    it('have a unique name for every operation', async () => {
      const paths = Object.values((await document()).paths) as Record<string, { operationId: string }>[];
      const ids = paths.flatMap((path) => Object.values(path).map(({ operationId }) => operationId));
      equal(new Set(ids).size, reading.length);
      ok(ids.includes('getSchemaByNamespace'));
    });

    it('state the required scope', async () => {
      const { paths } = await document();
      deepEqual(
        ['/live', '/metrics', '/v1/status'].map((path) => paths[path].get.security),
        [[], [{}, { token: ['read'] }], [{ token: ['read'] }]],
      );
    });

    it('describe parameters, bodies and responses', async () => {
      const { paths, components } = await document();
      const schemaOf = ({ content }: { content: Record<string, { schema: { $ref: string } }> }) =>
        components.schemas[content['application/json']!.schema.$ref.split('/').at(-1)!];
      equal(paths['/v1/schema/{namespace}'].get.parameters[0].in, 'path');
      equal(schemaOf(paths['/v1/logging'].put.requestBody).required[0], 'level');
      ok(schemaOf(paths['/v1/status'].get.responses[200]).properties.drift);
      deepEqual(Object.keys(paths['/v1/drain'].post.responses), ['202', '400', '401', '403', '421', '429', '500']);
    });

    it('contain everything that they refer to', async () => {
      const results = await document();
      for (const [, name, kind] of JSON.stringify(results).matchAll(/"\$ref":"#\/components\/((\w+)\/\w+)"/g)) {
        ok(results.components[kind!][name!.split('/')[1]!], name);
      }
    });
  });
});

describe('admin operations that return an object', () => {
  it('return exactly the documented members', async () => {
    const gateway = await startGateway({
      endpoints: [{ endpoint: '/a', backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }] }],
    });
    const admin = await openReading(gateway);
    try {
      for (const { method, path, responses } of reading) {
        const schema = responses[200]?.content?.['application/json'] as { properties?: object } | undefined;
        if (method !== 'GET' || ['/ready', '/v1/token'].includes(path) || !schema?.properties) continue;
        const { body } = await admin.ask(path === '/v1/routes/match' ? `${path}?path=/a` : path);
        deepEqual(Object.keys(body).sort(), Object.keys(schema.properties).sort(), path);
      }
    } finally {
      await admin.close();
      await gateway.close();
    }
  });
});
