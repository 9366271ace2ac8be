import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConfigSource, SourceBusy, type SourceRevision } from '#contract';
import { SourceCopy } from '../../../kernel/sources/copy.ts';
import { type MirrorOptions, SourceMirror } from '../../../kernel/sources/mirror.ts';
import { until } from '../../support/conditions.ts';
import { rememberingLog } from '../../support/log.ts';

/** A revision with a text as its configuration. */
function revision(version: number | string, text: string, more: Readonly<Record<string, string>> = {}): SourceRevision {
  const files = Object.entries({ 'gateway.json': text, ...more });
  return {
    version: String(version),
    order: typeof version === 'number' ? version : null,
    files: new Map(files.map(([name, content]) => [name, Buffer.from(content)])),
  };
}

describe('a mirror of a configuration source', () => {
  let directory: string;
  let mirrors: SourceMirror[];
  /** Content of the store: a revision, nothing, or a failure. */
  let stored: SourceRevision | null | Error;
  let reads: number;
  /** Ends the pause or the wait of the mirror. */
  let wake: () => void;
  let pauses: number[];
  let lines: readonly string[];

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'sluice-source-'));
    mirrors = [];
    stored = revision(1, '{"one":1}');
    reads = 0;
    wake = () => {};
    pauses = [];
  });

  afterEach(async () => {
    for (const mirror of mirrors) await mirror.close();
    rmSync(directory, { recursive: true });
  });

  function open(source: Partial<ConfigSource> = {}, options: Partial<MirrorOptions> = {}): SourceMirror {
    const mirror = new SourceMirror({
      source: {
        async read() {
          reads++;
          if (stored instanceof Error) throw stored;
          return stored;
        },
        async close() {},
        ...source,
      },
      shown: 'test://store/key',
      copy: new SourceCopy(join(directory, 'copy')),
      intervalMs: 30_000,
      maxBytes: 1000,
      now: () => 1_000,
      pause: (ms, signal) =>
        new Promise((resolve, reject) => {
          pauses.push(ms);
          wake = resolve;
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
      ...options,
    });
    mirrors.push(mirror);
    return mirror;
  }

  async function follow(mirror: SourceMirror): Promise<void> {
    const log = rememberingLog();
    ({ lines } = log);
    mirror.follow(log);
    await until(() => pauses.length > 0);
  }

  /** Ends the pause, and waits until the store was read and the next pause began. */
  async function readAgain(): Promise<void> {
    const before = pauses.length;
    wake();
    await until(() => pauses.length > before);
  }

  it('copies all files of the source, readable by the owner only', async () => {
    stored = revision(7, '{"a":1}', { 'parts/users.json': '[]' });
    const mirror = open();
    equal(await mirror.start(), null);
    equal(readFileSync(mirror.file, 'utf8'), '{"a":1}');
    equal(readFileSync(join(mirror.file, '../parts/users.json'), 'utf8'), '[]');
    deepEqual(mirror.status, {
      address: 'test://store/key',
      state: 'current',
      reason: null,
      version: '7',
      readAt: 1000,
    });
  });

  it('replaces the files when the source changes, at the same path', async () => {
    const mirror = open();
    await mirror.start();
    const { file } = mirror;
    await follow(mirror);
    stored = revision(2, '{"two":2}');
    await readAgain();
    equal(mirror.file, file);
    equal(readFileSync(file, 'utf8'), '{"two":2}');
    deepEqual(lines, ['INFO version 2 of test://store/key was read']);
  });

  it('reads at the interval, shortened by up to a tenth', async () => {
    const mirror = open();
    await mirror.start();
    await follow(mirror);
    await readAgain();
    equal(reads, 2);
    for (const ms of pauses) ok(ms >= 27_000 && ms <= 30_000, String(ms));
  });

  it('reads when the source reports a change, after a pause, and passes on the version that it has', async () => {
    const versions: (string | null)[] = [];
    let change = () => {};
    const mirror = open({
      awaitChange: (version) => {
        versions.push(version);
        return new Promise((resolve) => {
          change = resolve;
        });
      },
    });
    await mirror.start();
    await follow(mirror);
    stored = revision(5, '{"five":5}');
    change();
    await until(() => pauses.at(-1) === 100);
    equal(reads, 1);
    wake();
    await until(() => mirror.status.version === '5' && versions.length === 2);
    deepEqual(versions, ['1', '5']);
  });

  it('keeps five revisions, and no part of one that cannot be stored', async () => {
    const mirror = open();
    await mirror.start();
    await follow(mirror);
    for (let version = 2; version <= 9; version++) {
      // A file cannot be a directory at the same time.
      stored = revision(version, String(version), version % 2 === 0 ? {} : { part: '', 'part/of': '' });
      await readAgain();
      equal(mirror.status.state, version % 2 === 0 ? 'current' : 'unusable');
    }
    const names = readdirSync(join(directory, 'copy')).sort();
    deepEqual(
      names.map((name) => name.replace(/-[\da-f]{8}$/, '')),
      ['current', 'r-1', 'r-2', 'r-3', 'r-4', 'r-5'],
    );
    stored = revision(10, '10');
    await readAgain();
    deepEqual(
      readdirSync(join(directory, 'copy')).filter((name) => /^\.?r-1-/.test(name)),
      [],
    );
    equal(readFileSync(mirror.file, 'utf8'), '10');
  });

  it('can share its directory with a mirror of another gateway', async () => {
    const mirrors = Array.from({ length: 4 }, () => open());
    await Promise.all(mirrors.map((mirror) => mirror.start()));
    for (const mirror of mirrors) equal(readFileSync(mirror.file, 'utf8'), '{"one":1}');
  });

  it('is refreshed at once on request, also after a failure and after its end', async () => {
    const mirror = open();
    await mirror.start();
    await follow(mirror);
    stored = revision(2, '{"two":2}');
    await mirror.refresh();
    equal(readFileSync(mirror.file, 'utf8'), '{"two":2}');
    stored = new Error('connection refused');
    await Promise.all([mirror.refresh(), mirror.refresh()]);
    equal(mirror.status.state, 'unreachable');
    await mirror.close();
    await mirror.refresh();
  });

  it('is refreshed once it follows the source, if that was requested before', async () => {
    const mirror = open();
    await mirror.start();
    stored = revision(2, '{"two":2}');
    const refreshed = mirror.refresh();
    await follow(mirror);
    await refreshed;
    equal(readFileSync(mirror.file, 'utf8'), '{"two":2}');
    await mirror.close();

    const other = open();
    await other.start();
    const ended = other.refresh();
    await other.close();
    await ended;
  });

  describe('if the source cannot be read', () => {
    it('keeps the files, reports it once, and tries again after growing pauses', async () => {
      const mirror = open();
      await mirror.start();
      await follow(mirror);
      stored = new Error('connection refused');
      for (let attempt = 0; attempt < 8; attempt++) await readAgain();
      equal(readFileSync(mirror.file, 'utf8'), '{"one":1}');
      deepEqual(lines, [
        'WARNING test://store/key cannot be read: connection refused; the configuration does not change',
      ]);
      const [, first, second, ...rest] = pauses;
      ok(first! >= 500 && first! <= 1000, String(first));
      ok(second! >= 1000 && second! <= 2000, String(second));
      ok(rest.at(-1)! >= 15_000 && rest.at(-1)! <= 30_000, String(rest));
      stored = revision(2, '{"two":2}');
      await readAgain();
      equal(lines.at(-1), 'INFO test://store/key is available again');
      equal(mirror.status.state, 'current');
    });

    it('pauses as long as the store requests', async () => {
      const mirror = open();
      await mirror.start();
      await follow(mirror);
      stored = new SourceBusy('status 503', 90_000);
      await readAgain();
      equal(pauses.at(-1), 90_000);
    });

    it('starts with the copy of an earlier process', async () => {
      await open().start();
      stored = new Error('connection refused');
      const mirror = open();
      equal(
        await mirror.start(),
        'test://store/key cannot be read: connection refused; starting with the copy of version 1, read at 1970-01-01T00:00:01.000Z',
      );
      equal(readFileSync(mirror.file, 'utf8'), '{"one":1}');
      equal(mirror.status.state, 'unreachable');
    });

    it('does not start without a copy', async () => {
      stored = new Error('connection refused');
      await rejects(open().start(), { message: 'test://store/key cannot be read: connection refused' });
    });

    it('does not start with a copy that was changed', async () => {
      const first = open();
      await first.start();
      writeFileSync(first.file, '{"changed":true}');
      stored = new Error('connection refused');
      await rejects(open().start(), /connection refused/);
    });
  });

  it('keeps the files if the store loses its configuration', async () => {
    const mirror = open();
    await mirror.start();
    await follow(mirror);
    stored = null;
    await readAgain();
    equal(mirror.status.state, 'absent');
    equal(readFileSync(mirror.file, 'utf8'), '{"one":1}');
    match(lines[0]!, /has no configuration; the configuration does not change$/);
  });

  describe('if the store has an earlier revision than the copy', () => {
    it('does not use it, also after a restart', async () => {
      stored = revision(9, '{"nine":9}');
      await open().start();
      stored = revision(8, '{"eight":8}');
      const mirror = open();
      match(
        (await mirror.start())!,
        /^test:\/\/store\/key has an earlier revision: version 8 is older than 9, which serves/,
      );
      equal(readFileSync(mirror.file, 'utf8'), '{"nine":9}');
    });

    it('uses later ones', async () => {
      stored = revision(9, '{"nine":9}');
      const mirror = open();
      await mirror.start();
      await follow(mirror);
      stored = revision(8, '{"eight":8}');
      await readAgain();
      equal(mirror.status.state, 'older');
      stored = revision(10, '{"ten":10}');
      await readAgain();
      equal(mirror.status.state, 'current');
      equal(readFileSync(mirror.file, 'utf8'), '{"ten":10}');
    });

    it('accepts a restored store with the same files, and its next revision', async () => {
      stored = revision(9, '{"nine":9}');
      const mirror = open();
      await mirror.start();
      await follow(mirror);
      stored = revision(3, '{"nine":9}');
      await readAgain();
      equal(mirror.status.state, 'current');
      stored = revision(4, '{"four":4}');
      await readAgain();
      equal(readFileSync(mirror.file, 'utf8'), '{"four":4}');
    });
  });

  for (const [what, files, reason] of [
    ['a path that leaves the directory', { '../evil.json': '' }, /"\.\.\/evil\.json" is not a valid path/],
    ['an absolute path', { '/etc/evil': '' }, /"\/etc\/evil" is not a valid path/],
    ['a path with a backslash', { 'a\\b': '' }, /is not a valid path/],
    ['more than the maximum size', { 'large.json': 'x'.repeat(1001) }, /is larger than/],
    [
      'too many files',
      Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`f${at}`, ''])),
      /more than 1000 files/,
    ],
  ] as const) {
    it(`rejects ${what}, and keeps the files`, async () => {
      const mirror = open();
      await mirror.start();
      await follow(mirror);
      stored = revision(2, '{"two":2}', files);
      await readAgain();
      equal(mirror.status.state, 'unusable');
      match(mirror.status.reason!, reason);
      equal(readFileSync(mirror.file, 'utf8'), '{"one":1}');
    });
  }

  it('rejects a configuration whose format is unknown', async () => {
    stored = { version: '1', order: null, files: new Map([['gateway.txt', Buffer.from('{}')]]) };
    await rejects(open().start(), /the format of "gateway\.txt" is unknown/);
  });

  it('stores files with names of prototypes', async () => {
    stored = revision(1, '{}', { ['__proto__']: 'a', constructor: 'b' });
    const mirror = open();
    await mirror.start();
    equal(readFileSync(join(mirror.file, '../__proto__'), 'utf8'), 'a');
    equal(readFileSync(join(mirror.file, '../constructor'), 'utf8'), 'b');
  });

  it('closes the source, and reads nothing afterwards', async () => {
    let isClosed = false;
    const mirror = open({
      close: async () => {
        isClosed = true;
      },
    });
    await mirror.start();
    await follow(mirror);
    await mirror.close();
    ok(isClosed);
    equal(reads, 1);
  });
});
