import { deepEqual, equal, match, ok } from 'node:assert/strict';
import sdk from '@har-sdk/validator';
import { collectionOf, environmentOf } from '../../../../plugins/documentation/postman/collection.ts';
import { configOf, type Document, endpoint, OPENAPI } from '../fixture.ts';

const POSTMAN = 'documentation/postman';
const validator = { alg: 'HS256', jwk_local_path: 'samples/tokens/keys.json' };

/** A collection that is valid for its schema. */
async function collected(
  endpoints: object[],
  settings: object = {},
  more: object = {},
  internal = false,
): Promise<Document> {
  const config = configOf(endpoints, { extra_config: { [POSTMAN]: settings }, ...more });
  const collection = JSON.parse(JSON.stringify(collectionOf(config, internal)));
  deepEqual(await new sdk.PostmanValidator().verify(collection), []);
  return collection;
}

/** Names of items; folders with their items. */
function outline(items: Document[]): unknown[] {
  return items.map(({ name, item }) => (item ? { [name]: outline(item) } : name));
}

const inFolder = (path: string, folder: string, more: object = {}) =>
  endpoint(path, {}, { [POSTMAN]: { folder, ...more } });

describe('a Postman collection', () => {
  it('has an item for each common method of an endpoint that serves every method', async () => {
    const { item } = await collected([endpoint('/a', { method: 'ANY' }), endpoint('/a', { method: 'DELETE' })]);
    deepEqual(
      item.map(({ request }: Document) => request.method),
      ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    );
  });

  it('has an item for an endpoint without documentation', async () => {
    const { item } = await collected([endpoint('/users/{id}')]);
    const [{ name, request }] = item;
    equal(name, 'id');
    deepEqual(request.url, {
      raw: '{{SCHEMA}}://{{HOST}}:{{PORT}}/users/:id',
      protocol: '{{SCHEMA}}',
      host: ['{{HOST}}'],
      port: '{{PORT}}',
      path: ['users', ':id'],
      variable: [{ key: 'id', value: '' }],
    });
  });

  it('nests folders and describes declared ones', async () => {
    const { item } = await collected([inFolder('/new', '/Books/New')], {
      folder: [{ name: '/Books', description: 'To read.' }],
    });
    deepEqual(outline(item), [{ Books: [{ New: ['new'] }] }]);
    deepEqual([item[0].description, item[0].item[0].description], ['To read.', undefined]);
  });

  it('lists declared folders first, then other folders, then items without a folder', async () => {
    const { item } = await collected(
      [
        endpoint('/z'),
        inFolder('/one', 'Used'),
        inFolder('/two', 'B'),
        inFolder('/three', 'A/Deep'),
        inFolder('/four', 'Used', { name: 'one' }),
      ],
      { folder: [{ name: 'A' }, { name: 'B' }] },
    );
    deepEqual(outline(item), [{ A: [{ Deep: ['three'] }] }, { B: ['two'] }, { Used: ['one', 'one'] }, 'z']);
  });

  it('has a name, description, version and an ID derived from its name', async () => {
    const { info } = await collected([endpoint('/a')], { name: 'Shop', description: 'All.', version: '10.2.1' });
    deepEqual([info.name, info.description, info.version], ['Shop', 'All.', '10.2.1']);
    match(info._postman_id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    equal((await collected([endpoint('/a')], {}, { name: 'Shop' })).info._postman_id, info._postman_id);
    equal((await collected([endpoint('/a')])).info.name, 'Untitled');
  });

  it('lists query parameters and headers as disabled', async () => {
    const { item } = await collected([
      endpoint('/a', { input_query_strings: ['page', '*'], input_headers: ['X-Trace', '*'] }),
    ]);
    const { url, header } = item[0].request;
    deepEqual(url.query, [{ key: 'page', value: '', disabled: true }]);
    equal(url.raw, '{{SCHEMA}}://{{HOST}}:{{PORT}}/a?page=');
    deepEqual(header, [{ key: 'X-Trace', value: '', disabled: true }]);
  });

  it('is reproducible', () => {
    const config = configOf([endpoint('/a'), inFolder('/b', 'B')]);
    equal(JSON.stringify(collectionOf(config, true)), JSON.stringify(collectionOf(config, true)));
  });

  it("contains a request body that matches the endpoint's validator", async () => {
    const schema = {
      type: 'object',
      required: ['name', 'other'],
      properties: {
        name: { type: 'string' },
        size: { type: 'integer' },
        kind: { enum: ['a', 'b'] },
        on: { type: 'boolean' },
        preset: { type: 'string', default: 'x' },
        list: { type: 'array', items: { $ref: '#/definitions/Item' } },
        either: { oneOf: [{ type: 'number' }] },
        all: { allOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: { const: 1 } } }] },
      },
      definitions: { Item: { type: 'object', properties: { id: { type: ['null', 'integer'] } } } },
    };
    const { item } = await collected([endpoint('/a', { method: 'POST' }, { 'validation/json-schema': schema })]);
    const { raw, mode, options } = item[0].request.body;
    deepEqual([mode, options], ['raw', { raw: { language: 'json' } }]);
    match(raw, /"name": ""/);
    deepEqual(JSON.parse(raw), {
      name: '',
      size: 0,
      kind: 'a',
      on: false,
      preset: 'x',
      list: [{ id: 0 }],
      either: 0,
      all: { a: '', b: 1 },
      other: '',
    });
  });

  it('resolves references in example bodies, and contains null only where the schema intends it', async () => {
    const schema = {
      properties: {
        user: { $ref: '#/definitions/user%20id' },
        first: { $ref: '#/definitions/either/anyOf/1' },
        none: { type: 'string', default: null },
        anchor: { $ref: '#user' },
      },
      definitions: { 'user id': { type: 'integer' }, either: { anyOf: [{ type: 'string' }, { type: 'boolean' }] } },
    };
    const { item } = await collected([endpoint('/a', { method: 'PUT' }, { 'validation/json-schema': schema })]);
    deepEqual(JSON.parse(item[0].request.body.raw), { user: 0, first: false, none: null, anchor: null });
  });

  it('contains a bounded example for a recursive schema', async () => {
    const schema = {
      properties: { a: { $ref: '#' }, b: { $ref: '#' }, c: { $ref: '#/definitions/x' } },
      definitions: { x: { $ref: '#/definitions/x' } },
    };
    const { item } = await collected([endpoint('/a', { method: 'PUT' }, { 'validation/json-schema': schema })]);
    ok(item[0].request.body.raw.length < 500_000);
  });

  it('prefers a configured example, and contains no body for GET', async () => {
    const written = { request_definition: [{ content_type: 'application/json', example: { id: 7 } }] };
    const { item } = await collected([
      endpoint('/a', { method: 'PATCH' }, { 'validation/json-schema': { type: 'object' }, [OPENAPI]: written }),
      endpoint('/b'),
      endpoint('/c', { method: 'POST' }),
    ]);
    deepEqual(JSON.parse(item[0].request.body.raw), { id: 7 });
    equal(item[1].request.body, undefined);
    equal(item[2].request.body.raw, '');
  });

  it('uses variables for tokens, passwords and keys, and contains no secrets', async () => {
    const config = configOf([
      endpoint('/token', {}, { 'auth/validator': validator }),
      endpoint('/cookie', {}, { 'auth/validator': { ...validator, cookie_key: 'jwt' } }),
    ]);
    const [token, cookie] = config.endpoints;
    const keys = { ...token!, extra_config: { 'auth/api-keys': { roles: [] } } };
    const basic = { ...token!, extra_config: { 'auth/basic': { users: { ada: 'very-secret' } } } };
    const secret = {
      ...config,
      endpoints: [token!, cookie!, keys, basic],
      extra_config: { 'auth/api-keys': { identifier: 'X-Key', keys: [{ key: 'very-secret' }] } },
    };
    const { item } = collectionOf(secret, false) as Document;
    deepEqual(
      item.map(({ request }: Document) => request.auth),
      [
        { type: 'bearer', bearer: [{ key: 'token', value: '{{TOKEN}}', type: 'string' }] },
        undefined,
        {
          type: 'apikey',
          apikey: [
            { key: 'key', value: 'X-Key', type: 'string' },
            { key: 'value', value: '{{API_KEY}}', type: 'string' },
            { key: 'in', value: 'header', type: 'string' },
          ],
        },
        {
          type: 'basic',
          basic: [
            { key: 'username', value: '{{USER}}', type: 'string' },
            { key: 'password', value: '{{PASSWORD}}', type: 'string' },
          ],
        },
      ],
    );
    deepEqual(item[1].request.header, [{ key: 'Cookie', value: 'jwt={{TOKEN}}' }]);
    const environment = environmentOf(secret) as Document;
    deepEqual(
      environment.values.map(({ key, value }: Document) => [key, value]),
      [
        ['HOST', 'localhost'],
        ['PORT', '8080'],
        ['SCHEMA', 'http'],
        ['TOKEN', ''],
        ['USER', ''],
        ['PASSWORD', ''],
        ['API_KEY', ''],
      ],
    );
    equal(JSON.stringify([item, environment]).includes('very-secret'), false);
  });

  it('uses the configured port and scheme', async () => {
    const tls = { keys: [{ public_key: 'a.pem', private_key: 'a.key' }] };
    const { variable } = await collected([endpoint('/a')], {}, { port: 8443, tls });
    deepEqual(
      variable.map(({ key, value }: Document) => [key, value]),
      [
        ['HOST', 'localhost'],
        ['PORT', '8443'],
        ['SCHEMA', 'https'],
      ],
    );
  });

  it("contains the gateway's own endpoints only if requested", async () => {
    const more = { debug_endpoint: true, echo_endpoint: true };
    deepEqual(outline((await collected([endpoint('/a'), endpoint('/__catchall')], {}, more)).item), ['a']);
    deepEqual(outline((await collected([endpoint('/a')], {}, more, true)).item), [
      { Internal: ['debug', 'echo', 'health'] },
      'a',
    ]);
  });

  it('represents wildcards and placeholders inside path segments as variables', async () => {
    const { item } = await collected([endpoint('/files/*'), endpoint('/{a}-{b}')], {}, { disable_rest: true });
    deepEqual(item[0].request.url.path, ['files', ':wildcard']);
    deepEqual(item[1].request.url.path, ['{{a}}-{{b}}']);
  });
});
