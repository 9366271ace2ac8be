import { deepEqual, equal } from 'node:assert/strict';
import { OPENAPI } from '../fixture.ts';
import { imported, operation, spec } from './import-fixture.ts';

const settingsOf = (holder: { extra_config: Record<string, object> }) => holder.extra_config[OPENAPI];

describe('a configuration imported from OpenAPI', () => {
  it('has an endpoint for each operation with the same backend path', () => {
    const { configuration, notes } = imported(spec({ '/users/{id}': { get: operation(), delete: operation() } }));
    deepEqual(notes, []);
    deepEqual(configuration.host, ['http://shop.internal:8080']);
    deepEqual(
      configuration.endpoints.map(({ endpoint, method, backend }: Record<string, unknown>) => [
        endpoint,
        method,
        backend,
      ]),
      ['GET', 'DELETE'].map((method) => ['/users/{id}', method, [{ url_pattern: '/users/{id}' }]]),
    );
    deepEqual([configuration.version, configuration.name], [3, 'shop']);
  });

  it('forwards documented headers and query parameters, and those needed for bodies and tokens', () => {
    const item = {
      parameters: [{ name: 'X-Trace', in: 'header' }],
      post: operation({
        parameters: [{ name: 'page', in: 'query', schema: { type: 'integer' } }],
        requestBody: { content: { 'application/json': {} } },
        security: [{ login: [] }, { key: [] }],
      }),
      get: operation({ security: [{ key: [] }] }),
      put: operation({ security: [{}, { login: [] }] }),
    };
    const { configuration } = imported(
      spec({ '/a': item }, { components: { securitySchemes: { key: { type: 'apiKey', in: 'query', name: 'k' } } } }),
    );
    const lists = configuration.endpoints.map(
      ({ input_headers: headers, input_query_strings: query }: object & Record<string, unknown>) => [headers, query],
    );
    deepEqual(lists, [
      [['X-Trace', 'Authorization', 'Content-Type'], ['page']],
      [['X-Trace'], ['k']],
      [['X-Trace', 'Content-Type'], undefined],
    ]);
  });

  it("calls the document's first server with its variables resolved and its base path", () => {
    const server = {
      url: 'https://{region}.example.com/{base}/',
      variables: { region: { default: 'eu' }, base: { default: 'v1' } },
    };
    const { configuration } = imported(spec({ '/a': { get: operation() } }, { servers: [server] }), {
      baseHost: undefined,
    });
    deepEqual(configuration.host, ['https://eu.example.com']);
    deepEqual(configuration.endpoints[0].backend, [{ url_pattern: '/v1/a' }]);
  });

  it("calls the host given on the command line instead, with the base path of the document's server", () => {
    const document = spec({ '/a': { get: operation() } }, { servers: [{ url: '/v1' }] });
    deepEqual(imported(document).configuration.endpoints[0].backend, [{ url_pattern: '/v1/a' }]);
    deepEqual(imported(document, { baseHost: undefined }).errors, [
      'shop.json: the document names no server: use --base-host',
    ]);
  });

  it('sets the host at each backend whose host differs from the common one', () => {
    const document = spec(
      { '/a': { get: operation() }, '/b': { get: operation({ servers: [{ url: 'http://b.example' }] }) } },
      { servers: [{ url: 'http://a.example' }] },
    );
    const { configuration } = imported(document, { baseHost: undefined });
    deepEqual(
      configuration.endpoints.map(({ backend }: { backend: { host?: string[] }[] }) => backend[0]!.host),
      [undefined, ['http://b.example']],
    );
  });

  it('adds the given prefix to every path, and uses the given output encoding and timeout', () => {
    const { configuration } = imported(spec({ '/a': { get: operation() } }), {
      prefix: '/shop',
      outputEncoding: 'xml',
      timeout: '9s',
    });
    const [{ endpoint, backend }] = configuration.endpoints;
    deepEqual([endpoint, backend[0].url_pattern], ['/shop/a', '/a']);
    deepEqual([configuration.output_encoding, configuration.timeout], ['xml', '9s']);
  });

  it('returns arrays as arrays, and forwards content types other than JSON unchanged', () => {
    const answering = (content: object) => operation({ responses: { 200: { description: 'OK', content } } });
    const { configuration } = imported(
      spec(
        {
          '/list': { get: answering({ 'application/json': { schema: { $ref: '#/components/schemas/List' } } }) },
          '/image': { get: answering({ 'image/png': {} }) },
          '/one': { get: answering({ 'application/hal+json': { schema: { type: 'object' } } }) },
        },
        { components: { schemas: { List: { type: 'array', items: {} } } } },
      ),
    );
    deepEqual(
      configuration.endpoints.map(
        ({ output_encoding: output, backend }: { output_encoding?: string; backend: object[] }) => [output, backend[0]],
      ),
      [
        ['json-collection', { url_pattern: '/list', is_collection: true }],
        ['no-op', { url_pattern: '/image', encoding: 'no-op' }],
        [undefined, { url_pattern: '/one' }],
      ],
    );
  });

  it('keeps the descriptions of the API and its operations', () => {
    const document = spec(
      {
        '/users/{id}': {
          get: operation({
            summary: 'One user',
            description: 'By number.',
            operationId: 'getUser',
            tags: ['users'],
            security: [{ login: [] }],
            parameters: [
              {
                name: 'id',
                in: 'path',
                required: true,
                description: 'Number.',
                schema: { type: 'integer', format: 'int64' },
              },
            ],
            responses: {
              200: {
                description: 'A user.',
                content: { 'application/json': { schema: { $ref: '#/components/schemas/User' } } },
              },
              404: { description: 'None.', content: { 'application/json': { schema: { type: 'string' } } } },
            },
          }),
        },
      },
      {
        info: { title: 'shop', version: '2.0.0', contact: { name: 'Ada' }, license: { name: 'MIT' } },
        tags: [{ name: 'users', description: 'Who.' }],
        components: {
          schemas: {
            User: { type: 'object', properties: { friend: { $ref: '#/components/schemas/User' } } },
            Unused: {},
          },
          securitySchemes: { login: { type: 'http', scheme: 'bearer' } },
        },
      },
    );
    const { configuration } = imported(document);
    deepEqual(settingsOf(configuration), {
      version: '2.0.0',
      contact_name: 'Ada',
      license_name: 'MIT',
      tag_definition: [{ name: 'users', description: 'Who.' }],
      custom_security_schemes: { login: { type: 'http', scheme: 'bearer' } },
      components_schemas: { User: { type: 'object', properties: { friend: { $ref: '#/components/schemas/User' } } } },
    });
    deepEqual(settingsOf(configuration.endpoints[0]), {
      summary: 'One user',
      description: 'By number.',
      operation_id: 'getUser',
      tags: ['users'],
      custom_security_schemes: { login: {} },
      param_definition: [{ name: 'id', description: 'Number.', type: 'integer', format: 'int64' }],
      response_definition: {
        200: { description: 'A user.', content_type: 'application/json', ref: 'User' },
        404: { description: 'None.', content_type: 'application/json', example_schema: { type: 'string' } },
      },
    });
  });

  it('validates bodies with their schemas if requested, including referenced ones', () => {
    const schema = { $ref: '#/components/schemas/Node' };
    const node = {
      type: 'object',
      properties: {
        next: schema,
        size: { type: 'integer', nullable: true, minimum: 0, exclusiveMinimum: true, example: 1 },
      },
    };
    const document = spec(
      { '/a': { post: operation({ requestBody: { content: { 'application/json': { schema } } } }) } },
      { components: { schemas: { Node: node } } },
    );
    equal(imported(document).configuration.endpoints[0].extra_config['validation/json-schema'], undefined);
    deepEqual(
      imported(document, { validate: true }).configuration.endpoints[0].extra_config['validation/json-schema'],
      {
        allOf: [{ $ref: '#/definitions/Node' }],
        definitions: {
          Node: {
            type: 'object',
            properties: {
              next: { $ref: '#/definitions/Node' },
              size: { type: ['integer', 'null'], exclusiveMinimum: 0 },
            },
          },
        },
      },
    );
  });

  it('skips unsupported operations and reports them', () => {
    const { configuration, notes } = imported(
      spec({
        '/a': { head: operation(), options: operation(), trace: operation(), get: operation() },
        '/a?b': { get: operation() },
        '/a:b': { get: operation() },
        '/a*': { get: operation() },
        '/__health': { get: operation() },
        '/{a}{b}': { get: operation() },
      }),
    );
    deepEqual(
      configuration.endpoints.map(({ method }: { method: string }) => method),
      ['OPTIONS', 'GET'],
    );
    deepEqual(notes, [
      'shop.json#/paths/~1a/head: skipped: endpoints have no HEAD',
      'shop.json#/paths/~1a/trace: skipped: endpoints have no TRACE',
      "shop.json#/paths/~1a?b/get: skipped: '?' is not allowed in a path",
      "shop.json#/paths/~1a:b/get: skipped: ':' is not allowed in a path",
      "shop.json#/paths/~1a*/get: skipped: '*' is not allowed in a path",
      'shop.json#/paths/~1__health/get: skipped: the gateway keeps paths that begin with /__ to itself',
      'shop.json#/paths/~1{a}{b}/get: skipped: two placeholders have no text between them',
    ]);
  });

  it('uses one name for path parameters at the same position', () => {
    const { configuration, notes } = imported(
      spec({ '/u/{id}': { get: operation(), put: operation() }, '/u/{user.name}/x/{user.name}': { get: operation() } }),
    );
    const { endpoint, backend } = configuration.endpoints[2];
    deepEqual([endpoint, backend[0].url_pattern], ['/u/{id}/x/{user_name}', '/u/{id}/x/{user_name}']);
    deepEqual(notes, [
      'shop.json#/paths/~1u~1{user.name}~1x~1{user.name}/get: the placeholder {user.name} is renamed to {user_name}',
    ]);
  });

  it('enables placeholders inside path segments if needed, and reports this', () => {
    const { configuration, notes } = imported(spec({ '/file.{extension}': { get: operation() } }));
    equal(configuration.disable_rest, true);
    deepEqual(notes, ['placeholders are used inside path segments: disable_rest is set']);
  });

  it('restores a wildcard from a document that the gateway has exported', () => {
    const parameters = [{ name: 'wildcard', in: 'path', required: true, 'x-wildcard': true }];
    const { configuration } = imported(spec({ '/files/{wildcard}': { get: operation({ parameters }) } }));
    deepEqual(
      [configuration.endpoints[0].endpoint, configuration.endpoints[0].backend[0].url_pattern],
      ['/files/*', '/files/*'],
    );
  });

  it('warns about cookies, objects in the query and duplicate operation IDs', () => {
    const parameters = [
      { name: 'sid', in: 'cookie' },
      { name: 'filter', in: 'query', style: 'deepObject' },
      { name: 'X Bad', in: 'header' },
    ];
    const { notes } = imported(
      spec({
        '/a': { get: operation({ parameters, operationId: 'x' }) },
        '/b': { get: operation({ operationId: 'x' }) },
      }),
    );
    deepEqual(
      notes.map((note) => note.split(': ').slice(1).join(': ')),
      [
        'the cookie \'sid\' is not forwarded: add "Cookie" to input_headers to forward all cookies',
        "'X Bad' is not a valid header name",
        "the members of the query parameter 'filter' must be listed individually",
        'the operationId "x" is omitted, because another operation has it',
      ],
    );
  });

  it('extends a configuration and keeps its endpoints', () => {
    const existing = {
      version: 3,
      name: 'mine',
      host: ['http://mine.internal'],
      endpoints: [{ endpoint: '/a', backend: [{ url_pattern: '/mine' }] }],
      extra_config: { [OPENAPI]: { version: '9.0.0' }, router: {} },
    };
    const { configuration, notes } = imported(spec({ '/a': { get: operation(), post: operation() } }), { existing });
    deepEqual(notes, ['shop.json#/paths/~1a/get: skipped: the configuration already contains this endpoint']);
    deepEqual([configuration.name, configuration.host], ['mine', ['http://mine.internal']]);
    deepEqual(configuration.endpoints[0], existing.endpoints[0]);
    deepEqual(configuration.endpoints[1].backend, [{ url_pattern: '/a', host: ['http://shop.internal:8080'] }]);
    deepEqual(configuration.extra_config, { [OPENAPI]: { version: '9.0.0' }, router: {} });
  });
});

