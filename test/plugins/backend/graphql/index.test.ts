import { deepEqual, equal, rejects } from 'node:assert/strict';
import { Call, claimsSlot, type PipeRequest, Reply, RequestBody } from '#contract';
import type { ConfigErrors } from '../../../../kernel/contract/internal.ts';
import { type HarnessOptions, openHarness, type TestRequest } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/backend/graphql/index.ts';
import { plugin as noOp } from '../../../../plugins/encoding/no-op.ts';
import { rememberingLog } from '../../../support/log.ts';
import { pipeRequest, streamBody } from '../http-client.ts';

const query = '{ a }';
const endpoint = { endpoint: '/x/{id}/{nick_name}' };

/** The request that the server receives. */
async function sent(config: object, request: TestRequest, around: HarnessOptions = {}): Promise<PipeRequest> {
  let seen: PipeRequest | undefined;
  const next = (given: PipeRequest) => {
    seen = given;
    return Reply.data({});
  };
  const gate = await openHarness(plugin, 'backend', { query, ...config }, { next, endpoint, ...around });
  await gate.send(request);
  deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  return seen!;
}

const bodyOf = async ({ body }: PipeRequest) => Buffer.from(await body!.bytes()).toString();
const variablesOf = async (variables: object, request: TestRequest, type = 'query') =>
  JSON.parse(await bodyOf(await sent({ type, method: 'POST', variables }, request))).variables;

