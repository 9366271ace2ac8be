import { deepEqual, equal, match } from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../support/conditions.ts';
import { config, openAdmin, type TestAdmin } from './support.ts';

describe('with a configuration from a file, the admin API', () => {
  let directory: string;
  let file: string;
  let one: TestAdmin;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'sluice-files-'));
    file = join(directory, 'gateway.json');
    writeFileSync(file, JSON.stringify(config()));
    one = await openAdmin(file);
  });
  afterEach(async () => {
    await one.close();
    chmodSync(directory, 0o700);
    rmSync(directory, { recursive: true });
  });

  const reload = (query = '', headers = {}) => one.ask(`/v1/reload${query}`, { method: 'POST', headers });
  const put = (body: object | string, query = '', headers = {}) =>
    one.ask(`/v1/config${query}`, { method: 'PUT', body, headers });
  const onDisk = () => JSON.parse(readFileSync(file, 'utf8'));

  describe('on a reload', () => {
    it('reads the file again', async () => {
      writeFileSync(file, JSON.stringify(config('/b')));
      const { status, body } = await reload();
      deepEqual([status, body.result, body.revision], [200, 'applied', 2]);
      equal(one.gateway.revisions.list()[0]!.source, 'file');
    });

    it('changes nothing if the file has the same meaning', async () => {
      writeFileSync(file, JSON.stringify(config(), null, 4));
      deepEqual((await reload()).body.result, 'unchanged');
    });

    it('discards a configuration that was applied over the API, and applies the file', async () => {
      await put(config('/b'));
      const { body } = await reload();
      deepEqual([body.result, body.changes.removed], ['applied', ['GET /b']]);
    });

    it('reports file, line and column of an error', async () => {
      writeFileSync(file, '{\n  "version": 3,\n  "timeout": 7\n}');
      const { status, body } = await reload();
      equal(status, 422);
      const [{ file: where, line, column }] = body.errors;
      deepEqual([where, line, column], [file, 3, 14]);
    });

    it('responds at once for a truncated file', async () => {
      writeFileSync(file, '{"version": 3, "endpo');
      const { status, body } = await reload();
      deepEqual([status, body.type, body.phase], [400, 'urn:gateway:problem:syntax', 'read']);
    });

    it('respects If-Match', async () => equal((await reload('', { 'if-match': '"7-abc"' })).status, 412));

    it('runs every step except the activation in a dry run', async () => {
      writeFileSync(file, JSON.stringify(config('/b')));
      equal((await reload('?dry_run=true')).body.result, 'dry_run');
      equal(one.gateway.status.revision, 1);
    });
  });

  describe('on a change', () => {
    it('leaves the file unchanged by default', async () => {
      await put(config('/b'));
      deepEqual(onDisk(), config());
      equal((await one.ask('/v1/status')).body.drift, true);
    });

    it('with persist=none adds no revision to the history', async () => {
      equal((await put(config('/b'), '?persist=none')).body.revision, 2);
      deepEqual(
        one.gateway.revisions.list().map(({ number }) => number),
        [1],
      );
    });

    it('with persist=file writes the body to the file unchanged', async () => {
      const text = JSON.stringify(config('/b'), null, 3);
      const { status, body } = await put(text, '?persist=file');
      deepEqual([status, body.result], [200, 'applied']);
      equal(readFileSync(file, 'utf8'), text);
      equal((await one.ask('/v1/status')).body.drift, false);
      equal((await reload()).body.result, 'unchanged');
    });

    it('with persist=file writes the file even if the configuration is already active', async () => {
      await put(config('/b'));
      equal((await put(config('/b'), '?persist=file')).body.result, 'unchanged');
      deepEqual(onDisk(), config('/b'));
    });

    it('with persist=file and respond-async writes the file even if the configuration is already active', async () => {
      await put(config('/b'));
      const done = Promise.withResolvers<void>();
      one.gateway.events.subscribe({ types: ['reload.succeeded'] }, () => done.resolve());
      equal((await put(config('/b'), '?persist=file', { prefer: 'respond-async' })).status, 202);
      await done.promise;
      deepEqual(onDisk(), config('/b'));
    });

    it('with persist=file and dry_run writes nothing if the configuration is already active', async () => {
      await put(config('/b'));
      equal((await put(config('/b'), '?persist=file&dry_run=true')).body.result, 'unchanged');
      deepEqual(onDisk(), config());
      deepEqual(readdirSync(directory), ['gateway.json']);
    });

    it('rejects the change in all processes if the file cannot be replaced in the last step', async () => {
      let aborted = 0;
      one.gateway.join({
        prepare: async () => ({
          async precommit() {
            rmSync(file);
            mkdirSync(file);
          },
          commit() {},
          abort: () => void aborted++,
        }),
      });
      const { status, body } = await put(config('/b'), '?persist=file');
      deepEqual([status, body.errors[0].code], [424, 'CONFIG_WRITE']);
      deepEqual([one.gateway.status.revision, aborted], [1, 1]);
      deepEqual(readdirSync(directory), ['gateway.json']);
      equal((await one.ask('/v1/revisions')).body.revisions.length, 1);
    });

    it('keeps the permissions of the file', async () => {
      chmodSync(file, 0o640);
      await put(config('/b'), '?persist=file');
      equal(statSync(file).mode & 0o777, 0o640);
    });

    it('leaves the file unchanged in a dry run and if the configuration is rejected', async () => {
      await put(config('/b'), '?persist=file&dry_run=true');
      await put({ version: 3, endpoints: 1 }, '?persist=file');
      await put({ ...config('/b'), extra_config: { 'admin/api': { listen: 'nowhere' } } }, '?persist=file');
      deepEqual(onDisk(), config());
      deepEqual(readdirSync(directory), ['gateway.json']);
    });

    it("rejects a body in a format other than the file's", async () => {
      const yaml = 'version: 3\nendpoints: []\n';
      const { status, body } = await put(yaml, '?persist=file', { 'content-type': 'application/yaml' });
      equal(status, 400);
      match(body.detail, /the body is yaml, but .*gateway\.json is json/);
    });

    it('does not overwrite a file that was edited since it was loaded', async () => {
      const saved = JSON.stringify(config('/mine'));
      writeFileSync(file, saved);
      const { status, body } = await put(config('/b'), '?persist=file');
      deepEqual([status, body.type], [409, 'urn:gateway:problem:file-changed']);
      deepEqual([readFileSync(file, 'utf8'), one.gateway.status.revision], [saved, 1]);
      await reload();
      equal((await put(config('/b'), '?persist=file')).status, 200);
      equal((await put(config('/c'), '?persist=file')).status, 200);
    });

    it('does not overwrite a file that is edited while the change is applied', async () => {
      const saved = JSON.stringify(config('/mine'));
      const leave = one.gateway.join({
        prepare: async () => ({ precommit: async () => writeFileSync(file, saved), commit() {}, abort() {} }),
      });
      equal((await put(config('/b'), '?persist=file')).body.type, 'urn:gateway:problem:file-changed');
      leave();
      deepEqual([readFileSync(file, 'utf8'), one.gateway.status.revision], [saved, 1]);
      deepEqual(readdirSync(directory), ['gateway.json']);
    });

    it('rejects the change if the file cannot be written, and the old configuration continues to serve', async () => {
      rmSync(directory, { recursive: true });
      const { status, body } = await put(config('/b'), '?persist=file');
      deepEqual([status, body.type, body.errors[0].code], [424, 'urn:gateway:problem:warmup', 'CONFIG_WRITE']);
      equal(one.gateway.status.revision, 1);
      mkdirSync(directory);
    });

    it('rejects an unknown value of persist', async () => equal((await put(config(), '?persist=disk')).status, 400));
  });

  it('does not trigger another change when it writes the watched file', async () => {
    await one.gateway.watch();
    await put(config('/b'), '?persist=file');
    const attempts = one.gateway.attempts.list.length;
    const reported = Promise.withResolvers<void>();
    one.gateway.events.subscribe({ types: ['reload.succeeded'] }, () => reported.resolve());
    // A change by another program is detected by the same check of the file.
    writeFileSync(file, JSON.stringify(config('/c')));
    await reported.promise;
    equal(one.gateway.attempts.list.length, attempts + 1);
    equal(one.gateway.attempts.list[0]!.trigger, 'watch');
  });
});

describe('a configuration that could not be persisted to the file', () => {
  it('is applied when another program writes it to the file', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'sluice-files-'));
    const file = join(directory, 'gateway.json');
    writeFileSync(file, JSON.stringify(config()));
    const one = await openAdmin(file);
    await one.gateway.watch();
    // A directory cannot be replaced by a file.
    const leave = one.gateway.join({
      prepare: async () => ({
        async precommit() {
          rmSync(file);
          mkdirSync(file);
        },
        commit() {},
        abort() {},
      }),
    });
    const { status } = await one.ask('/v1/config?persist=file', { method: 'PUT', body: config('/b') });
    leave();
    rmdirSync(file);
    writeFileSync(file, JSON.stringify(config('/b')));
    await until(() => one.gateway.config.endpoints[0]!.endpoint === '/b');
    equal(status, 424);
    await one.close();
    rmSync(directory, { recursive: true });
  });
});

describe('a configuration that was not loaded from a file', () => {
  it('is rejected with persist=file', async () => {
    const one = await openAdmin();
    const { status, body } = await one.ask('/v1/config?persist=file', { method: 'PUT', body: config('/b') });
    equal(status, 400);
    match(body.detail, /was not loaded from a file/);
    await one.close();
  });
});
