import { deepEqual, equal, match, notEqual } from 'node:assert/strict';
import { mock } from 'node:test';
import type { Call, ClientRequest, DataObject } from '#contract';
import { clientDigest } from '../../../../plugins/ai/mcp/client-digest.ts';
import { MAX_SESSIONS, Sessions } from '../../../../plugins/ai/mcp/sessions.ts';
import { until } from '../../../support/conditions.ts';
import { json } from '../../../support/gateway.ts';
import { bundledProgram } from '../../../support/programs.ts';
import { configOf, Stage } from './setup.ts';

/** A client that reads the stream of its session. */
async function listen(stage: Stage, headers: Record<string, string>) {
  const leaving = new AbortController();
  const response = await fetch(stage.url, {
    headers: { Accept: 'text/event-stream', ...headers },
    signal: leaving.signal,
  });
  const events: string[] = [];
  const ended = (async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) events.push(chunk);
  })().catch(() => {});
  return { response, events, ended, leave: () => leaving.abort() };
}

describe('sessions of an MCP server', () => {
  let stage: Stage;

  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(() => stage.close());

  it('begin with initialize, are required afterwards, and end with DELETE', async () => {
    await stage.start(json({}));
    const session = await stage.initialize();
    match(session['Mcp-Session-Id']!, /^[0-9a-f-]{36}$/);
    notEqual((await stage.initialize())['Mcp-Session-Id'], session['Mcp-Session-Id']);
    equal((await stage.ask('tools/list', undefined, session)).message.result.tools.length, 1);
    const without = await stage.ask('tools/list');
    deepEqual([without.status, 'id' in without.message], [400, false]);
    equal((await stage.ask('tools/list', undefined, { 'Mcp-Session-Id': 'x' })).status, 404);
    equal((await stage.ask('ping', undefined, { 'Mcp-Session-Id': '__proto__' })).status, 404);
    equal((await stage.send({ method: 'DELETE', headers: session })).status, 200);
    equal((await stage.ask('tools/list', undefined, session)).status, 404);
    equal((await stage.send({ method: 'DELETE', headers: session })).status, 404);
    equal((await stage.send({ method: 'DELETE' })).status, 400);
  });

  it('are not required in the protocol revision without handshakes', async () => {
    await stage.start(json({}));
    const { modern } = await import('./setup.ts');
    equal((await stage.send(modern('tools/list'))).status, 200);
  });

  it('survive a reload that keeps the MCP server, and end with a reload that removes it', async () => {
    await stage.start(json({}));
    const session = await stage.initialize();
    const { url } = stage.backend;
    await stage.gateway.reload(configOf(url, { server: { title: 'Other' }, tool: { name: 'other' } }));
    const { message } = await stage.ask('tools/list', undefined, session);
    equal(message.result.tools[0].name, 'other');
    await stage.gateway.reload({ version: 3, endpoints: [] });
    await stage.gateway.reload(configOf(url));
    await until(async () => (await stage.ask('ping', undefined, session)).status === 404);
  });

  it('have one stream at a time, which DELETE ends', async () => {
    await stage.start(json({}));
    const session = await stage.initialize();
    equal((await stage.send({ method: 'GET' })).status, 400);
    equal((await stage.send({ method: 'GET', headers: { 'Mcp-Session-Id': 'x' } })).status, 404);
    equal((await stage.send({ method: 'GET', headers: { ...session, Accept: 'application/json' } })).status, 406);
    equal((await stage.send({ method: 'GET', headers: { ...session, Origin: 'https://evil.example' } })).status, 403);
    const first = await listen(stage, session);
    equal(first.response.headers.get('content-type'), 'text/event-stream');
    const second = await listen(stage, session);
    await first.ended;
    await stage.send({ method: 'DELETE', headers: session });
    await second.ended;
    await until(() => stage.gateway.status.streams === 0);
  });

  it("keep their stream beyond the endpoint's timeout and across reloads that do not change the endpoint", async () => {
    mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
    await stage.start(json({}), { endpoint: { timeout: '30s' }, server: { ping_period: '20s' } });
    const session = await stage.initialize();
    const client = await listen(stage, session);
    let answered = 0;
    mock.timers.tick(20_000);
    await until(async () => {
      const pings = [...client.events.join('').matchAll(/"id":"(ping-[^"]+)","method":"ping"/g)];
      for (const [, id] of pings.slice(answered)) {
        await stage.send({ headers: session, body: { jsonrpc: '2.0', id, result: {} } });
        answered += 1;
        mock.timers.tick(20_000);
      }
      return answered > 2;
    });
    mock.timers.reset();
    client.leave();
    await until(() => stage.gateway.status.streams === 0);
  });

  it('end if a ping is not answered before the next ping', async () => {
    await stage.start(json({}), { server: { ping_period: '20ms' } });
    const session = await stage.initialize();
    const client = await listen(stage, session);
    await client.ended;
    equal(client.events.join('').match(/"method":"ping"/g)!.length, 1);
    // Only the stream has ended: the session still exists.
    equal((await stage.ask('ping', undefined, session)).status, 200);
  });

  it('do not keep the gateway from closing', async () => {
    await stage.start(json({}));
    const client = await listen(stage, await stage.initialize());
    await stage.gateway.close();
    await client.ended;
  });

  it('end their streams cleanly when the endpoint changes', async () => {
    const reload = { extra_config: { 'admin/reload': { stream_drain: '1ms' } } };
    await stage.start(json({}), { root: reload });
    const session = await stage.initialize();
    const client = await listen(stage, session);
    await stage.gateway.reload(configOf(stage.backend.url, { root: reload, endpoint: { timeout: '6s' } }));
    await client.ended;
    const again = await listen(stage, session);
    equal(again.response.status, 200);
    again.leave();
  });

  it('let the client cancel a running call', async () => {
    let gone = false;
    await stage.start(
      (_seen, response) =>
        void response.once('close', () => {
          gone = true;
        }),
    );
    const session = await stage.initialize();
    const other = await stage.initialize();
    const call = stage.call({ code: 'ES' }, session);
    await until(() => stage.backend.requests.length === 1);
    const cancel = (headers: Record<string, string>, requestId: unknown) =>
      stage.send({ headers, body: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } } });
    await cancel(other, 1);
    await cancel(session, '1');
    equal(gone, false);
    await cancel(session, 1);
    await until(() => gone);
    equal((await call).message.result.isError, true);
  });

  it('are shared by all workers', async function () {
    // The time limit is raised, because worker processes start slowly on a busy machine.
    this.timeout(120_000);
    const program = bundledProgram();
    await stage.start(json({}), { server: { ping_period: '500ms' } }, { workers: { count: 2, program, args: [] } });
    const session = await stage.initialize();
    const listening = await listen(stage, session);
    // Uses a new connection for each request, so that both workers get requests.
    const apart = { ...session, Connection: 'close' };
    for (let at = 0; at < 6; at++) equal((await stage.ask('ping', undefined, apart)).status, 200);
    await until(() => listening.events.join('').includes('"method":"ping"'));
    const [, id] = /"id":"(ping-[^"]+)"/.exec(listening.events.join(''))!;
    await stage.send({ headers: apart, body: { jsonrpc: '2.0', id, result: {} } });
    await until(() => (listening.events.join('').match(/"method":"ping"/g)?.length ?? 0) > 1);
    equal((await stage.send({ method: 'DELETE', headers: apart })).status, 200);
    for (let at = 0; at < 6; at++) equal((await stage.ask('ping', undefined, apart)).status, 404);
    await listening.ended;
  });

  it('belong to the client that opened them; other clients receive 404', async () => {
    const keys = ['alice', 'bob'].map((key) => ({ key, roles: ['user'] }));
    await stage.start(json({}), {
      server: { json_response: true },
      root: { extra_config: { 'auth/api-keys': { keys } } },
      extra: { 'auth/api-keys': { roles: ['user'] } },
    });
    const [alice, bob] = ['alice', 'bob'].map((key) => ({ Authorization: `Bearer ${key}` })) as [object, object];
    const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
    const opened = await stage.ask('initialize', initialize, { ...alice });
    const session = { 'Mcp-Session-Id': opened.headers.get('mcp-session-id')! };
    equal((await stage.ask('ping', undefined, { ...alice, ...session })).status, 200);
    equal((await stage.ask('ping', undefined, { ...bob, ...session })).status, 404);
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    equal((await stage.send({ headers: { ...bob, ...session }, body: cancelled })).status, 404);
    equal((await stage.send({ method: 'GET', headers: { ...bob, ...session } })).status, 404);
    equal((await stage.send({ method: 'DELETE', headers: { ...bob, ...session } })).status, 404);
    equal((await stage.ask('ping', undefined, { ...alice, ...session })).status, 200);
  });

  it('continue when the client refreshes its token', () => {
    const client = { certificate: null } as unknown as ClientRequest;
    const digest = (claims: DataObject | undefined, user?: string) =>
      clientDigest(client, {
        get: ({ name }: { name: string }) => ({ claims, basic_user: user })[name],
      } as unknown as Call);
    const token = { iss: 'https://id.example', sub: 'ada', exp: 1, iat: 0, jti: 'a' };
    equal(digest(token), digest({ ...token, exp: 9, iat: 8, jti: 'b', scope: 'more' }));
    notEqual(digest(token), digest({ ...token, sub: 'bob' }));
    notEqual(digest(token), digest({ ...token, iss: 'https://other.example' }));
    notEqual(digest({ role: 'a', exp: 1 }), digest({ role: 'b', exp: 1 }));
    equal(digest({ role: 'a', exp: 1 }), digest({ role: 'a', exp: 2 }));
    notEqual(digest(undefined, 'ada'), digest(undefined, 'bob'));
    equal(digest(undefined), '');
  });

  describe('with limits', () => {
    it('expire after half an hour without use', () => {
      const sessions = new Sessions();
      const session = sessions.reply({ ask: 'open', version: '2025-06-18', owner: '' }, 0)!;
      const minute = 60_000;
      equal(sessions.reply({ ask: 'version', session, owner: '' }, 29 * minute), '2025-06-18');
      equal(sessions.reply({ ask: 'version', session, owner: '' }, 58 * minute), '2025-06-18');
      equal(sessions.reply({ ask: 'version', session, owner: '' }, 88 * minute), null);
      equal(sessions.size, 0);
    });

    it('evict the least recently used session at the maximum', () => {
      const sessions = new Sessions();
      const open = () => sessions.reply({ ask: 'open', version: '2025-06-18', owner: '' }, 0)!;
      const [first, second] = [open(), open()];
      for (let at = 2; at < MAX_SESSIONS; at++) open();
      sessions.reply({ ask: 'version', session: first, owner: '' }, 0);
      open();
      equal(sessions.size, MAX_SESSIONS);
      equal(sessions.reply({ ask: 'version', session: second, owner: '' }, 0), null);
      equal(sessions.reply({ ask: 'version', session: first, owner: '' }, 0), '2025-06-18');
    });
  });
});
