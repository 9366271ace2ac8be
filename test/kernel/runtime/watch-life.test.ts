import { deepEqual, equal, match } from 'node:assert/strict';
import fs, { readdirSync, readFileSync } from 'node:fs';
import { link, mkdir, unlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { contentHash } from '../../../kernel/runtime/prints/content-hash.ts';
import { installFailures } from '../../../scripts/chaos/failures/install.ts';
import { noFailures } from '../../../scripts/chaos/failures/plan.ts';
import { openWatching, type Watching } from '../../support/watching.ts';

const hash = (text: string): string => contentHash(Buffer.from(text));

describe('a file watcher', () => {
  let at: Watching;
  let file: string;

  beforeEach(async () => {
    at = await openWatching();
    file = at.file;
  });

  afterEach(() => at.end());

  describe('continues to watch', () => {
    it('after a change whose handler failed', async () => {
      await at.start([file], { onChange: () => Promise.reject(new Error('refused')) });
      await writeFile(file, '{"a": 2}');
      await at.next();
      await writeFile(file, '{"a": 3}');
      deepEqual(await at.next(), [file]);
      match(at.errors.join(), /refused/);
    });

    it('after a file was removed, which it reports', async () => {
      await at.start([file], { times: { patienceMs: 100 } });
      await unlink(file);
      deepEqual(await at.next(), [file]);
      equal(at.warnings.length, 1);
      match(at.warnings[0]!, /gateway\.json.*missing/);
      await writeFile(file, '{"a": 2}');
      deepEqual(await at.next(), [file]);
    });

    it('for a file that does not exist yet', async () => {
      const later = join(at.home, 'later.json');
      await at.start([file, later]);
      equal(at.watcher.status.files, 2);
      await writeFile(later, '{}');
      deepEqual(await at.next(), [later]);
      deepEqual(at.warnings, []);
    });

    it('for a file that cannot be read at the moment, until it can', async () => {
      await at.start([file]);
      const { failures, remove } = await installFailures({
        seed: 1,
        faults: [{ operation: 'read', error: 'EMFILE', match: 'gateway' }],
      });
      try {
        await writeFile(file, '{"a": 2}');
        deepEqual(await at.next(), [file]);
        match(at.warnings.join(), /^[^,]*cannot be read \(EMFILE\)[^,]*$/);
        failures.plan = noFailures;
        deepEqual(await at.next(), [file]);
      } finally {
        remove();
      }
      deepEqual([at.watcher.status.mode, at.warnings.length], ['events', 1]);
    });

    it('without reporting device files as changes', async () => {
      await at.start(['/dev/null', { path: '/dev/zero', hash: hash('x') }, file]);
      await at.nothingElseThan(file);
    });
  });

  it('runs one handler at a time, and once for all changes during the run', async () => {
    const other = join(at.home, 'other.json');
    await writeFile(other, '0');
    const gate = Promise.withResolvers<void>();
    let running = 0;
    let most = 0;
    await at.start([file, other], {
      async onChange() {
        most = Math.max(most, ++running);
        await gate.promise;
        running--;
      },
    });
    await writeFile(file, '{"a": 2}');
    await at.next();
    for (const number of [1, 2, 3]) await writeFile(other, `${number}`);
    await writeFile(file, '{"a": 3}');
    gate.resolve();
    const reported = new Set<string>();
    while (reported.size < 2) for (const path of await at.next()) reported.add(path);
    equal(most, 1);
    equal(at.reported.length <= 3, true);
  });

  describe('when it receives the files of a reload attempt', () => {
    let other: string;

    beforeEach(async () => {
      other = join(at.home, 'other.json');
      await writeFile(other, '{}');
    });

    it('stops watching files that only the previous attempt used', async () => {
      await at.start([file, other]);
      await at.watcher.watch([other]);
      equal(at.watcher.status.files, 1);
      await writeFile(file, '{"a": 2}');
      await at.nothingElseThan(other);
    });

    it('reports at once a file that has changed since it was read', async () => {
      await at.start([
        { path: file, hash: hash('{"a": 0}') },
        { path: other, hash: hash('{}') },
      ]);
      deepEqual(await at.next(), [file]);
    });

    it('does so while it reports a change', async () => {
      const read = { path: other, hash: hash('{}') };
      await at.start([file], { onChange: () => at.watcher.watch([file, read]) });
      await writeFile(file, '{"a": 2}');
      deepEqual(await at.next(), [file]);
      await writeFile(other, '[]');
      deepEqual(await at.next(), [other]);
    });
  });

  describe('polls', () => {
    it('if events are disabled', async () => {
      await at.start([file], { events: false });
      deepEqual(at.watcher.status, { mode: 'poll', files: 1 });
      await writeFile(file, '{"a": 2}');
      deepEqual(await at.next(), [file]);
      deepEqual(at.warnings, []);
    });

    it('after a change without an event, with one warning', async () => {
      const elsewhere = join(at.home, 'elsewhere');
      await mkdir(elsewhere);
      await at.start([file], { times: { slowPollMs: 50 } });
      equal(at.watcher.status.mode, 'events');
      // Polling is necessary, because a write through another name of the file causes no event for this name.
      await link(file, join(elsewhere, 'link.json'));
      for (const number of [2, 3]) {
        await writeFile(join(elsewhere, 'link.json'), `{"a": ${number}}`);
        deepEqual(await at.next(), [file]);
      }
      equal(at.watcher.status.mode, 'poll');
      equal(at.warnings.length, 1);
    });

    it('if the operating system sends no events, with one warning', async () => {
      const original = fs.watch;
      fs.watch = (() => {
        throw Object.assign(new Error('no watches left'), { code: 'ENOSPC' });
      }) as unknown as typeof fs.watch;
      syncBuiltinESMExports();
      try {
        await mkdir(join(at.home, 'more'));
        await at.start([file, join(at.home, 'more', 'x.json')]);
      } finally {
        fs.watch = original;
        syncBuiltinESMExports();
      }
      equal(at.watcher.status.mode, 'poll');
      equal(at.warnings.length, 1);
      match(at.warnings[0]!, /no watches left.*every 40 ms/);
      await writeFile(file, '{"a": 2}');
      deepEqual(await at.next(), [file]);
    });
  });

  describe('on close', () => {
    it('leaves no handle open', async function () {
      if (process.platform !== 'linux') this.skip();
      const before = watchedInodes();
      await mkdir(join(at.home, 'more'));
      await at.start([file, join(at.home, 'more', 'x.json')]);
      equal(watchedInodes() > before, true);
      await at.watcher.close();
      equal(watchedInodes(), before);
    });

    it('closes the handles of files that were being added', async function () {
      if (process.platform !== 'linux') this.skip();
      const before = watchedInodes();
      const starting = at.start([file]);
      await at.watcher.close();
      await starting;
      equal(watchedInodes(), before);
    });

    it('ignores new files and a second close', async () => {
      await at.start([file]);
      await at.watcher.close();
      await at.watcher.watch([file]);
      await at.watcher.write(file, 'x', async () => {});
      await at.watcher.close();
    });
  });
});

/** Directories that the operating system watches for this process. */
function watchedInodes(): number {
  let count = 0;
  for (const descriptor of readdirSync('/proc/self/fdinfo')) {
    try {
      count += readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8').split('inotify wd:').length - 1;
    } catch {
      // Ignored: the descriptor that was used to list the directory no longer exists.
    }
  }
  return count;
}
