import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Folder } from '../../../../plugins/telemetry/recorder/folder.ts';
import { Ring } from '../../../../plugins/telemetry/recorder/ring.ts';

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

  it('stay within max_bytes, also when a recording is larger than that', () => {
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

  it('removes unfinished files of earlier runs, and no others', async () => {
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

  it('writes at most 64 recordings that wait, and drops further ones', async () => {
    const folder = new Folder(path);
    const limits = { maxFiles: 1000, maxBytes: 1e6 };
    const written = Array.from({ length: 70 }, () => folder.add('{}', limits));
    equal(written.filter((each) => each === null).length, 6);
    await folder.close();
    equal(readdirSync(path).length, 64);
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
