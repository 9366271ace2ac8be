import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installBuilt } from './support/built-package.ts';
import { makeCertificates } from './support/certificates.ts';
import { freePort, until } from './support/conditions.ts';

const run = promisify(execFile);

describe('the built code of the package', function () {
  this.timeout(180_000);
  let home: string;
  let dist: string;

  before(async () => {
    home = await installBuilt();
    dist = join(home, 'node_modules/sluice/dist');
  });
  after(() => rmSync(home, { recursive: true }));

  let end = async (): Promise<unknown[]> => [];
  afterEach(async () => {
    await end();
  });

  /** The last line printed by a program that uses the installed package, parsed as JSON. */
  const outcomeOf = async (source: string): Promise<unknown> => {
    writeFileSync(join(home, 'program.js'), source);
    const { stdout } = await run(process.execPath, ['program.js'], { cwd: home });
    return JSON.parse(stdout.trim().split('\n').at(-1)!);
  };

  const command = (...args: string[]) => run(process.execPath, [join(dist, 'kernel/bin.js'), ...args], { cwd: home });

  it('runs as a command that prints its version and loads its plugins', async () => {
    match((await command('version')).stdout, /^Sluice Version: \d/);
    const config = { version: 3, endpoints: [{ endpoint: '/a', backend: [{ host: ['http://a'], url_pattern: '/' }] }] };
    writeFileSync(join(home, 'gateway.json'), JSON.stringify(config));
    match((await command('check', '-c', 'gateway.json')).stdout, /Syntax OK/);
  });

  it('runs tests of a configuration, with JSON Schema and JMESPath', async () => {
    const endpoints = [{ endpoint: '/a', backend: [{ host: ['http://a'], url_pattern: '/' }] }];
    writeFileSync(join(home, 'gateway.json'), JSON.stringify({ version: 3, endpoints }));
    const backends = { a: { url: '/', response: { body: { id: 1 } } } };
    const expect = { jmespath: { id: 1 }, body_schema: { required: ['id'] }, backends: { a: { calls: 1 } } };
    const tests = [{ name: 'a', request: { path: '/a' }, expect }];
    writeFileSync(join(home, 'tests.json'), JSON.stringify({ backends, tests }));
    match((await command('test', '-c', 'gateway.json', 'tests.json')).stdout, /^1 passed/m);
  });

  it('shares its classes between gateway, plugins and plugin tests', async () => {
    const same = await outcomeOf(`
      import { ConfigError } from 'sluice';
      import * as plugin from 'sluice/plugin';
      import { openHarness } from 'sluice/testing';
      const refusing = plugin.definePlugin({
        name: 'acme/refusing',
        contract: 1,
        description: 'Refuses.',
        places: [plugin.atEndpoint({ type: 'object' }, (site) => { throw site.fault('ACME', '', 'no'); })],
      });
      const error = await openHarness(refusing, 'endpoint', {}).catch((error) => error);
      console.log(JSON.stringify([ConfigError === plugin.ConfigError, error instanceof ConfigError || error.errors?.[0] instanceof ConfigError]));
    `);
    deepEqual(same, [true, true]);
  });

  it('contains the programs of its threads', async () => {
    mkdirSync(join(home, 'plugins'));
    writeFileSync(
      join(home, 'plugins/team.js'),
      `export const plugin = { name: 'team', apiVersion: 1, isolate: true, middleware: () => () => ({ data: { short: true }, isComplete: true }) };`,
    );
    const outcome = await outcomeOf(`
      import { createGateway } from 'sluice';
      const gateway = await createGateway({
        version: 3,
        plugin: { folder: './plugins/' },
        endpoints: [{
          endpoint: '/a',
          backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }],
          extra_config: { 'plugin/middleware': { name: ['team'] } },
        }],
      });
      const { statusCode, body } = await gateway.inject({ url: '/a' });
      await gateway.close();
      process.stdout.write(JSON.stringify([statusCode, JSON.parse(body)]) + '\\n');
      process.exit();
    `);
    deepEqual(outcome, [200, { short: true }]);
  });

  it('parses long YAML on a thread while it serves requests', async () => {
    const outcome = await outcomeOf(`
      import { writeFileSync } from 'node:fs';
      import { createGateway } from 'sluice';
      const write = (path) => writeFileSync('gateway.yaml', [
        'version: 3',
        'endpoints:',
        ...Array.from({ length: 300 }, (_, at) => [
          '- endpoint: /' + path + at,
          '  backend:',
          '  - host: ["http://127.0.0.1:9"]',
          '    url_pattern: /',
          '  extra_config: {proxy: {static: {strategy: always, data: {at: ' + at + '}}}}',
        ].join('\\n')),
      ].join('\\n') + '\\n');
      write('a');
      const gateway = await createGateway('gateway.yaml');
      write('b');
      const { result } = await gateway.reload();
      const threads = process.getActiveResourcesInfo().filter((name) => name === 'Worker').length;
      await gateway.close();
      process.stdout.write(JSON.stringify([result, threads]) + '\\n');
      process.exit();
    `);
    deepEqual(outcome, ['applied', 0]);
  });

  it('prints its schema, and runs the tests of a new plugin', async () => {
    match((await command('schema')).stdout, /"\$schema"/);
    await command('plugin', 'new', 'acme/fresh');
    match((await command('plugin', 'test', 'plugins')).stdout, /pass 1/);
  });

  it('serves with workers, a TypeScript plugin and the admin API', async () => {
    const port = await freePort();
    const admin = `127.0.0.1:${await freePort()}`;
    mkdirSync(join(home, 'workers/plugins'), { recursive: true });
    writeFileSync(
      join(home, 'workers/plugins/greeting.ts'),
      `import { atEndpoint, definePlugin, ConfigError } from 'sluice/plugin';
       export const plugin = definePlugin({
         name: 'acme/greeting', contract: 1, description: 'Greets.',
         places: [atEndpoint({ type: 'object' }, (site) => {
           const isOwn: boolean = site.fault('ACME', '', 'no') instanceof ConfigError;
           return { endpoint: () => () => { throw new Error(\`its own: \${isOwn}\`); } };
         })],
       });`,
    );
    const backend = [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }];
    const config = {
      ...{ version: 3, port, listen_ip: '127.0.0.1', plugin: { folder: './plugins/' } },
      endpoints: [{ endpoint: '/a', backend, extra_config: { 'acme/greeting': {} } }],
    };
    writeFileSync(join(home, 'workers/gateway.json'), JSON.stringify(config));
    const child = spawn(
      process.execPath,
      [join(dist, 'kernel/bin.js'), 'run', '-c', 'gateway.json', '--workers', '2'],
      {
        cwd: join(home, 'workers'),
        env: { ...process.env, GATEWAY_ADMIN_LISTEN: admin, GATEWAY_ADMIN_TOKEN: 'sesame', GATEWAY_STATE_DIR: home },
      },
    );
    let printed = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (printed += text));
    const statusOf = (url: string, headers = {}) =>
      fetch(url, { headers }).then(
        ({ status }) => status,
        () => 0,
      );
    const isServing = async () => (await statusOf(`http://127.0.0.1:${port}/__health`)) === 200;
    end = async () => {
      end = async () => [];
      child.kill('SIGTERM');
      return once(child, 'exit');
    };
    await until(isServing);
    equal(await statusOf(`http://127.0.0.1:${port}/a`), 500);
    await until(() => /its own: true/.test(printed));
    match(printed, /greeting\.ts:6:/);
    await until(async () => (await statusOf(`http://${admin}/v1/status`, { authorization: 'Bearer sesame' })) === 200);
    const [code] = await end();
    equal(code, 0);
  });

  it('has source maps, so that stack traces name the source', async () => {
    writeFileSync(
      join(home, 'wrong.js'),
      `import { atEndpoint, definePlugin } from 'sluice/plugin';
       import { openHarness } from 'sluice/testing';
       const attach = () => { console.log(new Error().stack); process.exit(); };
       const place = atEndpoint({ type: 'object' }, attach);
       await openHarness(definePlugin({ name: 'acme/x', contract: 1, description: 'X.', places: [place] }), 'endpoint', {});`,
    );
    const { stdout } = await run(process.execPath, ['--enable-source-maps', 'wrong.js'], { cwd: home });
    match(stdout, /kernel\/[\w/-]+\.ts:\d+/);
  });

  it('lists the license of every bundled package, and imports none of them', () => {
    const text = readFileSync(join(dist, 'lib/THIRD-PARTY.txt'), 'utf8');
    for (const name of [
      'awilix',
      'chokidar',
      'find-my-way',
      'jsonc-parser',
      'koa',
      'lru-cache',
      'winston',
      'mime-db',
    ]) {
      match(text, new RegExp(`^${name} \\d[\\d.]+ \\([\\w.-]+\\)$`, 'm'));
      for (const file of filesOf('.js')) ok(!file.text.includes(`from "${name}`), `${file.name} imports ${name}`);
    }
  });

  it('contains only ASCII', () => {
    deepEqual(
      filesOf('.js').filter(({ text }) => /[^\0-\x7f]/.test(text)),
      [],
    );
  });

  it('loads few files to serve, and almost none to print its version', async () => {
    const loaded = `
      import { registerHooks } from 'node:module';
      let files = 0;
      registerHooks({ load: (url, context, next) => { if (url.startsWith('file:')) files += 1; return next(url, context); } });
      const listing = () => console.log(JSON.stringify(files));
    `;
    const serving = await outcomeOf(`${loaded}
      const { createGateway } = await import('sluice');
      const backend = [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }];
      const gateway = await createGateway({ version: 3, endpoints: [{ endpoint: '/a', backend }] });
      await gateway.listen();
      await gateway.close();
      listing();
    `);
    ok(Number(serving) < 40, String(serving));
    const version = await outcomeOf(`${loaded}
      process.argv[2] = 'version';
      process.on('exit', listing);
      await import('./node_modules/sluice/dist/kernel/bin.js');
    `);
    ok(Number(version) < 12, String(version));
  });

  it('contains every file that it starts as a program', () => {
    const programs = [
      'config/syntax/large/parse-thread',
      'containment/watchdog-thread',
      'registry/loading/load-watch-thread',
      'registry/isolation/program',
      'cli/plugin/test-hook',
    ];
    for (const path of [
      ...programs.map((name) => `kernel/${name}`),
      'plugins/ai/semantic-cache/onnx/model-thread',
      'plugins/auth/basic/comparison-thread',
    ]) {
      const [, target] = /from '(.*)'/.exec(readFileSync(join(dist, `${path}.js`), 'utf8'))!;
      equal(readdirSync(join(dist, 'lib')).includes(target!.split('/').at(-1)!), true, path);
    }
  });

  it('has thread programs that import no shared modules', () => {
    for (const { name, text } of filesOf('-thread.js')) ok(!text.includes('from "./'), name);
    ok(filesOf('-thread.js').length > 0);
  });

  const filesOf = (end: string) =>
    readdirSync(join(dist, 'lib'))
      .filter((name) => name.endsWith(end))
      .map((name) => ({ name, text: readFileSync(join(dist, 'lib', name), 'utf8') }));

  it('starts without ajv, and without Node.js modules that it does not need', async () => {
    const loaded = await outcomeOf(`
      import { createRequire } from 'node:module';
      import { createGateway } from 'sluice';
      const backend = [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }];
      const gateway = await createGateway({ version: 3, timeout: '2s', endpoints: [{ endpoint: '/a', backend }] });
      await gateway.listen();
      await gateway.close();
      const { cache } = createRequire(import.meta.url);
      console.log(JSON.stringify({
        ajv: Object.keys(cache).filter((file) => /[\\/]ajv[\\/]/.test(file) && !file.includes('ucs2length')),
        checks: Object.keys(cache).some((file) => /checks[\\/]\\w+.cjs$/.test(file)),
        fetch: process.moduleLoadList.includes('NativeModule internal/deps/undici/undici'),
        unused: ['http2', 'https', 'inspector', 'zlib'].filter((name) => process.moduleLoadList.includes('NativeModule ' + name)),
      }));
    `);
    deepEqual(loaded, { ajv: [], checks: true, fetch: false, unused: [] });
  });

  it('contains the modules that it loads on demand: TLS, HTTP/2, compression and decompression with gzip', async () => {
    const certificates = makeCertificates();
    const { certificatePem, privateKeyPem } = certificates.issue('server', certificates.authority('authority'));
    certificates.remove();
    writeFileSync(join(home, 'cert.pem'), certificatePem);
    writeFileSync(join(home, 'key.pem'), privateKeyPem);
    const outcome = await outcomeOf(`
      import { once } from 'node:events';
      import { createServer } from 'node:http';
      import { connect } from 'node:http2';
      import { gunzipSync, gzipSync } from 'node:zlib';
      import { createGateway } from 'sluice';
      const packed = gzipSync(JSON.stringify({ text: 'long '.repeat(1000) }));
      const head = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
      const backend = createServer((_, response) => response.writeHead(200, head).end(packed)).listen(0, '127.0.0.1');
      await once(backend, 'listening');
      const host = ['http://127.0.0.1:' + backend.address().port];
      const gateway = await createGateway({
        version: 3, port: ${await freePort()}, listen_ip: '127.0.0.1',
        tls: { keys: [{ public_key: './cert.pem', private_key: './key.pem' }] },
        endpoints: [{ endpoint: '/a', backend: [{ host, url_pattern: '/', group: 'g' }] }],
      });
      const { port } = await gateway.listen();
      const session = connect('https://127.0.0.1:' + port, { rejectUnauthorized: false });
      const stream = session.request({ ':path': '/a', 'accept-encoding': 'gzip' });
      const [headers] = await once(stream, 'response');
      const chunks = await stream.toArray();
      const { g } = JSON.parse(gunzipSync(Buffer.concat(chunks)));
      session.close();
      await gateway.close();
      backend.close();
      console.log(JSON.stringify([headers[':status'], headers['content-encoding'], g.text.length]));
    `);
    deepEqual(outcome, [200, 'gzip', 5000]);
  });
});
