import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { freePort, until } from '../../support/conditions.ts';
import { json, startBackend } from '../../support/gateway.ts';
import { createFolder, type Folder, sluice, sluiceProcess } from './command.ts';
import { startProcess } from './running.ts';

describe('the command line', function () {
  this.timeout(30_000);
  let folder: Folder;
  const file = (name: string, content: unknown): string => folder.write(name, content);
  const backend = [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }];

  before(() => {
    folder = createFolder();
  });
  after(() => folder.remove());

  describe('with check', () => {
    it('prints Syntax OK! for a valid file and exits 0', async () => {
      const { code, out } = await sluice('check', '-c', file('ok.json', { version: 3, endpoints: [] }));
      equal(code, 0);
      ok(out.endsWith('Syntax OK!\n'));
    });

    it('prints all errors with their pointers and exits 1', async () => {
      const path = file('three.json', {
        version: 3,
        timeout: '2',
        endpoints: [{ endpoint: '/a', method: 'FETCH', backend: [{ url_pattern: '/', hosts: [] }] }],
      });
      const { code, err } = await sluice('check', '-t', '-c', path);
      equal(code, 1);
      for (const pointer of ['/timeout', '/endpoints/0/method', '/endpoints/0/backend/0/hosts']) {
        ok(err.includes(`(${pointer})`), `${pointer} is missing in:\n${err}`);
      }
    });

    it('prints one JSON object with line and column under --format json', async () => {
      const path = file('json.json', '{\n  "version": 3,\n  "prot": 8080\n}');
      const { code, out } = await sluice('check', '-c', path, '--format', 'json');
      equal(code, 1);
      const { valid, errors } = JSON.parse(out);
      equal(valid, false);
      const [{ line, column, pointer, code: name, hint }] = errors;
      deepEqual({ line, column, pointer, name }, { line: 3, column: 3, pointer: '/prot', name: 'SCHEMA_UNKNOWN_KEY' });
      match(hint, /port/);
    });

    it('names both routes of a collision', async () => {
      const path = file('collide.json', {
        version: 3,
        endpoints: [
          { endpoint: '/user/{a}', backend },
          { endpoint: '/user/{b}/some', backend },
        ],
      });
      const { code, err } = await sluice('check', '-t', '-c', path);
      equal(code, 1);
      match(err, /\/user\/\{a\}/);
      match(err, /\/user\/\{b\}\/some/);
    });

    it('names the path of a missing file', async () => {
      const { code, err } = await sluice('check', '-c', folder.path('missing.json'));
      equal(code, 1);
      match(err, /missing\.json: no such file/);
    });

    it('reports the missing flag if no file is given', async () => {
      const { code, err } = await sluice('check');
      equal(code, 2);
      match(err, /-c FILE/);
    });

    it('accepts combined short flags, and YAML files', async () => {
      const path = file('ok.yaml', 'version: 3\nendpoints: []\n');
      equal((await sluice('check', '-tlc', path)).code, 0);
    });

    it('rejects flags that cannot be combined', async () => {
      const { code, err } = await sluice('check', '-l', '-n', '-c', file('ok.json', { version: 3 }));
      equal(code, 2);
      match(err, /cannot be combined/);
    });

    it('validates a file against a given schema with -s', async () => {
      const path = file('linted.json', { version: 3, endpoints: [] });
      const strict = file('schema.json', { type: 'object', required: ['name'] });
      const { code, err } = await sluice('check', '-s', strict, '-c', path);
      equal(code, 1);
      match(err, /must have required property 'name'/);
      equal((await sluice('check', '-s', file('loose.json', { type: 'object' }), '-c', path)).code, 0);
    });

    it('fetches the schema of -s from a URL', async () => {
      const server = await startBackend(json({ type: 'object', required: ['name'] }));
      const path = file('linted.json', { version: 3, endpoints: [] });
      const { code, err } = await sluice('check', '-s', `${server.url}/schema.json`, '-c', path);
      await server.close();
      equal(code, 1);
      match(err, /must have required property 'name'/);
    });

    it('reports a schema that cannot be used', async () => {
      const path = file('linted.json', { version: 3, endpoints: [] });
      const { code, err } = await sluice('check', '-s', folder.path('none.json'), '-c', path);
      equal(code, 1);
      match(err, /ERROR compiling the schema: .*none\.json/);
    });

    it('renders a template and offers no fixes for it', async () => {
      const path = folder.write('template.json', '{"version": {{add 2 1}}, "endpoints": []}');
      process.env.FC_ENABLE = '1';
      process.env.FC_OUT = folder.path('out.json');
      const { code, out } = await sluice('check', '-c', path);
      const migrated = await sluice('migrate', '-c', path).finally(() => {
        delete process.env.FC_ENABLE;
        delete process.env.FC_OUT;
      });
      equal(code, 0);
      match(out, /Rendered from the template only, written to .*out\.json/);
      equal(folder.read('out.json'), '{"version": 3, "endpoints": []}');
      equal(migrated.code, 1);
      match(migrated.err, /is a template or contains environment variables: change it by hand/);
    });

    it('prints the interpreted configuration with -d, with secrets masked', async () => {
      const path = file('print.json', {
        version: 3,
        endpoints: [
          { endpoint: '/a', timeout: '3s', backend, extra_config: { 'qos/ratelimit/router': { max_rate: 1 } } },
        ],
      });
      const { out } = await sluice('check', '-dd', '-c', path);
      match(out, /GET \/a \(timeout 3000ms\)/);
      match(out, /Components: qos\/ratelimit\/router/);
    });
  });

  it('prints its version and that of Node.js', async () => {
    const { code, out } = await sluice('version');
    equal(code, 0);
    match(out, /^Sluice Version: \d+\.\d+\.\d+\n/);
  });

  it('rejects unknown commands and flags with the usage', async () => {
    const command = await sluice('rnu');
    equal(command.code, 2);
    match(command.err, /unknown command "rnu"/);
    const flag = await sluice('check', '--frob');
    equal(flag.code, 2);
    match(flag.err, /--frob/);
  });

  it('prints a schema that contains every plugin', async () => {
    const { code, out } = await sluice('schema');
    equal(code, 0);
    const endpoint = JSON.parse(out).properties.endpoints.items.properties.extra_config.properties;
    ok('validation/json-schema' in endpoint);
    ok('qos/ratelimit/router' in endpoint);
  });

  it('exits with the code of the command, and prints errors to standard error', async () => {
    const { code, out, err } = await sluiceProcess({}, 'rnu');
    deepEqual([code, out], [2, '']);
    match(err, /^unknown command "rnu"; did you mean "run"\?\n/);
  });

  describe('with run', () => {
    const start = (...args: string[]) =>
      startProcess({ GATEWAY_ADMIN_LISTEN: 'off', GATEWAY_STATE_DIR: folder.path('state') }, ...args);

    it('rejects an invalid configuration and opens no port', async () => {
      const { code, err } = await sluice('run', '-c', file('bad.json', { version: 5 }));
      equal(code, 1);
      match(err, /unsupported version: 5/);
    });

    it('serves, offers the debug endpoint under -d, and exits 0 after SIGTERM', async () => {
      const upstream = await startBackend(json({ hello: 'world' }));
      const path = file('run.json', {
        version: 3,
        listen_ip: '127.0.0.1',
        endpoints: [{ endpoint: '/a', backend: [{ host: [upstream.url], url_pattern: '/' }] }],
      });
      const gateway = start('run', '-d', '-p', String(await freePort()), '-c', path);
      const [, listening] = await gateway.printed(/Listening on port: (\d+)/);
      equal(await (await fetch(`http://127.0.0.1:${listening}/a`)).text(), '{"hello":"world"}');
      deepEqual(await (await fetch(`http://127.0.0.1:${listening}/__debug/x`)).json(), { message: 'pong' });
      gateway.kill('SIGTERM');
      equal(await gateway.ended, 0);
      await upstream.close();
    });

    it('exits soon after SIGTERM despite pending timers of a library or plugin', async () => {
      const stray = { NODE_OPTIONS: '--import=data:text/javascript,setInterval(()=>{},60000)' };
      const gateway = startProcess(
        { GATEWAY_ADMIN_LISTEN: 'off', GATEWAY_STATE_DIR: folder.path('state'), ...stray },
        ...['run', '-p', String(await freePort())],
        ...['-c', file('stray.json', { version: 3, listen_ip: '127.0.0.1', endpoints: [] })],
      );
      await gateway.printed(/Listening on port: (\d+)/);
      gateway.kill('SIGTERM');
      equal(await gateway.ended, 0);
    });

    for (const flags of [[], ['--no-watch']]) {
      it(`reloads its file after SIGHUP${flags.length > 0 ? ', even if it does not watch the file' : ''}`, async () => {
        const path = file('hup.json', { version: 3, listen_ip: '127.0.0.1', endpoints: [] });
        const gateway = start('run', '-p', String(await freePort()), '-c', path, ...flags);
        const [, port] = await gateway.printed(/Listening on port: (\d+)/);
        file('hup.json', { version: 3, listen_ip: '127.0.0.1', echo_endpoint: true, endpoints: [] });
        gateway.kill('SIGHUP');
        await until(async () => (await fetch(`http://127.0.0.1:${port}/__echo/`)).status === 200);
        gateway.kill('SIGTERM');
        equal(await gateway.ended, 0);
      });
    }
  });
});
