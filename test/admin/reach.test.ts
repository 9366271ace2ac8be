import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AdminScope } from '#contract';
import { changing } from '../../admin/operations/changing.ts';
import { reading } from '../../admin/operations/reading.ts';
import { config, openAdmin, type TestAdmin } from './support.ts';

const scopes: readonly AdminScope[] = ['read', 'check', 'write', 'ops', 'secrets'];
const operations = [...changing, ...reading];
/** Operations that end the process or never complete. */
const untried = new Set(['POST /v1/stop', 'GET /v1/events']);

const tokens = scopes.map((id) => ({
  id,
  sha256: createHash('sha256').update(`only-${id}`).digest('hex'),
  scopes: [id],
}));

describe('the admin API, for a token with limited scopes,', () => {
  let directory: string;
  let listener: Server;
  let connections: number;
  let one: TestAdmin;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'sluice-reach-'));
    connections = 0;
    listener = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    listener.listen(0, '127.0.0.1', resolve);
    await promise;
    process.env['REACH_SECRET'] = 'the-value-of-the-environment';
    one = await openAdmin({ ...config(), extra_config: { 'admin/api': { tokens } } }, { token: undefined });
  });
  afterEach(async () => {
    delete process.env['REACH_SECRET'];
    await one.close();
    const { promise, resolve } = Promise.withResolvers<void>();
    listener.close(() => resolve());
    await promise;
    rmSync(directory, { recursive: true });
  });

  const markOf = () => join(directory, 'evaluated');
  const address = () => `http://127.0.0.1:${(listener.address() as { port: number }).port}`;

  /** A configuration that refers to a plugin folder, a plugin package, files, directories, addresses and environment variables. */
  const grasping = (plugin: object, file: string) => ({
    ...config(),
    name: `\${REACH_SECRET} {{ env "REACH_SECRET" }} %{REACH_SECRET}`,
    plugin,
    endpoints: [
      {
        endpoint: '/a',
        extra_config: {
          'auth/validator': { alg: 'RS256', jwk_local_path: file, disable_jwk_security: true },
          'modifier/lua-proxy': { sources: [file], pre: 'f()' },
        },
        backend: [{ host: [address()], url_pattern: '/' }],
      },
      {
        endpoint: '/b',
        extra_config: { 'auth/validator': { alg: 'RS256', jwk_url: `${address()}/keys`, disable_jwk_security: true } },
        backend: [{ host: [address()], url_pattern: '/' }],
      },
      {
        endpoint: '/c',
        backend: [
          { host: [address()], url_pattern: '/', extra_config: { 'backend/static-filesystem': { path: file } } },
        ],
      },
    ],
  });

  const folder = () => {
    const path = join(directory, 'plugins');
    mkdirSync(path, { recursive: true });
    writeFileSync(
      join(path, 'x.mjs'),
      `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(markOf())}, '');\n`,
    );
    return path;
  };

  const ask = (scope: string, method: string, path: string, body?: object) =>
    one.ask(path, { method, token: `only-${scope}`, headers: { 'if-match': '*' }, ...(body && { body }) });

  const run = async (scope: AdminScope, plugin: object, file: string) => {
    const results: string[] = [];
    for (const { method, path, parameters = [], accepts } of operations) {
      if (untried.has(`${method} ${path}`)) continue;
      const at = path.replace(/[:*]([A-Za-z]+)/g, '1');
      const full = parameters.some(({ name }) => name === 'level') ? '?level=full' : '';
      const { status, text } = await ask(scope, method, at + full, accepts && grasping(plugin, file));
      results.push(`${method} ${path} ${status} ${text}`);
    }
    return results;
  };

  for (const scope of ['read', 'check', 'ops', 'secrets'] as const) {
    it(`evaluates no plugin, opens no file, calls no address and reveals no environment variable with any operation that the scope "${scope}" permits`, async () => {
      const file = join(directory, 'file.lua');
      const path = folder();
      for (const plugin of [{ folder: path }, { packages: [path] }, { folder: join(directory, 'nowhere') }]) {
        const missing = await run(scope, plugin, file);
        writeFileSync(file, 'first tokens of a file');
        const there = await run(scope, plugin, file);
        rmSync(file);
        const steady = (results: string[]) =>
          results.filter((line) => /^P\w+ \/v1\/c/.test(line)).map((line) => line.replace(/"requestId":"[^"]*"/, ''));
        deepEqual(steady(there), steady(missing));
        ok(!there.join('\n').includes('first tokens'));
        ok(!there.join('\n').includes('the-value-of-the-environment'));
      }
      deepEqual([existsSync(markOf()), connections, one.gateway.status.revision], [false, 0, 1]);
    });
  }

  it('answers 403 to operations of another scope', async () => {
    for (const scope of scopes) {
      for (const { method, path, scope: needed, openOnLoopback } of operations) {
        if (needed === null || openOnLoopback || untried.has(`${method} ${path}`)) continue;
        const isAllowed = needed === scope || (needed === 'check' && scope === 'write');
        if (isAllowed) continue;
        const { status } = await ask(scope, method, path.replace(/[:*]([A-Za-z]+)/g, '1'), {});
        equal(status, 403, `${scope}: ${method} ${path}`);
      }
    }
  });

  it('lists the files that a check did not read, and reports plugins that are not loaded', async () => {
    const file = join(directory, 'file.lua');
    const { body: refused } = await ask('check', 'POST', '/v1/check', grasping({ folder: folder() }, file));
    deepEqual([refused.errors[0].code, refused.errors[0].pointer], ['PLUGIN_NOT_SERVED', '/plugin']);
    match(refused.errors[0].hint, /scope "write"/);
    const { plugin: _, ...rest } = grasping({}, file);
    const { status, body } = await ask('check', 'POST', '/v1/check', rest);
    deepEqual([status, body.unread], [200, [file]]);
  });

  it('checks a configuration with its plugins and files if one of the scopes is write', async () => {
    const { status, body } = await ask('write', 'POST', '/v1/check', { ...config(), plugin: { folder: folder() } });
    deepEqual([status, body.unread, existsSync(markOf())], [200, [], true]);
    const { plugin: _, ...rest } = grasping({}, join(directory, 'file.lua'));
    equal((await ask('write', 'POST', '/v1/check', rest)).status, 422);
  });

  it('checks configurations with the active plugins', async () => {
    const path = folder();
    writeFileSync(
      join(path, 'x.mjs'),
      `import { atEndpoint, definePlugin } from 'sluice/plugin';
export const plugin = definePlugin({ name: 'acme/x', contract: 1, description: 'x', places: [atEndpoint({ type: 'object', examples: [{}], properties: {} }, () => ({}))] });\n`,
    );
    const named = { ...config(), plugin: { folder: path }, extra_config: { 'admin/api': { tokens } } };
    const { status: put, text } = await ask('write', 'PUT', '/v1/config', named);
    equal(put, 200, text);
    const { status, body } = await ask('check', 'POST', '/v1/check', named);
    deepEqual([status, body.hash], [200, null]);
    equal((await ask('check', 'POST', '/v1/config/diff', named)).body.equal, true);
  });

  it('does not confirm a guessed secret', async () => {
    const withSecret = (key: string) => ({
      ...config(),
      extra_config: { 'admin/api': { tokens }, 'auth/api-keys': { keys: [{ key, roles: ['a'] }] } },
    });
    equal((await ask('write', 'PUT', '/v1/config', withSecret('right-one'))).status, 200);
    for (const guess of ['wrong-one', 'right-one']) {
      const { body } = await ask('check', 'POST', '/v1/config/diff', withSecret(guess));
      deepEqual([body.equal, body.summary.changed], [false, 1], guess);
      equal((await ask('check', 'POST', '/v1/check', withSecret(guess))).body.hash, null);
    }
    equal((await ask('check', 'POST', '/v1/config/diff', withSecret('***'))).body.equal, true);
    equal((await ask('check', 'POST', '/v1/check', withSecret('***'))).body.hash, one.gateway.status.hash);
  });
});
