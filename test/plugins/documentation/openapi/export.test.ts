import { deepEqual, equal, match } from 'node:assert/strict';
import { describeApi } from '../../../../plugins/documentation/openapi/export/describe-api.ts';
import {
  configOf,
  type Document,
  describedAs,
  documented,
  endpoint,
  OPENAPI,
  operationOf,
  validate,
} from '../fixture.ts';

/** Parameters as name, location and whether they are required. */
function parameters(operation: { parameters?: { name: string; in: string; required: boolean }[] }) {
  return (operation.parameters ?? []).map(({ name, in: where, required }) => [name, where, required]);
}

describe('the exported OpenAPI document', () => {
  it('describes an endpoint without documentation', async () => {
    const document = describedAs(configOf([endpoint('/users/{id}')]));
    const { get } = document.paths['/users/{id}'];
    deepEqual(parameters(get), [['id', 'path', true]]);
    deepEqual(Object.keys(get.responses), ['200', '500']);
    equal(get.operationId, 'GET/users/{id}');
    await validate(document);
  });

  it('has the version 3.0.3 or 3.1, and the name of the gateway', () => {
    const named = describedAs(configOf([], { name: 'shop' }));
    deepEqual([named.openapi, named.info], ['3.0.3', { title: 'shop', version: '1.0.0' }]);
    const unnamed = describedAs(configOf([]), { version: '3.1' });
    deepEqual([unnamed.openapi, unnamed.info.title], ['3.1.0', 'Untitled']);
  });

  it('contains the contact and the license, which needs a name', () => {
    const told = (settings: object) => describedAs(configOf([], { extra_config: { [OPENAPI]: settings } })).info;
    deepEqual(
      told({
        version: '2.0.0',
        description: 'All of it.',
        terms_of_service: 'https://example.com/terms',
        contact_name: 'Ada',
        contact_email: 'ada@example.com',
        contact_url: 'https://example.com',
        license_name: 'MIT',
        license_url: 'https://example.com/mit',
      }),
      {
        title: 'Untitled',
        description: 'All of it.',
        termsOfService: 'https://example.com/terms',
        contact: { name: 'Ada', url: 'https://example.com', email: 'ada@example.com' },
        license: { name: 'MIT', url: 'https://example.com/mit' },
        version: '2.0.0',
      },
    );
    deepEqual(told({ license_url: 'https://example.com/mit' }), { title: 'Untitled', version: '1.0.0' });
  });

  it('derives its server from host, base path and schemes by default', () => {
    const servers = (settings: object) => describedAs(configOf([], { extra_config: { [OPENAPI]: settings } })).servers;
    deepEqual(servers({ host: 'api.example.com', base_path: '/v1/', schemes: ['https', 'http'] }), [
      { url: 'https://api.example.com/v1' },
      { url: 'http://api.example.com/v1' },
    ]);
    deepEqual(servers({ host: 'api.example.com' }), [{ url: 'http://api.example.com' }]);
    equal(servers({ schemes: ['https'] }), undefined);
    deepEqual(
      servers({
        host: 'api.example.com',
        servers: [{ url: 'https://{region}.example.com/{base}', variables: { region: 'eu', base: { default: 'v1' } } }],
      }),
      [
        {
          url: 'https://{region}.example.com/{base}',
          variables: { region: { default: 'eu' }, base: { default: 'v1' } },
        },
      ],
    );
  });

  it('contains the tags of the root and of each endpoint, in order', () => {
    const settings = { tag_definition: [{ name: 'b', description: 'Second.' }, { name: 'a' }] };
    const document = describedAs(
      configOf([documented('/a', { tags: ['b', 'a'], summary: 'A', description: 'All.' })], {
        extra_config: { [OPENAPI]: settings },
      }),
    );
    deepEqual(document.tags, [{ name: 'b', description: 'Second.' }, { name: 'a' }]);
    const { tags, summary, description } = document.paths['/a'].get;
    deepEqual([tags, summary, description], [['b', 'a'], 'A', 'All.']);
  });

  it('is reproducible, with paths in the order of the endpoints', () => {
    const config = configOf([endpoint('/b'), endpoint('/a'), endpoint('/b', { method: 'POST' })]);
    const text = JSON.stringify(describeApi(config).document);
    equal(text, JSON.stringify(describeApi(config).document));
    deepEqual(Object.keys(JSON.parse(text).paths), ['/b', '/a']);
  });

  it('combines the methods of a path, in lowercase', () => {
    const { paths } = describedAs(configOf([endpoint('/a'), endpoint('/a', { method: 'DELETE' })]));
    deepEqual(Object.keys(paths['/a']), ['get', 'delete']);
  });

  it('describes an endpoint that serves every method under each common method that has no endpoint of its own', async () => {
    const document = describedAs(
      configOf([
        documented('/a/{id}', { operation_id: 'all' }, { method: 'ANY' }),
        endpoint('/a/{name}', { method: 'PUT' }),
        endpoint('/a/{id}', { method: 'OPTIONS' }),
      ]),
    );
    deepEqual(Object.keys(document.paths), ['/a/{id}']);
    const operations = document.paths['/a/{id}'];
    deepEqual(
      Object.entries(operations).map(([method, { operationId }]: [string, Document]) => [method, operationId]),
      [
        ['get', 'allGET'],
        ['post', 'allPOST'],
        ['patch', 'allPATCH'],
        ['delete', 'allDELETE'],
        ['put', 'PUT/a/{name}'],
        ['options', 'OPTIONS/a/{id}'],
      ],
    );
    await validate(document);
  });

  it('omits endpoints with the method QUERY, with a warning', async () => {
    const config = configOf([endpoint('/a'), endpoint('/a', { method: 'QUERY' })]);
    const { document, warnings } = describeApi(config, {});
    deepEqual(Object.keys((document['paths'] as Document)['/a']), ['get']);
    deepEqual(
      warnings.map(({ pointer }) => pointer),
      ['/endpoints/1/method'],
    );
  });

  it('combines paths that differ only in parameter names', () => {
    const { paths } = describedAs(configOf([endpoint('/u/{id}'), endpoint('/u/{name}', { method: 'PUT' })]));
    deepEqual(Object.keys(paths), ['/u/{id}']);
    deepEqual(parameters(paths['/u/{id}'].put), [['id', 'path', true]]);
  });

  it('omits endpoints that the gateway answers itself', () => {
    const { paths } = describedAs(configOf([endpoint('/b'), endpoint('/__catchall')]));
    deepEqual(Object.keys(paths), ['/b']);
  });

  it('can be limited to an audience', () => {
    const config = configOf([
      documented('/gold', { audience: ['gold'] }),
      documented('/both', { audience: ['gold', 'silver'] }),
      documented('/all', { audience: ['*'] }),
      endpoint('/silent'),
    ]);
    const paths = (audience?: string) => Object.keys(describedAs(config, { audience }).paths);
    deepEqual(paths('silver'), ['/both', '/all']);
    deepEqual(paths(), ['/gold', '/both', '/all', '/silent']);
  });

  it('is empty for an audience without endpoints, with a warning', () => {
    const { document, warnings } = describeApi(configOf([endpoint('/a')]), { audience: 'nobody' });
    deepEqual(document['paths'], {});
    deepEqual(
      warnings.map(({ message }) => message),
      ['no endpoint has the audience "nobody"'],
    );
  });

  it('describes a wildcard as a path parameter with x-wildcard', () => {
    const document = describedAs(configOf([endpoint('/files/{kind}/*')]));
    const { get } = document.paths['/files/{kind}/{wildcard}'];
    deepEqual(
      get.parameters.map((each: Record<string, unknown>) => [each['name'], each['x-wildcard']]),
      [
        ['kind', undefined],
        ['wildcard', true],
      ],
    );
  });
});

