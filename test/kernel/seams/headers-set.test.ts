import { deepEqual } from 'node:assert/strict';
import { atEndpoint, atService, before as beforeRequest, definePlugin } from '#contract';
import type { Gateway } from '../../../kernel/index.ts';
import { startBackend, type TestBackend } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';

const role = {
  type: 'object',
  properties: { header: { type: 'string', description: 'Its name.', default: 'X-Role' } },
} as const;

/** Sends the role of the client to backends in a configured header. */
const roles = definePlugin({
  name: 'test/roles',
  description: 'Tells backends a role.',
  places: [
    atEndpoint(role, ({ config: { header } }) => ({
      sets: [header],
      proxy: beforeRequest((request) => request.headers.set(header, 'reader')),
    })),
    atService(role, ({ config: { header } }) => ({ sets: [header] })),
  ],
});

describe('headers that a component sets', () => {
  let backend: TestBackend;
  let gateway: Gateway | undefined;

  before(async () => {
    backend = await startBackend(({ headers }, response) => {
      const seen = Object.entries(headers).filter(([name]) => /role|team/.test(name));
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(Object.fromEntries(seen)));
    });
  });
  after(() => backend.close());
  afterEach(() => gateway?.close());

  const seenBy = async (extra: object, service: object = {}) => {
    gateway = await startWith([roles], {
      extra_config: service,
      endpoints: [
        {
          endpoint: '/a',
          input_headers: ['*'],
          extra_config: extra,
          backend: [{ host: [backend.url], url_pattern: '/' }],
        },
      ],
    });
    const headers = { x_role: 'admin', 'x.role': 'admin', 'x-role': 'admin', x_team: 'red' };
    return (await gateway.inject({ url: '/a', headers })).json();
  };

  it('reach the backend without client headers that some backends treat as equal', async () => {
    deepEqual(await seenBy({ 'test/roles': {} }), { 'x-role': 'reader', x_team: 'red' });
  });

  it('are those that its settings name, also at the root', async () => {
    const seen = await seenBy({ 'test/roles': {} }, { 'test/roles': { header: 'X-Team' } });
    deepEqual(seen, { 'x-role': 'reader' });
  });

  it('are protected from similar client headers at its endpoint only', async () => {
    deepEqual(await seenBy({}), { x_role: 'admin', 'x.role': 'admin', 'x-role': 'admin', x_team: 'red' });
  });
});
