import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Operations } from '#kernel';
import { ConfigText } from '#kernel';
import { makeCertificates } from '../../support/certificates.ts';
import { until } from '../../support/conditions.ts';
import { json, openGateway, partsOf, rememberingSinks, startBackend, type TestBackend } from '../../support/gateway.ts';
import { holdChange } from '../../support/held-change.ts';

describe('a gateway that watches its file', () => {
  let folder: string;
  let backend: TestBackend;
  let gateway: Operations | null = null;
  const sinks = rememberingSinks();

  const config = (path: string): string =>
    JSON.stringify({
      version: 3,
      host: [backend.url],
      endpoints: [{ endpoint: path, backend: [{ url_pattern: '/' }] }],
    });

  const serves = async (path: string): Promise<boolean> => (await gateway!.inject(path)).statusCode === 200;

  before(async () => {
    backend = await startBackend(json({ ok: true }));
  });
  after(() => backend.close());

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-'));
    sinks.lines.length = 0;
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = null;
    rmSync(folder, { recursive: true });
  });

  const start = async (file: string): Promise<void> => {
    gateway = await openGateway(file, { port: 0, sinks });
    await gateway.watch();
  };

  it('applies a save that renames a new file over it, like editors do', async () => {
    const file = join(folder, 'gateway.json');
    writeFileSync(file, config('/one'));
    await start(file);
    ok(await serves('/one'));
    writeFileSync(`${file}.new`, config('/two'));
    renameSync(`${file}.new`, file);
    await until(() => serves('/two'));
    equal(await serves('/one'), false);
    equal(gateway!.status.revision, 2);
  });

  it('starts watching once, even if requested repeatedly', async () => {
    const file = join(folder, 'gateway.json');
    writeFileSync(file, config('/one'));
    gateway = await openGateway(file, { port: 0, sinks });
    const watching = gateway.watch();
    const again = gateway.watch();
    await watching;
    const { watcher } = gateway;
    await again;
    equal(gateway.watcher, watcher);
  });

  it('applies a save between its start and the first watch', async () => {
    const file = join(folder, 'gateway.json');
    writeFileSync(file, config('/one'));
    gateway = await openGateway(file, { port: 0, sinks });
    writeFileSync(file, config('/two'));
    await gateway.watch();
    await until(() => serves('/two'));
  });

  it('keeps a configuration from the admin API if only a referenced file changes', async () => {
    const file = join(folder, 'gateway.json');
    writeFileSync(file, config('/file'));
    await start(file);
    const certificates = makeCertificates();
    const authority = certificates.authority('authority');
    const [one, two] = [certificates.issue('one', authority), certificates.issue('two', authority)];
    const tls = { keys: [{ public_key: one.certificate, private_key: one.privateKey }] };
    const text = JSON.stringify({ ...JSON.parse(config('/text')), tls });
    await gateway!.apply({ trigger: 'api', source: new ConfigText(text, 'json') });
    writeFileSync(one.privateKey, two.privateKeyPem);
    writeFileSync(one.certificate, two.certificatePem);
    await until(() => gateway!.status.revision === 3);
    ok(await serves('/text'));
    writeFileSync(file, config('/other'));
    await until(() => serves('/other'));
    certificates.remove();
  });

  it('keeps a configuration that was being applied when a referenced file changed', async () => {
    const file = join(folder, 'gateway.json');
    const certificates = makeCertificates();
    const authority = certificates.authority('authority');
    const [one, two] = [certificates.issue('one', authority), certificates.issue('two', authority)];
    const tls = { keys: [{ public_key: one.certificate, private_key: one.privateKey }] };
    const withTls = (path: string) => JSON.stringify({ ...JSON.parse(config(path)), tls });
    writeFileSync(file, withTls('/file'));
    await start(file);
    const held = holdChange(partsOf(gateway!).control);
    const applied = gateway!.apply({ trigger: 'api', source: new ConfigText(withTls('/text'), 'json') });
    await held.reached;
    writeFileSync(one.privateKey, two.privateKeyPem);
    writeFileSync(one.certificate, two.certificatePem);
    await held.requested(2);
    held.release();
    await applied;
    await until(() => gateway!.status.revision === 3);
    deepEqual([await serves('/text'), await serves('/file')], [true, false]);
    certificates.remove();
  });

  it('continues to serve while the file is invalid, reports the errors, and applies the correction', async () => {
    const file = join(folder, 'gateway.json');
    writeFileSync(file, config('/one'));
    await start(file);
    writeFileSync(file, JSON.stringify({ version: 3, prot: 8080 }));
    await until(() => sinks.lines.some((line) => line.includes('configuration refused')));
    match(
      sinks.lines.find((line) => line.includes('refused'))!,
      /ERROR.* refused; revision 1 stays active: .*gateway\.json:1:14: .* \(\/prot\) \[SCHEMA_UNKNOWN_KEY\]; hint: port/,
    );
    ok(await serves('/one'));
    writeFileSync(file, config('/three'));
    await until(() => serves('/three'));
  });

  describe('reports an invalid save once', () => {
    const refusals = () => sinks.lines.filter((line) => line.includes('configuration refused')).length;
    /** Log lines about a check of the files that found no change. */
    const quietLooks = () => sinks.lines.filter((line) => line.includes('same content as before')).length;

    beforeEach(async () => {
      const file = join(folder, 'gateway.json');
      const logging = { 'telemetry/logging': { level: 'DEBUG', stdout: true } };
      writeFileSync(file, JSON.stringify({ ...JSON.parse(config('/one')), extra_config: logging }));
      await start(file);
    });

    for (const [how, save] of Object.entries({
      'that is not valid JSON': (file: string) => writeFileSync(file, '{"version": 3,, "endpoints": []}'),
      'that is an invalid configuration': (file: string) => writeFileSync(file, '{"version": 3, "prot": 8080}'),
      'that deletes the file': (file: string) => rmSync(file),
    })) {
      it(how, async () => {
        const file = join(folder, 'gateway.json');
        save(file);
        await until(() => refusals() > 0);
        const looks = quietLooks();
        await until(() => refusals() > 1 || quietLooks() > looks);
        equal(refusals(), 1);
        writeFileSync(file, config('/two'));
        await until(() => serves('/two'));
      });
    }

    it('even if a reload has already reported it', async () => {
      const file = join(folder, 'gateway.json');
      writeFileSync(file, '{"version": 3,, "endpoints": []}');
      await rejects(gateway!.reload());
      const looks = quietLooks();
      await until(() => refusals() > 1 || quietLooks() > looks);
      equal(refusals(), 1);
    });
  });

  it('keeps watching the files that were referenced before an invalid save', async () => {
    const file = join(folder, 'gateway.json');
    const certificates = makeCertificates();
    const { certificate, privateKey } = certificates.issue('one', certificates.authority('authority'));
    const tls = { keys: [{ public_key: certificate, private_key: privateKey }] };
    writeFileSync(file, JSON.stringify({ ...JSON.parse(config('/one')), tls }));
    await start(file);
    const { files } = gateway!.watcher!.status;
    writeFileSync(file, '{"version": 3,, "endpoints": []}');
    await until(() => sinks.lines.some((line) => line.includes('configuration refused')));
    equal(gateway!.watcher!.status.files, files);
    certificates.remove();
  });

  it('reports a deleted file in the log and as an event', async () => {
    const file = join(folder, 'gateway.json');
    writeFileSync(file, config('/one'));
    await start(file);
    const reported: unknown[] = [];
    gateway!.events.subscribe({ types: ['watch.error'] }, ({ data }) => void reported.push(data));
    rmSync(file);
    await until(() => reported.length > 0);
    const message = `${file} cannot be read (missing); it is still watched`;
    deepEqual(reported, [{ message }]);
    match(sinks.lines.find((line) => line.includes('cannot be read (missing)'))!, /WARNING.*\[WATCH\] .*missing/);
  });

  it('delays a change while many replaced configurations have pending requests', async () => {
    const file = join(folder, 'gateway.json');
    writeFileSync(file, config('/one'));
    await start(file);
    const { generations } = partsOf(gateway!);
    const limits: number[] = [];
    const room = Promise.withResolvers<void>();
    generations.room = (limit) => {
      limits.push(limit);
      return room.promise;
    };
    writeFileSync(file, config('/two'));
    await until(() => limits.length > 0);
    deepEqual([limits, gateway!.status.revision], [[8], 1]);
    room.resolve();
    await until(() => serves('/two'));
  });

  it('reports the trigger of a change', async () => {
    const file = join(folder, 'gateway.json');
    writeFileSync(file, config('/one'));
    await start(file);
    writeFileSync(file, config('/two'));
    await until(() => serves('/two'));
    equal(gateway!.attempts.list[0]!.trigger, 'watch');
  });

  it('follows the symbolic links of a Kubernetes volume', async () => {
    for (const version of ['v1', 'v2']) {
      mkdirSync(join(folder, version));
      writeFileSync(join(folder, version, 'gateway.json'), config(`/${version}`));
    }
    symlinkSync('v1', join(folder, '..data'));
    symlinkSync('..data/gateway.json', join(folder, 'gateway.json'));
    await start(join(folder, 'gateway.json'));
    ok(await serves('/v1'));
    symlinkSync('v2', join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
    await until(() => serves('/v2'));
  });
});
