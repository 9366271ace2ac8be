import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeRequest, type Site } from '#contract';
import { Folder } from '../../../../plugins/telemetry/recorder/folder.ts';
import { keeper } from '../../../../plugins/telemetry/recorder/keeper.ts';
import { Recording } from '../../../../plugins/telemetry/recorder/recording.ts';
import { Ring } from '../../../../plugins/telemetry/recorder/ring.ts';
import type { RecorderConfig } from '../../../../plugins/telemetry/recorder/schema.ts';
import { until } from '../../../support/conditions.ts';

describe('recordings in memory', () => {
  it('drop the oldest of an endpoint above max_per_endpoint', () => {
    const ring = new Ring();
    const limits = { maxBytes: 1e6, maxPerEndpoint: 2 };
    for (const entries of ['1', '2', '3']) ring.add({ endpoint: 'GET /a', entries }, limits);
    ring.add({ endpoint: '__proto__', entries: '4' }, limits);
    deepEqual(
      ring.latest(10).map(({ entries }) => entries),
      ['2', '3', '4'],
    );
    deepEqual(
      ring.latest(1).map(({ entries }) => entries),
      ['4'],
    );
    deepEqual(ring.latest(0), []);
  });

  it('stay within max_bytes, even if a single recording is larger', () => {
    const ring = new Ring();
    const limits = { maxBytes: 100_000, maxPerEndpoint: 1000 };
    for (let at = 0; at < 200; at++) {
      ring.add({ endpoint: `GET /${at}`, entries: 'x'.repeat(1000) }, limits);
      ok(ring.bytes <= limits.maxBytes);
    }
    const count = ring.latest(1000).length;
    ok(count > 20 && count < 50, String(count));
    ring.add({ endpoint: 'GET /long', entries: 'x'.repeat(60_000) }, limits);
    equal(ring.latest(1000).length, count);
  });

  it('are returned in order, the latest first, up to 48 million characters', () => {
    const ring = new Ring();
    const entries = 'x'.repeat(12 * 1024 * 1024);
    for (let at = 0; at < 6; at++) ring.add({ endpoint: `GET /${at}`, entries }, { maxBytes: 1e9, maxPerEndpoint: 1 });
    deepEqual(
      ring.latest(10).map(({ endpoint }) => endpoint),
      ['GET /2', 'GET /3', 'GET /4', 'GET /5'],
    );
    equal(ring.latest(2).length, 2);
  });
});

describe('recordings of a worker', () => {
  it('are dropped, with one warning, while 64 others wait to be stored in the primary', async () => {
    let asked = 0;
    const warnings: string[] = [];
    const answers: (() => void)[] = [];
    const share = () => () => {
      asked += 1;
      return new Promise((resolve) => answers.push(() => resolve(null)));
    };
    const log = { warning: (message: () => string) => void warnings.push(message()) };
    const used: Readonly<Record<string, unknown>> = { clock: { now: () => 0 }, version: '1.0.0' };
    const site = {
      config: { fields: [], max_bytes: 1e6, max_per_endpoint: 10, max_body: 100 },
      log: { at: () => log },
      use: (name: string) => used[name],
      setting: () => ({}),
      recordings() {},
      share,
    };
    const keep = keeper(site as unknown as Site<RecorderConfig>);
    const record = (): void => {
      const recording = new Recording(makeRequest({ path: '/a' }), 100);
      keep(recording, { status: 200, completed: true } as never, { background() {} } as never);
    };
    for (let at = 0; at < 70; at++) record();
    await until(() => asked === 64);
    deepEqual(warnings, ['a recording was dropped: 64 recordings are waiting to be stored']);
    for (const answer of answers) answer();
    await until(() => {
      if (asked === 64) record();
      return asked === 65;
    });
    equal(warnings.length, 1);
  });
});

describe('a folder of recordings', () => {
  let path: string;
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'recordings-'));
  });
  afterEach(() => rmSync(path, { recursive: true, force: true }));

  it('stays within max_bytes, including the files of earlier runs', async () => {
    const limits = { maxFiles: 100, maxBytes: 100_000 };
    await new Folder(path).add('x'.repeat(60_000), limits);
    const later = new Folder(path);
    await later.add('y'.repeat(60_000), limits);
    equal(readdirSync(path).length, 1);
    await later.add('z'.repeat(200_000), limits);
    equal(readdirSync(path).length, 1);
  });

  it('removes unfinished files of earlier runs, and no other files', async () => {
    const id = '01234567-89ab-cdef-0123-456789abcdef';
    for (const name of [`.000001700000000-${id}.tmp`, '.other.tmp', 'mine.har']) writeFileSync(join(path, name), 'x');
    await new Folder(path).add('{}', { maxFiles: 1, maxBytes: 1000 });
    const names = readdirSync(path).sort();
    equal(names.length, 3);
    deepEqual(
      names.filter((name) => !/^\d/.test(name)),
      ['.other.tmp', 'mine.har'],
    );
  });

  it('contains at most 64 recordings that wait to be written; further ones are dropped', async () => {
    const folder = new Folder(path);
    const limits = { maxFiles: 1000, maxBytes: 1e6 };
    const written = Array.from({ length: 70 }, () => folder.add('{}', limits));
    equal(written.filter((each) => each === null).length, 6);
    await folder.close();
    equal(readdirSync(path).length, 64);
  });

  it('is created again after it has been removed', async () => {
    const folder = new Folder(join(path, 'inner'));
    const limits = { maxFiles: 10, maxBytes: 1000 };
    await folder.add('{}', limits);
    rmSync(join(path, 'inner'), { recursive: true });
    await rejects(folder.add('{}', limits)!, { code: 'ENOENT' });
    await folder.add('{}', limits);
    equal(readdirSync(join(path, 'inner')).length, 1);
  });

  it('reports an error of the file system for each recording, and recovers', async () => {
    const folder = new Folder(join(path, 'missing', 'inner'));
    const limits = { maxFiles: 10, maxBytes: 1000 };
    await rejects(folder.add('{}', limits)!, { code: 'ENOENT' });
    mkdirSync(join(path, 'missing'));
    await folder.add('{}', limits);
    equal(readdirSync(join(path, 'missing', 'inner')).length, 1);
  });
});