describe('backend/graphql', () => {
  it('replaces variables that consist of one placeholder, at the top level, with strings', async () => {
    const variables = {
      id: '{id}',
      nick: '{nick_name}',
      around: 'x{id}',
      two: '{id}{id}',
      empty: '',
      braces: '{}',
      number: 7,
      list: ['{id}'],
    };
    deepEqual(await variablesOf(variables, { params: { Id: '7', Nick_name: 'ada' } }), {
      ...variables,
      id: '7',
      nick: 'ada',
    });
  });

  it('leaves nested variables unchanged', async () => {
    deepEqual(await variablesOf({ f: { x: '{id}' } }, { params: { Id: '7' } }), { f: { x: '{id}' } });
  });

  it('replaces no placeholders in a mutation', async () => {
    deepEqual(await variablesOf({ id: '{id}' }, { params: { Id: '7' } }, 'mutation'), { id: '{id}' });
  });

  it('replaces placeholders of missing parameters, including __proto__, with empty strings', async () => {
    const variables = { id: '{id}', other: '{constructor}', proto: '{__proto__}' };
    deepEqual(await variablesOf(variables, {}), { id: '', other: '', proto: '' });
  });

  it('replaces placeholders with query parameters and headers of the client, forwarded or not', async () => {
    const variables = {
      page: '{input_query_strings.page}',
      tenant: '{input_headers.X-Tenant}',
      none: '{input_headers.X}',
    };
    const request = { target: '/?page=2&page=3', headers: { 'X-Tenant': 'acme' } };
    deepEqual(await variablesOf(variables, request), { page: '2', tenant: 'acme', none: '' });
  });

  it('replaces placeholders with claims of the token', async () => {
    const gate = await openHarness(plugin, 'backend', {
      type: 'query',
      method: 'POST',
      query,
      variables: { user: '{JWT.sub}', age: '{JWT.age}', none: '{JWT.x}' },
    });
    const call = new Call();
    call.set(claimsSlot, { sub: 'ada', age: 36 });
    const request = pipeRequest({ origin: 'http://h1' });
    await gate.attached.backend!(() => Reply.data({}))(request, call);
    deepEqual(JSON.parse(await bodyOf(request)).variables, { user: 'ada', age: '36', none: '' });
  });

  it("ignores the client's body and headers for a query", async () => {
    const request = await sent(
      { type: 'query', method: 'POST' },
      {
        method: 'POST',
        body: '{"id":1}',
        headers: { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip', 'Content-Length': '8' },
      },
    );
    equal(await bodyOf(request), '{"query":"{ a }"}');
    deepEqual(request.headers.list, ['Content-Type', 'application/json']);
  });

  it('omits variables and operationName if they are not configured', async () => {
    equal(await bodyOf(await sent({ type: 'mutation', method: 'POST' }, 'POST /')), '{"query":"{ a }"}');
  });

  it('preserves the digits of numbers in a body, and members such as __proto__', async () => {
    const body = '{"__proto__":{"a":1},"id":12345678901234567890,"price":0.10}';
    equal(
      await bodyOf(await sent({ type: 'mutation', method: 'POST' }, { method: 'POST', body })),
      '{"query":"{ a }","variables":{"__proto__":{"a":1},"id":12345678901234567890,"price":0.1}}',
    );
  });

  for (const [what, config, backend, expected] of [
    ['its own configuration', { method: 'GET' }, { method: 'POST' }, 'GET'],
    ['the backend', {}, { method: 'GET' }, 'GET'],
    ['the backend if that is POST', {}, { method: 'POST' }, 'POST'],
    ["the default, POST, if the backend's method is neither GET nor POST", {}, { method: 'PUT' }, 'POST'],
  ] as const) {
    it(`sends requests with the method of ${what}`, async () => {
      equal((await sent({ type: 'query', ...config }, 'GET /', { backend })).method, expected);
    });
  }

  it("fails if the client's body is incomplete or too large", async () => {
    const gate = await openHarness(plugin, 'backend', { type: 'mutation', query, method: 'POST' });
    const send = gate.attached.backend!(() => Reply.data({}));
    const large = streamBody(['x'.repeat(100)]);
    large.restrict(10);
    equal((await send(pipeRequest({ origin: 'http://h', body: large }), new Call())).status, 413);
    const taken = RequestBody.of('x');
    equal((await send(pipeRequest({ origin: 'http://h', body: taken }), new Call())).status, 400);
  });

  it('logs the operation and method at DEBUG', async () => {
    const log = rememberingLog();
    await openHarness(plugin, 'backend', { type: 'Query', query }, { services: { log } });
    deepEqual(log.lines, ['DEBUG [GraphQL] Operation: query, Method: GET']);
  });

  for (const [what, config, code, pointer] of [
    ['an unknown type', { type: 'subscription', query }, 'GRAPHQL_TYPE', '/type'],
    ['a missing type', { query }, 'SCHEMA_REQUIRED', ''],
    ['a missing document', { type: 'query' }, 'SCHEMA_EXACTLY_ONE', ''],
    ['two documents', { type: 'query', query, query_path: 'a' }, 'SCHEMA_EXACTLY_ONE', ''],
    ['an empty document', { type: 'query', query: '' }, 'SCHEMA_RANGE', '/query'],
    ['a file that does not exist', { type: 'query', query_path: '/no/such/file' }, 'FILE_UNREADABLE', '/query_path'],
    [
      'an empty file',
      { type: 'query', query_path: 'test/plugins/backend/graphql/empty.graphql' },
      'GRAPHQL_DOCUMENT',
      '/query_path',
    ],
    ['a method other than GET and POST', { type: 'query', query, method: 'PUT' }, 'SCHEMA_ENUM', '/method'],
    ['a list as variables', { type: 'query', query, variables: [] }, 'SCHEMA_TYPE', '/variables'],
  ] as const) {
    it(`rejects ${what}`, () =>
      rejects(openHarness(plugin, 'backend', config), ({ errors: [error] }: ConfigErrors) => {
        deepEqual([error!.code, error!.pointer], [code, pointer]);
        return true;
      }));
  }

  it('rejects the no-op output encoding', () =>
    rejects(
      openHarness(
        plugin,
        'backend',
        { type: 'query', query },
        { endpoint: { output_encoding: 'no-op' }, plugins: [noOp] },
      ),
      { code: 'CONFIG_INVALID' },
    ));

  for (const [what, config, code, pointer] of [
    ['a mutation over GET', { type: 'mutation', query, method: 'GET' }, 'GRAPHQL_MUTATION_GET', ''],
    [
      'a placeholder that the path does not define',
      { type: 'query', query, variables: { 'a/b': '{idd}' } },
      'GRAPHQL_VARIABLE',
      '/variables/a~1b',
    ],
  ] as const) {
    it(`warns about ${what}`, async () => {
      const { warnings } = await openHarness(plugin, 'backend', config, { endpoint });
      deepEqual(
        warnings.map((warning) => [warning.code, warning.pointer]),
        [[code, pointer]],
      );
    });
  }
});