describe('the parameters of an operation', () => {
  it('are path parameters, query parameters and headers, except headers that OpenAPI describes elsewhere', () => {
    const one = endpoint('/u/{id}', {
      input_query_strings: ['page', '*'],
      input_headers: ['X-Trace', 'authorization', 'Content-Type', 'Accept'],
    });
    deepEqual(parameters(operationOf(one)), [
      ['id', 'path', true],
      ['page', 'query', false],
      ['X-Trace', 'header', false],
    ]);
    match(operationOf(one).description, /All query parameters/);
  });

  it('contain their documented properties', () => {
    const one = documented(
      '/u/{id}',
      {
        param_definition: [{ name: 'id', description: 'Number.', type: 'integer', format: 'int64', example: 7 }],
        query_definition: [
          { name: 'page', type: 'integer', required: true },
          { name: 'tags', type: 'array', enum: ['a', 'b'] },
        ],
        header_definition: [{ name: 'x-trace', description: 'Trace.', enum: ['on', 'off'] }],
      },
      { input_query_strings: ['page', 'tags'], input_headers: ['X-Trace'] },
    );
    deepEqual(operationOf(one).parameters, [
      {
        name: 'id',
        in: 'path',
        description: 'Number.',
        required: true,
        schema: { type: 'integer', format: 'int64' },
        example: 7,
      },
      { name: 'page', in: 'query', required: true, schema: { type: 'integer' } },
      {
        name: 'tags',
        in: 'query',
        required: false,
        schema: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
      },
      {
        name: 'X-Trace',
        in: 'header',
        description: 'Trace.',
        required: false,
        schema: { type: 'string', enum: ['on', 'off'] },
      },
    ]);
  });

  it('can have several examples', () => {
    const one = documented('/u/{id}', { param_definition: [{ name: 'id', examples: { one: 1, two: { value: 2 } } }] });
    deepEqual(operationOf(one).parameters[0].examples, { one: { value: 1 }, two: { value: 2 } });
  });

  it('describe float and date-time as formats', () => {
    const one = documented(
      '/a',
      { query_definition: ['float', 'date-time'].map((type) => ({ name: type, type })) },
      { input_query_strings: ['float', 'date-time'] },
    );
    deepEqual(
      operationOf(one).parameters.map(({ schema }: { schema: object }) => schema),
      [
        { type: 'number', format: 'float' },
        { type: 'string', format: 'date-time' },
      ],
    );
  });

  it('can be hidden, except path parameters, and settings of hidden ones without effect are reported', () => {
    const settings = {
      param_definition: [{ name: 'id', required: false, hide: true }, { name: 'nope' }],
      query_definition: [{ name: 'page', hide: true }],
      header_definition: [{ name: 'X-Nope' }],
    };
    const config = configOf([documented('/u/{id}', settings, { input_query_strings: ['page'] })]);
    const { document, warnings } = describeApi(config);
    deepEqual(parameters(Object.values(document['paths'] as never as { get: object }[])[0]!.get), [
      ['id', 'path', true],
    ]);
    const at = '/endpoints/0/extra_config/documentation~1openapi';
    deepEqual(warnings, [
      { pointer: `${at}/param_definition/0/required`, message: 'path parameters cannot be optional' },
      { pointer: `${at}/param_definition/0/hide`, message: 'path parameters cannot be excluded' },
      { pointer: `${at}/param_definition/1/name`, message: "the endpoint has no path parameter 'nope'" },
      { pointer: `${at}/header_definition/0/name`, message: "the endpoint has no header parameter 'X-Nope'" },
    ]);
  });
});

