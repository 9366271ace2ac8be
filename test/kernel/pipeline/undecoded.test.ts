import { deepEqual, equal } from 'node:assert/strict';
import type { AtEndpoint } from '#contract';
import type { Operations } from '../../../kernel/index.ts';
import { startBackend, type TestBackend } from '../../support/gateway.ts';
import { startPlugged } from '../../support/plugged.ts';
import { ask } from '../server/ask.ts';

const bodies: Readonly<Record<string, string>> = {
  '/a': '{"id":1,"a":{"b":1,"c":[1.50, 2]},"x":"\\u00e4"}',
  '/b': ' {"id":2 ,"b":null}\n',
  '/empty': '{}',
  '/blank': '{ }',
  '/null': 'null',
  '/list': '[1,2]',
  '/escape': '{"\\u0061":{"b":2}}',
  '/twice': '{"a":{"b":1},"a":{"c":2},"id":3,"id":4}',
  '/broken': '{"id":1',
  '/long': '{"id":12345678901234567890}',
};
const at = (target: string, fields: object = {}) => ({ url_pattern: target, ...fields });
const details = { extra_config: { 'backend/http': { return_error_details: 'alias' } } };

/** Lists of backends, one list per endpoint. */
const cases: readonly (readonly object[])[] = [
  [at('/a'), at('/b')],
  [at('/b'), at('/a'), at('/long')],
  [at('/empty'), at('/blank')],
  [at('/empty'), at('/a')],
  [at('/null'), at('/a')],
  [at('/null'), at('/null')],
  [at('/none'), at('/a')],
  [at('/none'), at('/none')],
  [at('/none', details), at('/a')],
  [at('/broken'), at('/a')],
  [at('/broken'), at('/empty')],
  [at('/escape'), at('/twice')],
  [at('/list', { is_collection: true }), at('/a')],
  [at('/a', { group: 'g' }), at('/b', { group: 'g' })],
  [at('/a', { encoding: 'string' }), at('/b')],
  [at('/a', { target: 'a' }), at('/b', { mapping: { id: 'b' } })],
  ...[
    { allow: ['a.b', 'x'] },
    { allow: ['none'] },
    { deny: ['a.c', 'id'] },
    { deny: ['id', 'a', 'x', 'b'], group: 'g' },
    { mapping: { a: 'b', id: 'key' } },
    { allow: ['id'], mapping: { id: 'b' }, group: 'g' },
  ].flatMap((rules) => Object.keys(bodies).map((target) => [at(target, rules)])),
];

describe('responses that pass undecoded', () => {
  let backend: TestBackend;
  let gateway: Operations;
  let port: number;

  before(async () => {
    backend = await startBackend(({ target }, response) => {
      const body = bodies[target];
      response.writeHead(body === undefined ? 404 : 200, { 'Content-Type': 'application/json' });
      response.end(body ?? '{"error":1}');
    });
    const reads: AtEndpoint = { readsData: true };
    const endpoints = cases.flatMap((backends, index) => [
      { endpoint: `/passed/${index}`, backend: backends },
      { endpoint: `/decoded/${index}`, backend: backends, extra_config: { test: { act: 'reads' } } },
    ]);
    gateway = await startPlugged({ host: [backend.url], endpoints }, { endpoint: { reads } });
    ({ port } = await gateway.listen());
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  const replyOf = async (path: string) => {
    const { status, headers, text } = await ask(port, `GET ${path}`);
    const { 'content-type': type, 'x-gateway-completed': completed } = headers;
    return { status, type, completed, data: text === '' ? null : JSON.parse(text) };
  };

  for (const [index, backends] of cases.entries()) {
    it(`equal decoded ones: ${JSON.stringify(backends)}`, async () => {
      deepEqual(await replyOf(`/passed/${index}`), await replyOf(`/decoded/${index}`));
    });
  }

  it('are copied byte by byte', async () => {
    equal((await ask(port, 'GET /passed/0')).text, '{"id":2,"a":{"b":1,"c":[1.50, 2]},"x":"\\u00e4","b":null}');
  });
});
