import { deepEqual, equal, match } from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { json, startBackend, type TestBackend } from '../../../support/gateway.ts';
import { Stage } from './setup.ts';

const named = ['read', 'drop'].map((name) => ({ name, description: name, inputSchema: { type: 'object' } }));
const key = { kty: 'oct', kid: 'k', alg: 'HS256', k: Buffer.from('s'.repeat(32)).toString('base64url') };

function bearer(claims: object): Record<string, string> {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg: 'HS256', kid: 'k' })}.${part(claims)}`;
  return { authorization: `Bearer ${text}.${createHmac('sha256', 's'.repeat(32)).update(text).digest('base64url')}` };
}

describe('tools of upstream MCP servers', () => {
  let stage: Stage;
  let upstream: TestBackend;

  beforeEach(async () => {
    stage = new Stage();
    upstream = await startBackend(({ body }, response) => {
      const { id, method } = JSON.parse(body.toString());
      const results: Record<string, object> = {
        initialize: { protocolVersion: '2025-11-25' },
        'tools/list': { tools: named },
        'tools/call': { content: [{ type: 'text', text: 'done' }] },
      };
      response.writeHead(id === undefined ? 202 : 200, { 'Content-Type': 'application/json' });
      response.end(id === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }));
    });
  });
  afterEach(async () => {
    await stage.close();
    await upstream.close();
  });

  const start = (more: object, extra: object = {}) =>
    stage.start(json({}), {
      server: {
        stateless: true,
        json_response: true,
        upstreams: [{ name: 'far', url: `${upstream.url}/mcp`, ...more }],
      },
      extra,
    });
  const textOf = async (tool: string, headers: Record<string, string> = {}, args: object = {}): Promise<string> =>
    (await stage.call(args, headers, tool)).message.result.content[0].text;
  const sent = () => upstream.requests.filter(({ body }) => body.toString().includes('tools/call')).length;

  it('have a rate limit for each tool: calls beyond the limit return a tool error and do not reach the upstream server', async () => {
    await start({ rate_limits: [{ max_rate: 2, every: '1h' }] });
    const texts = [];
    for (const tool of ['far_read', 'far_read', 'far_read', 'far_drop']) texts.push(await textOf(tool));
    match(texts[2]!, /^too many calls of the tool: try again in \d+ s$/);
    deepEqual([texts[0], texts[1], texts[3], sent()], ['done', 'done', 'done', 3]);
    equal((await stage.call({}, {}, 'far_read')).message.result.isError, true);
  });

  it('have a rate limit for each caller, which applies only to the tools that it names', async () => {
    await start({
      rate_limits: [{ tools: ['dr*'], client_max_rate: 1, every: '1h', strategy: 'header', key: 'X-User' }],
    });
    equal(await textOf('far_drop', { 'x-user': 'ada' }), 'done');
    match(await textOf('far_drop', { 'x-user': 'ada' }), /too many calls/);
    equal(await textOf('far_drop', { 'x-user': 'bob' }), 'done');
    for (let count = 0; count < 3; count++) equal(await textOf('far_read', { 'x-user': 'ada' }), 'done');
  });

  it('count calls beyond the limit of a caller only toward that limit, not toward the limit for all callers', async () => {
    const limit = { max_rate: 2, client_max_rate: 1, every: '1h', strategy: 'header', key: 'X-User' };
    await start({ rate_limits: [limit] });
    for (let count = 0; count < 5; count++) await textOf('far_read', { 'x-user': 'ada' });
    equal(await textOf('far_read', { 'x-user': 'bob' }), 'done');
    match(await textOf('far_read', { 'x-user': 'eve' }), /too many calls/);
  });

  it('are called only if all policies accept the arguments and the claims of the caller', async () => {
    const jwks = await startBackend(json({ keys: [key] }));
    try {
      const policies = [{ tools: ['drop'], expressions: ["tool == 'drop'", 'args.project == claims.project'] }];
      const extra = { 'auth/validator': { alg: 'HS256', jwk_url: jwks.url, disable_jwk_security: true } };
      await start({ policies }, extra);
      const ada = bearer({ project: 'blue' });
      equal(await textOf('far_drop', ada, { project: 'blue' }), 'done');
      equal(await textOf('far_drop', ada, { project: 'red' }), 'the call is not allowed by a policy');
      equal(await textOf('far_drop', ada), 'the call is not allowed by a policy');
      equal(await textOf('far_drop', bearer({}), { project: 'blue' }), 'the call is not allowed by a policy');
      equal(await textOf('far_read', ada), 'done');
      equal(sent(), 2);
    } finally {
      await jwks.close();
    }
  });

  it('do not count calls that a policy rejects toward rate limits', async () => {
    await start({
      policies: [{ expressions: ["'ok' in args"] }],
      rate_limits: [{ max_rate: 1, every: '1h' }],
    });
    for (let count = 0; count < 3; count++) match(await textOf('far_read'), /not allowed/);
    equal(await textOf('far_read', {}, { ok: true }), 'done');
  });

  for (const [what, more, finding] of [
    ['rate limits without a rate', { rate_limits: [{}] }, 'MCP_RATE'],
    ['rate limits of callers without a key', { rate_limits: [{ client_max_rate: 1, strategy: 'header' }] }, 'MCP_RATE'],
    ['periods below a second', { rate_limits: [{ max_rate: 1, every: '10ms' }] }, 'MCP_RATE'],
    ['policies that cannot be compiled', { policies: [{ expressions: ['user == 1'] }] }, 'CEL_NAME'],
    ['programs to start in place of a URL', { url: 'stdio:///bin/sh' }, 'MCP_UPSTREAM'],
    ['file URLs', { url: 'file:///bin/sh' }, 'MCP_UPSTREAM'],
  ] as const) {
    it(`must not have ${what}`, async () => {
      const errors = await start(more).then(
        () => [],
        (error) => error.errors.map(({ code }: { code: string }) => code),
      );
      equal(errors[0], finding);
    });
  }
});