describe('the request body of an operation', () => {
  const schema = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } };
  const definitions = [
    { content_type: 'application/json', example: { name: 'Ada' }, description: 'Who.' },
    { content_type: 'application/xml', example_schema: { type: 'string' } },
  ];

  it("has the validator's schema in preference to the documented one", () => {
    const one = endpoint(
      '/a',
      { method: 'POST' },
      {
        'validation/json-schema': schema,
        [OPENAPI]: {
          request_definition: [
            { ...definitions[0], example_schema: { type: 'array' }, example: undefined },
            definitions[1],
          ],
        },
      },
    );
    deepEqual(operationOf(JSON.parse(JSON.stringify(one))).requestBody, {
      description: 'Who.',
      required: true,
      content: { 'application/json': { schema }, 'application/xml': { schema: { type: 'string' } } },
    });
  });

  it('has only the documented schema if validators are omitted', () => {
    const one = endpoint(
      '/a',
      { method: 'POST' },
      {
        'validation/json-schema': schema,
        [OPENAPI]: { request_definition: definitions },
      },
    );
    deepEqual(Object.keys(operationOf(one, {}, { fromValidators: false }).requestBody.content), [
      'application/json',
      'application/xml',
    ]);
    deepEqual(operationOf(one, {}, { fromValidators: false }).requestBody.content['application/json'], {
      example: { name: 'Ada' },
    });
  });

  it('has any type for methods with a body, and is absent for others', () => {
    deepEqual(operationOf(endpoint('/a', { method: 'PUT' })).requestBody, { content: { '*/*': {} } });
    equal(operationOf(endpoint('/a')).requestBody, undefined);
    equal(operationOf(endpoint('/a', { method: 'DELETE' })).requestBody, undefined);
    const settings = { request_definition: [{ content_type: 'application/json' }] };
    deepEqual(operationOf(documented('/a', settings, { method: 'DELETE' })).requestBody, {
      content: { 'application/json': {} },
    });
  });
});

