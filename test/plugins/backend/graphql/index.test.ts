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

/** What the server is sent for a request. */
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
  it('fills in values that are a placeholder as a whole, at the top level, as texts', async () => {
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

  it('case 7: leaves nested values as they are', async () => {
    deepEqual(await variablesOf({ f: { x: '{id}' } }, { params: { Id: '7' } }), { f: { x: '{id}' } });
  });

  it('case 6: fills in nothing of a mutation', async () => {
    deepEqual(await variablesOf({ id: '{id}' }, { params: { Id: '7' } }, 'mutation'), { id: '{id}' });
  });

  it('fills in an empty text for what is missing, names of prototypes too', async () => {
    const variables = { id: '{id}', other: '{constructor}', proto: '{__proto__}' };
    deepEqual(await variablesOf(variables, {}), { id: '', other: '', proto: '' });
  });

  it('fills in parameters and headers of the client, listed or not', async () => {
    const variables = {
      page: '{input_query_strings.page}',
      tenant: '{input_headers.X-Tenant}',
      none: '{input_headers.X}',
    };
    const request = { target: '/?page=2&page=3', headers: { 'X-Tenant': 'acme' } };
    deepEqual(await variablesOf(variables, request), { page: '2', tenant: 'acme', none: '' });
  });

  it('fills in claims of the token', async () => {
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

  it("ignores the client's body for a query, and its headers", async () => {
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

  it('omits variables and the operation if they are not set', async () => {
    equal(await bodyOf(await sent({ type: 'mutation', method: 'POST' }, 'POST /')), '{"query":"{ a }"}');
  });

  it('keeps the digits of numbers in a body, and names that are those of prototypes', async () => {
    const body = '{"__proto__":{"a":1},"id":12345678901234567890,"price":0.10}';
    equal(
      await bodyOf(await sent({ type: 'mutation', method: 'POST' }, { method: 'POST', body })),
      '{"query":"{ a }","variables":{"__proto__":{"a":1},"id":12345678901234567890,"price":0.1}}',
    );
  });

  for (const [what, config, backend, expected] of [
    ['the namespace', { method: 'GET' }, { method: 'POST' }, 'GET'],
    ['the backend', {}, { method: 'GET' }, 'GET'],
    ['the backend, POST', {}, { method: 'POST' }, 'POST'],
    ['neither, where the backend has another one', {}, { method: 'PUT' }, 'POST'],
  ] as const) {
    it(`asks by the method of ${what}`, async () => {
      equal((await sent({ type: 'query', ...config }, 'GET /', { backend })).method, expected);
    });
  }

  it('fails a call whose body breaks off, or is too large', async () => {
    const gate = await openHarness(plugin, 'backend', { type: 'mutation', query, method: 'POST' });
    const send = gate.attached.backend!(() => Reply.data({}));
    const large = streamBody(['x'.repeat(100)]);
    large.restrict(10);
    equal((await send(pipeRequest({ origin: 'http://h', body: large }), new Call())).status, 413);
    const taken = RequestBody.of('x');
    equal((await send(pipeRequest({ origin: 'http://h', body: taken }), new Call())).status, 400);
  });

  it('says in the log what it asks, and how', async () => {
    const log = rememberingLog();
    await openHarness(plugin, 'backend', { type: 'Query', query }, { services: { log } });
    deepEqual(log.lines, ['DEBUG [GraphQL] Operation: query, Method: GET']);
  });

  for (const [what, config, code, pointer] of [
    ['an unknown type', { type: 'subscription', query }, 'GRAPHQL_TYPE', '/type'],
    ['no type', { query }, 'SCHEMA_REQUIRED', ''],
    ['no document', { type: 'query' }, 'SCHEMA_EXACTLY_ONE', ''],
    ['two documents', { type: 'query', query, query_path: 'a' }, 'SCHEMA_EXACTLY_ONE', ''],
    ['an empty document', { type: 'query', query: '' }, 'SCHEMA_RANGE', '/query'],
    ['a file that is not there', { type: 'query', query_path: '/no/such/file' }, 'FILE_UNREADABLE', ''],
    [
      'a file that is empty',
      { type: 'query', query_path: 'test/plugins/backend/graphql/empty.graphql' },
      'GRAPHQL_DOCUMENT',
      '/query_path',
    ],
    ['another method', { type: 'query', query, method: 'PUT' }, 'SCHEMA_ENUM', '/method'],
    ['variables that are a list', { type: 'query', query, variables: [] }, 'SCHEMA_TYPE', '/variables'],
  ] as const) {
    it(`refuses ${what}`, () =>
      rejects(openHarness(plugin, 'backend', config), ({ errors: [error] }: ConfigErrors) => {
        deepEqual([error!.code, error!.pointer], [code, pointer]);
        return true;
      }));
  }

  it('refuses an output that is not decoded', () =>
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
      'a placeholder that is none of the path',
      { type: 'query', query, variables: { 'a/b': '{idd}' } },
      'GRAPHQL_VARIABLE',
      '/variables/a~1b',
    ],
  ] as const) {
    it(`warns of ${what}`, async () => {
      const { warnings } = await openHarness(plugin, 'backend', config, { endpoint });
      deepEqual(
        warnings.map((warning) => [warning.code, warning.pointer]),
        [[code, pointer]],
      );
    });
  }
});