describe('a configuration imported from Swagger 2.0', () => {
  const document = {
    swagger: '2.0',
    info: { title: 'old', version: '1.0.0' },
    host: 'old.example.com',
    basePath: '/v1',
    schemes: ['http', 'https'],
    consumes: ['application/json'],
    produces: ['application/json'],
    securityDefinitions: {
      login: { type: 'basic' },
      flow: { type: 'oauth2', flow: 'accessCode', authorizationUrl: 'https://a', tokenUrl: 'https://t', scopes: {} },
    },
    parameters: { page: { name: 'page', in: 'query', type: 'integer', format: 'int32' } },
    definitions: { User: { type: 'object' } },
    paths: {
      '/users': {
        post: {
          parameters: [
            { $ref: '#/parameters/page' },
            { name: 'user', in: 'body', schema: { $ref: '#/definitions/User' } },
          ],
          responses: {
            200: {
              description: 'OK',
              schema: { $ref: '#/definitions/User' },
              examples: { 'application/json': { a: 1 } },
            },
          },
        },
        put: {
          consumes: ['multipart/form-data'],
          parameters: [
            { name: 'photo', in: 'formData', type: 'file', required: true },
            { name: 'n', in: 'formData', type: 'string', enum: ['a'] },
          ],
          responses: { 200: { description: 'OK' } },
        },
      },
    },
  };

  it("calls the document's host over TLS if possible", () => {
    const { configuration } = imported(document, { baseHost: undefined });
    deepEqual(configuration.host, ['https://old.example.com']);
    equal(configuration.endpoints[0].backend[0].url_pattern, '/v1/users');
  });

  it('keeps parameters, bodies, forms, schemas and security schemes', () => {
    const { configuration } = imported(document);
    const [post, put] = configuration.endpoints.map(settingsOf);
    deepEqual(post, {
      query_definition: [{ name: 'page', type: 'integer', format: 'int32' }],
      request_definition: [{ content_type: 'application/json', ref: 'User' }],
      response_definition: {
        200: { description: 'OK', content_type: 'application/json', ref: 'User', example: { a: 1 } },
      },
    });
    deepEqual(put.request_definition, [
      {
        content_type: 'multipart/form-data',
        example_schema: {
          type: 'object',
          required: ['photo'],
          properties: { photo: { type: 'string', format: 'binary' }, n: { type: 'string', enum: ['a'] } },
        },
      },
    ]);
    const { components_schemas: schemas, custom_security_schemes: schemes } = settingsOf(configuration) as never;
    deepEqual(
      [schemas, schemes],
      [
        { User: { type: 'object' } },
        {
          login: { type: 'http', scheme: 'basic' },
          flow: {
            type: 'oauth2',
            flows: { authorizationCode: { authorizationUrl: 'https://a', tokenUrl: 'https://t', scopes: {} } },
          },
        },
      ],
    );
  });
});
