import { deepEqual, equal } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type Koa from 'koa';
import { before as beforehand, type ClientRequest } from '#contract';
import type { Operations } from '#kernel';
import { forge } from '../../plugins/auth/fixture.ts';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';
import { startPlugged } from '../../support/plugged.ts';
import { ask } from './ask.ts';

const SET = ['x-user', 'x-extracted', 'x-lua', 'x-koa', 'x-component'] as const;
const sample = JSON.parse(readFileSync('samples/tokens/keys.json', 'utf8')).keys[0];
const token = forge({ alg: 'HS256', kid: 'sample' }, { sub: 'ann' }, Buffer.from(sample.k, 'base64url'));

describe('headers that a client lists in Connection', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;
  const seenByKoa: unknown[] = [];

  before(async () => {
    backend = await startBackend(json({}));
    const middleware = async (context: Koa.Context, next: Koa.Next): Promise<void> => {
      seenByKoa.push(context.get('x-user'), context.get('x-own'), context.req.rawHeaders.includes('X-Own'));
      context.req.headers['x-koa'] = 'koa';
      await next();
    };
    const component = beforehand<ClientRequest>((request) => request.headers.set('X-Component', 'component'));
    gateway = await startPlugged(
      {
        extra_config: { test: {} },
        endpoints: [
          {
            endpoint: '/a',
            method: 'POST',
            input_headers: ['*'],
            backend: [{ url_pattern: '/', method: 'POST', host: [backend.url] }],
            extra_config: {
              test: { act: 'set' },
              'auth/validator': {
                alg: 'HS256',
                jwk_local_path: 'samples/tokens/keys.json',
                propagate_claims: [['sub', 'X-User']],
              },
              'modifier/request-body-extractor': {
                operations: [
                  {
                    type: 'header',
                    strategy: 'dotnotation',
                    expression: 'id',
                    target: 'X-Extracted',
                    on_conflict: 'replace',
                  },
                ],
              },
              'modifier/lua-endpoint': { pre: "ctx.load():headers('X-Lua', 'lua')" },
            },
          },
        ],
      },
      { service: { middleware }, endpoint: { set: { endpoint: component } } },
    );
  });
  after(async () => {
    await gateway?.close();
    await backend.close();
  });

  it('are removed before any component runs, but headers of components are kept', async () => {
    const { port } = await gateway!.listen();
    const asked = await ask(port, 'POST /a', {
      headers: {
        Connection: `close, ${SET.join(', ')}, X-Own, Content-Type, Host`,
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        'X-User': 'forged',
        'X-Own': 'own',
        'X-Other': 'other',
      },
      body: '{"id":"7"}',
    });
    equal(asked.status, 200);
    const { headers, body } = backend.requests.at(-1)!;
    deepEqual(
      SET.map((name) => headers[name]),
      ['ann', '7', 'lua', 'koa', 'component'],
    );
    deepEqual(
      [headers['x-own'], headers['x-other'], headers['content-type']],
      [undefined, 'other', 'application/json'],
    );
    equal(String(body), '{"id":"7"}');
    deepEqual(seenByKoa, ['', '', false]);
  });
});
