import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Operations } from '#kernel';
import { ConfigText, type GatewayEvent, type Refusal } from '#kernel';
import type { GatewayOptions } from '../../../kernel/sluice.ts';
import { silentSinks } from '../../../kernel/testing/index.ts';
import { makeCertificates } from '../../support/certificates.ts';
import { freePort } from '../../support/conditions.ts';
import { json, openGateway, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';

describe('configuration changes', () => {
  let backend: TestBackend;
  let directory: string;
  const gateways: Operations[] = [];

  beforeEach(async () => {
    backend = await startBackend(json({ ok: true }));
    directory = await mkdtemp(join(tmpdir(), 'sluice-control-'));
  });

  afterEach(async () => {
    for (const gateway of gateways.splice(0)) await gateway.close();
    await backend.close();
    await rm(directory, { recursive: true });
  });

  const config = (more: object = {}, endpoints: readonly string[] = ['/a']) => ({
    version: 3,
    host: [backend.url],
    endpoints: endpoints.map((endpoint) => ({ endpoint, backend: [{ url_pattern: '/' }] })),
    ...more,
  });

  async function start(source: object, options: GatewayOptions = {}): Promise<Operations> {
    const gateway = await startGateway(source, options);
    gateways.push(gateway);
    return gateway;
  }

  async function startFile(
    source: object | string,
    options: GatewayOptions = {},
  ): Promise<{ gateway: Operations; file: string }> {
    const file = join(directory, 'gateway.json');
    await writeFile(file, typeof source === 'string' ? source : JSON.stringify(source));
    const gateway = await openGateway(file, { port: 0, sinks: silentSinks, ...options });
    gateways.push(gateway);
    return { gateway, file };
  }

  it('return their result', async () => {
    const gateway = await start(config({}, ['/a', '/b', '/c']));
    const { endpoints, ...service } = config({}, ['/b', '/c', '/d']);
    const applied = await gateway.apply({
      trigger: 'api',
      source: { ...service, endpoints: [{ ...endpoints[0], timeout: '9s' }, ...endpoints.slice(1)] },
    });
    equal(applied.result, 'applied');
    equal(applied.previous, 1);
    equal(applied.revision, 2);
    equal(applied.hash, gateway.status.hash);
    deepEqual(applied.changes, { added: ['GET /d'], changed: ['GET /b'], removed: ['GET /a'] });
    deepEqual(Object.keys(applied.phases), ['read', 'validate', 'build', 'warmup', 'swap']);
  });

  it('do nothing if the meaning is unchanged', async () => {
    const { gateway, file } = await startFile(config());
    const { hash } = gateway.status;
    await writeFile(file, JSON.stringify(Object.fromEntries(Object.entries(config()).reverse()), null, 4));
    const applied = await gateway.reload();
    equal(applied.result, 'unchanged');
    deepEqual(gateway.status, { revision: 1, hash, warnings: [], calls: 0, streams: 0, draining: 0 });
  });

  it('create a new revision of the same configuration if forced', async () => {
    const gateway = await start(config());
    const { result, revision } = await gateway.apply({ trigger: 'api', force: true });
    deepEqual([result, revision], ['applied', 2]);
  });

  it('detect a changed file that the configuration names', async () => {
    const certificates = makeCertificates();
    const authority = certificates.authority('authority');
    const [one, two] = [certificates.issue('one', authority), certificates.issue('two', authority)];
    const { certificate, privateKey } = one;
    const source = config({ tls: { keys: [{ public_key: certificate, private_key: privateKey }] } });
    const gateway = await start(source);
    equal((await gateway.reload(source)).result, 'unchanged');
    await writeFile(certificate, two.certificatePem);
    await writeFile(privateKey, two.privateKeyPem);
    equal((await gateway.reload(source)).result, 'applied');
    certificates.remove();
  });

  it('change nothing in a dry run', async () => {
    const gateway = await start(config());
    const { result, revision, hash } = await gateway.apply({
      trigger: 'api',
      source: config({ name: 'x' }),
      dryRun: true,
    });
    deepEqual([result, revision], ['dry_run', 1]);
    ok(hash !== gateway.status.hash);
    equal(gateway.config.name, '');
  });

  it('report a port in use at its pointer, in a dry run too', async () => {
    const { gateway } = await startFile(config({ port: await freePort() }), { port: undefined as never });
    await gateway.listen();
    const taken = Number(new URL(backend.url).port);
    const text = JSON.stringify(config({ listen_ip: '127.0.0.1', port: taken }), null, 2);
    for (const dryRun of [true, false]) {
      await rejects(
        gateway.apply({ trigger: 'api', source: new ConfigText(text, 'json'), dryRun }),
        (error: Refusal) => {
          equal(error.slug, 'warmup');
          const [{ code, pointer, line, column } = {} as never] = error.issues;
          const written = text.split('\n').findIndex((row) => row.includes('"port"')) + 1;
          deepEqual(
            { code, pointer, line, column },
            { code: 'LISTENER_BIND', pointer: '/port', line: written, column: 11 },
          );
          return true;
        },
      );
    }
    equal(gateway.status.revision, 1);
  });

  it('are reported as applied once they are active, even if a participant fails afterwards', async () => {
    const gateway = await start(config());
    gateway.join({
      prepare: async () => ({
        commit() {
          throw new Error('the disk is full');
        },
        abort() {},
      }),
    });
    const { result, revision, warnings } = await gateway.reload(config({ name: 'x' }));
    deepEqual([result, revision, gateway.config.name], ['applied', 2, 'x']);
    deepEqual(
      warnings.map(({ code, message }) => ({ code, message })),
      [
        {
          code: 'COMMIT_FAILED',
          message: 'the configuration is active, but a part of the gateway has not switched to it: the disk is full',
        },
      ],
    );
    equal(gateway.revisions.list()[0]!.number, 2);
  });

  it('are applied one after another, and each sees the result of the previous one', async () => {
    const gateway = await start(config());
    const seen: number[] = [];
    await Promise.all(
      [1, 2, 3].map((number) =>
        gateway.apply({
          trigger: 'api',
          source: config({ name: `n${number}` }),
          provided: ({ id }) => void seen.push(id),
        }),
      ),
    );
    deepEqual(seen, [1, 2, 3]);
    equal(gateway.config.name, 'n3');
  });

  it('do not wait longer than requested', async () => {
    const gateway = await start(config());
    const first = gateway.apply({ trigger: 'api', source: config({ name: 'x' }) });
    await rejects(gateway.apply({ trigger: 'api', waitMs: 0 }), { code: 'RELOAD_IN_PROGRESS' });
    equal((await first).revision, 2);
  });

  it('are aborted if their precondition fails', async () => {
    const gateway = await start(config());
    const provided = () => {
      throw new Error('another revision serves');
    };
    await rejects(gateway.apply({ trigger: 'api', source: config({ name: 'x' }), provided }), /another revision/);
    deepEqual(gateway.attempts.list.length, 1);
  });

  it('that are rejected report the step, and every error with its place', async () => {
    const { gateway } = await startFile(config());
    const text = '{"version": 3,\n "endpoints": [{"endpoint": "a",\n "backend": []}]}';
    await rejects(gateway.apply({ trigger: 'api', source: new ConfigText(text, 'json') }), (error: Refusal) => {
      deepEqual([error.slug, error.phase], ['validation', 'validate']);
      deepEqual(
        error.issues.map(({ pointer, line }) => ({ pointer, line })).sort((a, b) => a.line! - b.line!),
        [
          { pointer: '/endpoints/0/endpoint', line: 2 },
          { pointer: '/endpoints/0/backend', line: 3 },
        ],
      );
      return true;
    });
    const [last] = gateway.attempts.list;
    equal(last!.result, 'failed');
    equal(last!.revision, 1);
  });

  for (const [slug, text] of [
    ['syntax', '{"version": 3,,}'],
    ['routes', JSON.stringify({ version: 3, endpoints: ['/u/{a}', '/u/{b}/x'].map(endpointAt) })],
    [
      'build',
      JSON.stringify({ version: 3, tls: { keys: [{ public_key: 'none', private_key: 'none' }] }, endpoints: [] }),
    ],
  ] as const) {
    it(`that are rejected for ${slug} are reported with that type`, async () => {
      const gateway = await start(config());
      await rejects(gateway.apply({ trigger: 'api', source: new ConfigText(text, 'json') }), { slug });
    });
  }

  it('are reported as events', async () => {
    const gateway = await start(config());
    const events: GatewayEvent[] = [];
    gateway.events.subscribe({ types: ['reload.*'] }, (event) => void events.push(event));
    await gateway.reload(config({ name: 'x' }));
    await rejects(gateway.reload(config({ nmae: 'x' })));
    deepEqual(
      events.map(({ type }) => type).filter((type) => type !== 'reload.phase'),
      ['reload.started', 'reload.succeeded', 'reload.started', 'reload.failed'],
    );
  });

  it('sent as text leave the file as the source of the next reload', async () => {
    const { gateway } = await startFile(config({ name: 'file' }));
    await gateway.apply({ trigger: 'api', source: new ConfigText(JSON.stringify(config({ name: 'text' })), 'json') });
    equal(gateway.config.name, 'text');
    await gateway.reload();
    equal(gateway.config.name, 'file');
  });

  it('are stored in the history, which survives the process', async () => {
    const revisionDirectory = join(directory, 'revisions');
    const first = await start(config({ name: 'one' }), { revisionDirectory });
    await first.listen();
    await first.reload(config({ name: 'two' }));
    await first.close();
    const second = await start(config({ name: 'three' }), { revisionDirectory });
    await second.listen();
    deepEqual(
      second.revisions.list().map(({ number, source }) => ({ number, source })),
      [
        { number: 3, source: 'start' },
        { number: 2, source: 'file' },
        { number: 1, source: 'start' },
      ],
    );
    equal(second.status.revision, 3);
  });

  describe('at a start with an invalid configuration', () => {
    it('fail', async () => {
      await rejects(startFile('{'), /CONFIG_SYNTAX|property|unclosed|brace/i);
    });

    it('resume the last good one on request, and then follow the file', async () => {
      const revisionDirectory = join(directory, 'revisions');
      const { gateway: first, file } = await startFile(config({ name: 'good' }), { revisionDirectory });
      await first.listen();
      await first.close();
      await writeFile(file, '{');
      const options = { port: 0, sinks: silentSinks, revisionDirectory };
      const second = await openGateway(file, { ...options, resumeLastGood: true });
      gateways.push(second);
      equal(second.config.name, 'good');
      equal(second.serving.trigger, 'resume');
      await writeFile(file, JSON.stringify(config({ name: 'mended' })));
      await second.reload();
      equal(second.config.name, 'mended');
    });

    it('still fail if no good one exists', async () => {
      const revisionDirectory = join(directory, 'revisions');
      await rejects(startFile('{', { revisionDirectory, resumeLastGood: true }));
    });
  });
});

function endpointAt(endpoint: string): object {
  return { endpoint, backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }] };
}