describe('the responses of an operation', () => {
  for (const [output, types] of [
    ['json', ['application/json']],
    ['fast-json', ['application/json']],
    ['json-collection', ['application/json']],
    ['yaml', ['application/yaml']],
    ['xml', ['application/xml']],
    ['string', ['text/plain']],
    ['no-op', ['*/*']],
    ['sse', ['text/event-stream']],
    ['ndjson', ['application/x-ndjson']],
    ['negotiate', ['application/json', 'application/xml', 'application/yaml', 'text/plain']],
  ] as const) {
    it(`have the content types ${types.join(', ')} with the output ${output}`, () => {
      const { responses } = operationOf(endpoint('/a', { output_encoding: output }));
      deepEqual(Object.keys(responses['200'].content), types);
    });
  }

  it('are the documented ones in addition to 200 and 500', () => {
    const one = documented('/a', {
      response_definition: {
        404: { description: 'none', content_type: 'application/json', example: { e: 1 } },
        '@note': 'a comment',
      },
    });
    const { responses } = operationOf(one);
    deepEqual(responses['404'], { description: 'none', content: { 'application/json': { example: { e: 1 } } } });
    deepEqual(Object.keys(responses), ['200', '404', '500']);
  });

  it('can have several media types for one status', async () => {
    const list = [{ content_type: 'application/json', ref: 'User' }, { content_type: 'text/csv', example: 'id' }, {}];
    const one = documented('/a', { response_definition: { 200: [{ description: 'Users.' }, ...list], 204: [] } });
    const more = { extra_config: { [OPENAPI]: { components_schemas: { User: { type: 'object' } } } } };
    const { responses } = operationOf(one, more);
    deepEqual(responses['200'], {
      description: 'Users.',
      content: {
        'application/json': { schema: { $ref: '#/components/schemas/User' } },
        'text/csv': { example: 'id' },
      },
    });
    deepEqual(responses['204'], { description: 'No Content' });
    await validate(describedAs(configOf([one], more)));
  });

  it('replace generated responses with the same status; the reason phrase is their default description', () => {
    const one = documented('/a', {
      response_definition: { 200: { ref: 'User' }, 204: {}, default: { example_schema: { type: 'string' } } },
    });
    const more = { extra_config: { [OPENAPI]: { components_schemas: { User: { type: 'object' } } } } };
    deepEqual(operationOf(one, more).responses, {
      200: { description: 'OK', content: { 'application/json': { schema: { $ref: '#/components/schemas/User' } } } },
      204: { description: 'No Content' },
      500: { description: 'Internal Server Error' },
      default: { description: 'Any other response', content: { 'application/json': { schema: { type: 'string' } } } },
    });
  });

  it('of a WebSocket are 101 instead of 200', () => {
    const { document } = describeApi({
      ...configOf([]),
      endpoints: [{ ...configOf([endpoint('/a', { method: 'POST' })]).endpoints[0]!, extra_config: { websocket: {} } }],
    });
    const { get } = (document['paths'] as Record<string, { get: { responses: object } }>)['/a']!;
    deepEqual(Object.keys(get.responses), ['101', '500']);
  });

  it('contain the example that the legacy field configures', () => {
    deepEqual(operationOf(documented('/a', { example: { id: 1 } })).responses['200'].content, {
      'application/json': { example: { id: 1 } },
    });
  });

  it('include those of components that can reject requests', () => {
    const statuses = (components: object, method = 'POST') =>
      Object.keys(operationOf(endpoint('/a', { method }, components)).responses);
    const validator = { alg: 'HS256', jwk_local_path: 'samples/tokens/keys.json' };
    deepEqual(statuses({ 'auth/validator': validator }), ['200', '401', '403', '500']);
    deepEqual(statuses({ 'qos/ratelimit/router': { max_rate: 1 } }), ['200', '429', '500']);
    deepEqual(statuses({ 'validation/json-schema': { type: 'object' } }), ['200', '400', '500']);
  });

  it('are only the documented ones if configured at the endpoint or the root', () => {
    const disabled = { disable_default_response_definitions: true };
    const { responses } = operationOf(documented('/a', { ...disabled, response_definition: { 201: {} } }));
    deepEqual(Object.keys(responses), ['201']);
    const all = { extra_config: { [OPENAPI]: disabled } };
    deepEqual(Object.keys(operationOf(endpoint('/a'), all).responses), ['default']);
  });
});
