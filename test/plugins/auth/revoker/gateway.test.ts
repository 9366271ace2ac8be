import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import type { Operations } from '#kernel';
import { createFolder, sluice } from '../../../kernel/cli/command.ts';
import { startCommand } from '../../../kernel/cli/running.ts';
import { makeCertificates } from '../../../support/certificates.ts';
import { freePort, until } from '../../../support/conditions.ts';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';
import { bundledProgram } from '../../../support/programs.ts';
import { issue, makeKeyFiles, makeSigner, type Signer } from '../fixture.ts';

const program = bundledProgram();
const key = 'shared-secret';
const authorization = `Bearer ${key}`;

describe('a gateway with auth/revoker', function () {
  this.timeout(60_000);
  const files = makeKeyFiles();
  const gateways: Operations[] = [];
  let signer: Signer;
  let path: string;
  let backend: TestBackend;
  const sized = { N: 1000, P: 1e-6, hash_name: 'optimal', TTL: 600 };

  before(async () => {
    signer = await makeSigner('HS256');
    path = files.write({ keys: [signer.jwk] });
    backend = await startBackend(json({ ok: true }));
  });
  after(async () => {
    await backend.close();
    files.remove();
  });
  afterEach(async () => {
    for (const one of gateways.splice(0)) await one.close();
  });

  const config = (port: number, revoker: object = {}, validator: object = {}) => ({
    version: 3,
    extra_config: {
      'auth/revoker': { ...sized, port, token_keys: ['jti', 'sub'], revoke_server_api_key: key, ...revoker },
    },
    endpoints: [
      {
        endpoint: '/a',
        extra_config: { 'auth/validator': { alg: 'HS256', jwk_local_path: path, ...validator } },
        backend: [{ host: [backend.url], url_pattern: '/' }],
      },
      { endpoint: '/open', backend: [{ host: [backend.url], url_pattern: '/' }] },
    ],
  });
  const start = async (...given: Parameters<typeof startGateway>) => {
    const gateway = await startGateway(...given);
    gateways.push(gateway);
    return gateway;
  };
  const statusOf = async (gateway: Operations, claims: object, url = '/a') =>
    (await gateway.inject({ url, headers: { authorization: `Bearer ${await issue(signer, claims)}` } })).statusCode;
  const add = async (port: number, ...elems: string[]) => {
    const body = JSON.stringify({ elems });
    equal(
      (await fetch(`http://127.0.0.1:${port}/add`, { method: 'POST', headers: { authorization }, body })).status,
      200,
    );
  };

  it('rejects revoked tokens on endpoints with auth/validator only, before it checks roles', async () => {
    const port = await freePort();
    const sinks = rememberingSinks();
    const gateway = await start(config(port, {}, { roles: ['admin'], operation_debug: true }), { sinks });
    equal(await statusOf(gateway, { jti: 'abc' }), 403);
    await add(port, 'jti-abc');
    deepEqual([await statusOf(gateway, { jti: 'abc' }), await statusOf(gateway, { jti: 'abc' }, '/open')], [401, 200]);
    equal(await statusOf(gateway, { jti: 'def', roles: ['admin'] }), 200);
    const text = sinks.lines.join('\n');
    ok(text.includes("token refused: the check 'revoked' rejected it"), text);
    equal(text.includes('abc'), false);
  });

  it('keeps revocations across a reload, even if the port changes, and drops them if the filter size changes', async () => {
    const [port, other] = [await freePort(), await freePort()];
    const gateway = await start(config(port));
    await add(port, 'jti-abc');
    await gateway.reload({ ...config(port), name: 'another' });
    equal(await statusOf(gateway, { jti: 'abc' }), 401);
    await gateway.reload(config(other));
    equal(await statusOf(gateway, { jti: 'abc' }), 401);
    await add(other, 'jti-def');
    equal(await statusOf(gateway, { jti: 'def' }), 401);
    await gateway.reload(config(other, { N: 2000 }));
    equal(await statusOf(gateway, { jti: 'abc' }), 200);
  });

  it('fails to start and to reload if the port is in use', async () => {
    const port = await freePort();
    await start(config(port));
    const refused = await startGateway(config(port)).catch((error) => error as Error);
    match((refused as Error).message, /address already in use/);
    const gateway = await start(config(0));
    await gateway.reload(config(port)).then(
      () => ok(false),
      (error) => match(error.message, /address already in use/),
    );
    equal(await statusOf(gateway, { jti: 'abc' }), 200);
  });

  it('rejects revoked tokens in every worker, including one that starts later', async () => {
    const port = await freePort();
    const gateway = await start(config(port), { workers: { count: 2, program, args: [] } });
    const url = `http://127.0.0.1:${(await gateway.listen()).port}/a`;
    const headers = { authorization: `Bearer ${await issue(signer, { jti: 'abc' })}` };
    const askAll = async () => {
      const agents = Array.from({ length: 8 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
      const statuses = await Promise.all(
        agents.map(async (agent) => {
          const [response] = await once(get(url, { agent, headers }), 'response');
          response.resume();
          await once(response, 'end');
          return response.statusCode as number;
        }),
      );
      for (const agent of agents) agent.destroy();
      return new Set(statuses);
    };
    deepEqual(await askAll(), new Set([200]));
    await add(port, 'jti-abc');
    await until(async () => !(await askAll()).has(200));
    const { pid } = gateway.processes.workers[0]!;
    process.kill(pid!, 'SIGKILL');
    await until(() => gateway.processes.workers[0]!.pid !== pid && gateway.processes.converged);
    deepEqual(await askAll(), new Set([401]));
  });

  describe('with a revoke server', () => {
    const folder = createFolder();
    after(() => folder.remove());

    const serverConfig = (extra: object = {}, root: object = {}) => ({
      version: 3,
      port: 0,
      listen_ip: '127.0.0.1',
      extra_config: { 'auth/revoker': { ...config(0).extra_config['auth/revoker'], ...extra } },
      ...root,
    });
    let running: ReturnType<typeof startCommand> | undefined;
    afterEach(async () => {
      running?.kill('SIGTERM');
      equal(await running?.ended, running && 0);
      running = undefined;
    });
    const serve = async (document: object = serverConfig()): Promise<number> => {
      const file = folder.write('revoker.json', document);
      running = startCommand({}, 'revoker', '-c', file);
      return Number((await running.printed(/ on port (\d+)/))[1]);
    };
    const ask = async (
      port: number,
      method: string,
      target: string,
      body?: unknown,
      headers: object = { authorization },
    ) => {
      const answer = await fetch(`http://127.0.0.1:${port}${target}`, {
        method,
        headers: headers as Record<string, string>,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      return [answer.status, text === '' ? null : JSON.parse(text)];
    };
    const pinging = (server: number, more: object = {}) => ({
      revoke_server_ping_url: `http://127.0.0.1:${server}/instances`,
      revoke_server_ping_interval: '1s',
      ...more,
    });

    it('revokes tokens and lists revocations for clients with the API key', async () => {
      const server = await serve();
      deepEqual(await ask(server, 'POST', '/tokens/sub/jimmy'), [200, { instances: 0, failed: 0 }]);
      deepEqual(await ask(server, 'GET', '/tokens/sub/jimmy'), [200, null]);
      deepEqual(await ask(server, 'GET', '/tokens/sub/other'), [404, null]);
      for (const headers of [{}, { authorization: 'Bearer other' }, { authorization: `Basic ${key}` }]) {
        equal((await ask(server, 'GET', '/tokens/sub/jimmy', undefined, headers))[0], 401);
        equal((await ask(server, 'POST', '/tokens/sub/eve', undefined, headers))[0], 401);
        equal((await ask(server, 'GET', '/instances', undefined, headers))[0], 401);
      }
      equal((await ask(server, 'GET', '/tokens/sub/jimmy', undefined, { authorization: `bearer ${key}` }))[0], 200);
      equal((await ask(server, 'GET', '/tokens/sub/eve'))[0], 404);
      equal((await ask(server, 'GET', '/__health', undefined, {}))[0], 200);
    });

    it('accepts slashes and lists as values, and rejects invalid values', async () => {
      const server = await serve();
      equal((await ask(server, 'POST', '/tokens/sub/a%2Fb%20c'))[0], 200);
      equal((await ask(server, 'GET', '/tokens/sub/a%2Fb%20c'))[0], 200);
      equal((await ask(server, 'GET', '/tokens/sub/a'))[0], 404);
      deepEqual(await ask(server, 'POST', '/tokens', ['jti-1', 'jti-2']), [200, { instances: 0, failed: 0 }]);
      equal((await ask(server, 'GET', '/tokens/jti/2'))[0], 200);
      for (const [target, body] of [
        ['/tokens', { elems: ['a'] }],
        ['/tokens', [1]],
        ['/tokens', 'x'],
        ['/instances', []],
        ['/instances', { name: 'a', port: 0 }],
        ['/instances', { name: 'a', port: 1, address: 'a/b' }],
        ['/instances', { name: 1, port: 1 }],
      ] as const) {
        equal((await ask(server, 'POST', target, body))[0], 400, JSON.stringify(body));
      }
      for (const target of ['/tokens/sub', '/tokens/sub/', '/tokens/a/b/c', '/tokens/a/%zz']) {
        ok(((await ask(server, 'POST', target))[0] as number) >= 300, target);
      }
      equal((await ask(server, 'DELETE', '/instances/nobody'))[0], 404);
    });

    it('sends revocations to every gateway, and earlier revocations to a gateway that registers later', async () => {
      const server = await serve();
      const first = await start(config(0, pinging(server)));
      await until(async () => ((await ask(server, 'GET', '/instances'))[1] as object[]).length === 1);
      deepEqual(await ask(server, 'POST', '/tokens/jti/abc'), [200, { instances: 1, failed: 0 }]);
      equal(await statusOf(first, { jti: 'abc' }), 401);
      const second = await start(config(0, pinging(server)));
      await until(async () => (await statusOf(second, { jti: 'abc' })) === 401);
      deepEqual(await ask(server, 'POST', '/tokens/jti/def'), [200, { instances: 2, failed: 0 }]);
      deepEqual([await statusOf(first, { jti: 'def' }), await statusOf(second, { jti: 'def' })], [401, 401]);
    });

    it('restores the revocations of a restarted gateway', async () => {
      const server = await serve();
      const port = await freePort();
      const before = await start(config(port, pinging(server)));
      await until(async () => ((await ask(server, 'GET', '/instances'))[1] as object[]).length === 1);
      await ask(server, 'POST', '/tokens/jti/abc');
      await before.close();
      // Revocations that were sent during the outage are lost, too.
      deepEqual(await ask(server, 'POST', '/tokens/jti/def'), [200, { instances: 1, failed: 1 }]);
      const after = await start(config(port, pinging(server)));
      await until(async () => (await statusOf(after, { jti: 'abc' })) === 401);
      await until(async () => (await statusOf(after, { jti: 'def' })) === 401);
    });

    it('retries as configured, and removes gateways from its list that do not respond or were deleted', async () => {
      const server = await serve(serverConfig({ revoke_server_ping_interval: '60s', revoke_server_max_retries: 2 }));
      let requested = 0;
      const gone = await startBackend((_seen, response) => {
        requested++;
        response.writeHead(500).end();
      });
      const port = Number(new URL(gone.url).port);
      deepEqual(await ask(server, 'POST', '/instances', { name: 'gone', port }), [200, { complete: false }]);
      equal(requested, 3);
      deepEqual(await ask(server, 'POST', '/tokens/jti/abc'), [200, { instances: 1, failed: 1 }]);
      equal(requested, 6);
      const [, [instance]] = (await ask(server, 'GET', '/instances')) as [number, { id: string; name: string }[]];
      deepEqual([instance!.id, instance!.name], [`127.0.0.1:${port}`, 'gone']);
      equal((await ask(server, 'DELETE', `/instances/${encodeURIComponent(instance!.id)}`))[0], 204);
      deepEqual(await ask(server, 'GET', '/instances'), [200, []]);
      running?.kill('SIGTERM');
      await running?.ended;
      const impatient = await serve(serverConfig({ revoke_server_ping_interval: '1s' }));
      await ask(impatient, 'POST', '/instances', { name: 'silent', port });
      await until(async () => ((await ask(impatient, 'GET', '/instances'))[1] as object[]).length === 0);
      await gone.close();
    });

    it('serves TLS if configured', async () => {
      const certificates = makeCertificates();
      const authority = certificates.authority('authority');
      const { certificate, privateKey } = certificates.issue('server', authority);
      const tls = { keys: [{ public_key: certificate, private_key: privateKey }] };
      const server = await serve(serverConfig({}, { tls }));
      const gateway = await start({
        ...config(0, { ...pinging(server), revoke_server_ping_url: `https://localhost:${server}/instances` }),
        client_tls: { ca_certs: [authority.certificate] },
      });
      equal(await statusOf(gateway, { jti: 'abc' }), 200);
      const plain = await fetch(`http://127.0.0.1:${server}/__health`).then(
        ({ status }) => status,
        () => 0,
      );
      ok(plain !== 200);
      certificates.remove();
    });

    it('does not start without a configuration file, an API key or auth/revoker in the file', async () => {
      equal((await sluice('revoker')).code, 2);
      const without = folder.write('without.json', { version: 3, endpoints: [] });
      match((await sluice('revoker', '-c', without)).err, /no auth\/revoker/);
      const keyless = folder.write('keyless.json', serverConfig({ revoke_server_api_key: undefined }));
      const { code, err } = await sluice('revoker', '-c', keyless);
      equal(code, 1);
      match(err, /revoke_server_api_key/);
    });
  });
});
