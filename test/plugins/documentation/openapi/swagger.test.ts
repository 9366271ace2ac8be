import { deepEqual, equal } from 'node:assert/strict';
import type { DataObject } from '#contract';
import { describeApi } from '../../../../plugins/documentation/openapi/export/describe-api.ts';
import { documentFault } from '../../../../plugins/documentation/openapi/export/meta-schema.ts';
import { toSwagger } from '../../../../plugins/documentation/openapi/export/to-swagger.ts';
import { configOf, type Document, documented, endpoint, OPENAPI, validate } from '../fixture.ts';

/** A configuration exported to Swagger 2.0, and its warnings. */
async function inSwagger(endpoints: object[], service: object = {}): Promise<[Document, string[]]> {
  const config = configOf(endpoints, { extra_config: { [OPENAPI]: service } });
  const warnings: string[] = [];
  const document: DataObject = toSwagger(describeApi(config, { everyHeader: true }).document, (message) => {
    warnings.push(message);
  });
  equal(await documentFault(document), null);
  await validate(document);
  return [JSON.parse(JSON.stringify(document)), warnings];
}

describe('an exported Swagger 2.0 document', () => {
  it('has host, basePath and schemes', async () => {
    const [{ host, basePath, schemes }, warnings] = await inSwagger([], {
      host: 'api.example.com',
      base_path: '/v1',
      schemes: ['https', 'http'],
    });
    deepEqual([host, basePath, schemes, warnings], ['api.example.com', '/v1', ['https', 'http'], []]);
    const [, told] = await inSwagger([], { servers: [{ url: 'https://a.example' }, { url: 'https://b.example' }] });
    deepEqual(told, ['Swagger 2.0 supports one address only: the document contains the first server']);
  });

  it('describes parameters with types, including bodies and headers', async () => {
    const schema = { type: 'object', properties: { a: { type: ['string', 'null'] } } };
    const one = endpoint(
      '/u/{id}',
      { method: 'POST', input_headers: ['Accept'], input_query_strings: ['page'] },
      { 'validation/json-schema': schema },
    );
    const [{ paths }] = await inSwagger([one]);
    deepEqual(paths['/u/{id}'].post.parameters, [
      { name: 'id', in: 'path', required: true, type: 'string' },
      { name: 'page', in: 'query', required: false, type: 'string' },
      { name: 'Accept', in: 'header', required: false, type: 'string' },
      {
        name: 'body',
        in: 'body',
        required: true,
        schema: { type: 'object', properties: { a: { type: 'string', 'x-nullable': true } } },
      },
    ]);
    deepEqual(
      [paths['/u/{id}'].post.consumes, paths['/u/{id}'].post.produces],
      [['application/json'], ['application/json']],
    );
  });

  it('references definitions, and contains examples by media type', async () => {
    const one = documented('/a', {
      response_definition: { 200: { ref: 'User', example: { id: 1 } } },
    });
    const [{ paths, definitions }] = await inSwagger([one], { components_schemas: { User: { type: 'object' } } });
    deepEqual(definitions, { User: { type: 'object' } });
    deepEqual(paths['/a'].get.responses['200'], {
      description: 'OK',
      schema: { $ref: '#/definitions/User' },
      examples: { 'application/json': { id: 1 } },
    });
  });

  it('contains supported security schemes, and warns about others', async () => {
    const flow = { tokenUrl: 'https://id.example.com', scopes: { read: 'Read.' } };
    const [{ paths, securityDefinitions }, warnings] = await inSwagger(
      [
        documented('/a', { custom_security_schemes: { Key: {}, Login: {}, Bearer: {}, Basic: {}, Cookie: {} } }),
        documented('/b', { custom_security_schemes: { Cookie: {} }, operation_id: 'b' }),
      ],
      {
        custom_security_schemes: {
          Key: { type: 'apiKey', in: 'query', name: 'k' },
          Login: { type: 'oauth2', flows: { clientCredentials: flow } },
          Bearer: { type: 'http', scheme: 'bearer' },
          Basic: { type: 'http', scheme: 'basic' },
          Cookie: { type: 'apiKey', in: 'cookie', name: 'c' },
        },
      },
    );
    deepEqual(securityDefinitions, {
      Key: { type: 'apiKey', in: 'query', name: 'k' },
      Login: { type: 'oauth2', flow: 'application', tokenUrl: flow.tokenUrl, scopes: flow.scopes },
      Bearer: { type: 'apiKey', in: 'header', name: 'Authorization' },
      Basic: { type: 'basic' },
    });
    deepEqual(
      [paths['/a'].get.security, paths['/b'].get.security],
      [[{ Key: [], Login: [], Bearer: [], Basic: [] }], undefined],
    );
    deepEqual(warnings, [
      'Swagger 2.0 cannot express the security scheme "Cookie"',
      'Swagger 2.0 cannot express the security requirements of b',
    ]);
  });
});
