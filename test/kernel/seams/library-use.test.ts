import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { type Configuration, createGateway, type Gateway } from '../../../kernel/sluice.ts';
import { freePort } from '../../support/conditions.ts';
import { rememberingSinks } from '../../support/gateway.ts';

const run = promisify(execFile);

const configuration = (more: object = {}): Configuration => ({
  version: 3,
  endpoints: [{ endpoint: '/x', backend: [{ host: ['http://127.0.0.1:1'], url_pattern: '/' }] }],
  ...more,
});

describe('listen() of a gateway used as a library', () => {
  let gateway: Gateway;
  const open = async (more: object = {}): Promise<Gateway> => {
    gateway = await createGateway(configuration(more));
    return gateway;
  };
  afterEach(() => gateway.close());

  it('accepts a port and a host that override the configuration', async () => {
    await open({ port: 1, listen_ip: '192.0.2.1' });
    const { port, host } = await gateway.listen({ port: 0, host: '127.0.0.1' });
    equal(host, '127.0.0.1');
    equal((await fetch(`http://127.0.0.1:${port}/__health`)).status, 200);
  });

  it('takes the other settings from the configuration', async () => {
    const port = await freePort();
    await open({ port, listen_ip: '127.0.0.1' });
    deepEqual(await gateway.listen({ host: undefined }), { host: '127.0.0.1', port });
  });

  it('keeps its overrides over a reload with another port', async () => {
    await open({ port: 1 });
    const address = await gateway.listen({ port: 0, host: '127.0.0.1' });
    const { rebound } = await gateway.reload(configuration({ port: await freePort(), listen_ip: '192.0.2.1' }));
    deepEqual(rebound, []);
    deepEqual(await gateway.listen(), address);
  });

  it('rejects another address once it listens, and names the current one', async () => {
    await open();
    const { port } = await gateway.listen({ port: 0, host: '127.0.0.1' });
    deepEqual(await gateway.listen({ port }), { host: '127.0.0.1', port });
    const message = `the gateway already listens on 127.0.0.1:${port}`;
    await rejects(gateway.listen({ port: await freePort() }), { code: 'LISTENING', message });
  });

  it('can be called again after the port was in use', async () => {
    await open();
    const taken = createServer();
    const port = await freePort();
    await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve));
    await rejects(gateway.listen({ port, host: '127.0.0.1' }), { code: 'LISTEN_FAILED' });
    taken.close();
    equal((await gateway.listen({ port: 0, host: '127.0.0.1' })).host, '127.0.0.1');
  });

  const refused: readonly [unknown, RegExp][] = [
    [8080, /^listen\(\) takes an object such as \{ port: 8080, host: '127\.0\.0\.1' \}, not 8080$/],
    [{ prot: 0 }, /^listen\(\) has no option "prot": use port and host$/],
    [{ port: '0' }, /^the port of listen\(\) must be an integer from 0 to 65535, not 0$/],
    [{ port: 65_536 }, /^the port of listen\(\) must be an integer from 0 to 65535, not 65536$/],
    [{ host: 1 }, /^the host of listen\(\) must be a string, not 1$/],
  ];
  for (const [given, message] of refused) {
    it(`rejects ${JSON.stringify(given)}`, async () => {
      await open();
      await rejects(gateway.listen(given as object), { code: 'LISTEN_OPTIONS', message });
    });
  }
});

describe('inject() of a gateway used as a library', () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await createGateway(configuration());
  });
  after(() => gateway.close());

  it('accepts a path or an object', async () => {
    for (const request of ['/__health', { url: '/__health' }, { path: '/__health', method: 'get' as const }])
      equal((await gateway.inject(request)).statusCode, 200);
  });

  const refused: readonly [unknown, RegExp][] = [
    [undefined, /^inject\(\) takes a path such as "\/users\/1" or an object with "url", not undefined$/],
    [['/x'], /^inject\(\) takes a path/],
    [{}, /^inject\(\) needs either "url" or "path"$/],
    [{ url: '/x', path: '/x' }, /^inject\(\) needs either "url" or "path"$/],
    [{ url: 1 }, /^"url" of inject\(\) must be a string such as "\/users\/1", not 1$/],
    [{ url: '/x', method: 'FETCH' }, /^"method" of inject\(\) must be an HTTP method, not FETCH$/],
    [{ url: '/x', headers: 'a: b' }, /^"headers" of inject\(\) must be an object, not a: b$/],
    [{ url: '/x', headers: { a: undefined } }, /^inject\(\): invalid value "undefined" for header a$/],
  ];
  for (const [given, message] of refused) {
    it(`rejects ${given === undefined ? 'undefined' : JSON.stringify(given)}`, async () => {
      await rejects(gateway.inject(given as string), { code: 'INJECT_OPTIONS', message });
    });
  }
});

describe('the log of a gateway used as a library', function () {
  this.timeout(60_000);

  /** Output of a program that serves one request and has one reload rejected. */
  const printed = async (options: object, more: object): Promise<string> => {
    const program = `
      const { createGateway } = await import('./kernel/sluice.ts');
      const gateway = await createGateway(${JSON.stringify(configuration(more))}, ${JSON.stringify(options)});
      const { port } = await gateway.listen({ port: 0, host: '127.0.0.1' });
      await (await fetch('http://127.0.0.1:' + port + '/__health')).text();
      await gateway.reload({ version: 3, endpont: [] }).catch(() => {});
      await gateway.close();`;
    const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '-e', program]);
    return stdout + stderr;
  };

  it('is silent by default', async () => {
    equal(await printed({}, {}), '');
  });

  it('is written if the option enables it', async () => {
    const lines = await printed({ log: true }, {});
    match(lines, /Listening on port/);
    match(lines, /\[GATEWAY\].*\/__health/);
  });

  it('is written to the configured outputs', async () => {
    const lines = await printed({}, { extra_config: { 'telemetry/logging': { level: 'INFO', stdout: true } } });
    match(lines, /Listening on port/);
    match(lines, /\/__health/);
  });

  it('adds one listener to the standard streams, even with many gateways', async () => {
    const count = () => process.stdout.listenerCount('error');
    await (await createGateway(configuration())).close();
    const before = count();
    await (await createGateway(configuration())).close();
    equal(count(), before);
  });

  it('is written to given sinks, unless it is disabled', async () => {
    for (const log of [undefined, false] as const) {
      const sinks = rememberingSinks();
      const gateway = await createGateway(configuration(), { sinks, ...(log === false && { log }) });
      await gateway.listen({ port: 0, host: '127.0.0.1' });
      await gateway.close();
      equal(
        sinks.lines.some((line) => line.includes('Listening on port')),
        log === undefined,
      );
    }
  });
});
