import { deepEqual, equal } from 'node:assert/strict';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLog } from '../../../kernel/contract/internal.ts';
import { openRevisionStore, type RevisionStore } from '../../../kernel/control/revision-store.ts';
import { directories, revision, warned } from './revisions.ts';

const numbers = (store: RevisionStore): number[] => store.list().map(({ number }) => number);

/** File modes in the tests do not depend on the umask of the user. */
const permissions = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

const places = [
  ['in memory', false],
  ['on disk', true],
] as const;

for (const [where, onDisk] of places) {
  describe(`the history of revisions ${where}`, () => {
    const directory = directories();
    const open = async (keep: number, ...given: readonly number[]): Promise<RevisionStore> => {
      const store = await openRevisionStore(onDisk ? await directory() : null, () => keep, silentLog);
      for (const number of given) await store.add(revision(number));
      return store;
    };

    it('is empty at first', async () => {
      const store = await open(20);
      deepEqual([store.last, store.list(), await store.lastGood()], [0, [], undefined]);
    });

    it('lists the newest first, without contents', async () => {
      const { text: _, ...summary } = revision(2, { message: 'second' });
      const store = await open(20, 1);
      await store.add(revision(2, { message: 'second' }));
      deepEqual(store.list()[0], summary);
      deepEqual([numbers(store), store.last], [[2, 1], 2]);
    });

    it('returns a revision with its content', async () => {
      const store = await open(20, 1, 2);
      deepEqual(await store.get(1), revision(1));
    });

    it('returns a new revision immediately', async () => {
      const store = await open(20);
      const added = store.add(revision(1));
      deepEqual([numbers(store), await store.get(1)], [[1], revision(1)]);
      await added;
    });

    it('distinguishes pruned from unknown revisions', async () => {
      const store = await open(1, 1, 2);
      deepEqual(await Promise.all([0, 1, 3, -1, 1.5].map(store.get)), [
        undefined,
        'pruned',
        undefined,
        undefined,
        undefined,
      ]);
    });

    it('keeps the configured number of the newest revisions', async () => {
      deepEqual(numbers(await open(3, 1, 2, 3, 4, 5)), [5, 4, 3]);
    });

    it('keeps the active revision even if the configured number is 0', async () => {
      deepEqual(numbers(await open(0, 1, 2)), [2]);
    });

    it('keeps pinned revisions in addition', async () => {
      const store = await open(2, 1);
      await store.pin(1, true);
      for (const number of [2, 3, 4]) await store.add(revision(number));
      deepEqual(numbers(store), [4, 3, 1]);
    });

    it('does not count a pinned active revision', async () => {
      const store = await open(1, 1);
      await store.add(revision(2, { pinned: true }));
      deepEqual(numbers(store), [2, 1]);
    });

    it('prunes a revision that is unpinned', async () => {
      const store = await open(1, 1);
      await store.pin(1, true);
      await store.add(revision(2));
      await store.pin(1, false);
      deepEqual([numbers(store), await store.get(1)], [[2], 'pruned']);
    });

    it('lists the pinned revisions', async () => {
      const store = await open(1, 1, 2);
      const { text: _, ...summary } = revision(2, { pinned: true });
      deepEqual(
        [await store.pin(2, true), await store.pin(1, true), await store.pin(3, true)],
        [summary, 'pruned', undefined],
      );
    });

    it('records that a revision was rolled back, and why', async () => {
      const store = await open(20, 1);
      await store.markBad(1, 'errors rose');
      deepEqual(await store.get(1), revision(1, { result: 'rolled-back', reason: 'errors rose' }));
    });

    it('finds the last good revision before those that were rolled back', async () => {
      const store = await open(20, 1, 2, 3);
      await store.markBad(3, 'errors rose');
      await store.markBad(2, 'errors rose');
      deepEqual(await store.lastGood(), revision(1));
    });

    it('finds no good revision if all were rolled back', async () => {
      const store = await open(20, 1);
      await store.markBad(1, 'errors rose');
      equal(await store.lastGood(), undefined);
    });

    it('reports no problem', async () => {
      equal((await open(20, 1)).problem, null);
    });
  });
}

describe('the directory of revisions', () => {
  const directory = directories();

  it("is created with its parents, accessible only to the gateway's user", async () => {
    const home = await directory();
    const path = join(home, 'state', 'revisions');
    await (await openRevisionStore(path, () => 20, silentLog)).add(revision(1));
    deepEqual(await Promise.all([permissions(path), permissions(join(home, 'state'))]), ['700', '700']);
  });

  it("contains one file per revision, readable only by the gateway's user", async () => {
    const path = await directory();
    const store = await openRevisionStore(path, () => 20, silentLog);
    await store.add(revision(1));
    await store.add(revision(1234));
    await store.markBad(1, 'errors rose');
    deepEqual((await readdir(path)).sort(), ['00000001.json', '00001234.json']);
    deepEqual(await Promise.all((await readdir(path)).map((name) => permissions(join(path, name)))), ['600', '600']);
  });

  it('no longer contains the files of pruned revisions', async () => {
    const path = await directory();
    const store = await openRevisionStore(path, () => 1, silentLog);
    for (const number of [1, 2, 3]) await store.add(revision(number));
    deepEqual(await readdir(path), ['00000003.json']);
  });

  it('is written in order, even if no caller waits', async () => {
    const path = await directory();
    const store = await openRevisionStore(path, () => 2, silentLog);
    await Promise.all([
      ...[1, 2, 3, 4].map((number) => store.add(revision(number))),
      store.pin(3, true),
      store.add(revision(5)),
      store.markBad(4, 'errors rose'),
    ]);
    deepEqual((await readdir(path)).sort(), ['00000003.json', '00000004.json', '00000005.json']);
    deepEqual(JSON.parse(await readFile(join(path, '00000004.json'), 'utf8')), {
      ...revision(4),
      result: 'rolled-back',
      reason: 'errors rose',
    });
  });

  it('is complete for the next process', async () => {
    const path = await directory();
    const before = await openRevisionStore(path, () => 20, silentLog);
    for (const number of [1, 2, 3]) await before.add(revision(number));
    await before.pin(1, true);
    await before.markBad(3, 'p99 rose');
    const { log, warnings } = warned();
    const after = await openRevisionStore(path, () => 20, log);
    deepEqual(after.list(), before.list());
    deepEqual([after.last, await after.lastGood(), after.problem, warnings], [3, revision(2), null, []]);
  });

  it('keeps texts in any script', async () => {
    const path = await directory();
    const text = '# “größer” 配置 \u0000 🙂\n';
    await (await openRevisionStore(path, () => 20, silentLog)).add(revision(1, { text, format: 'yaml' }));
    const store = await openRevisionStore(path, () => 20, silentLog);
    deepEqual(await store.get(1), revision(1, { text, format: 'yaml' }));
  });

  it('is pruned to a new configured number after a restart', async () => {
    const path = await directory();
    const before = await openRevisionStore(path, () => 20, silentLog);
    for (const number of [1, 2, 3]) await before.add(revision(number));
    const after = await openRevisionStore(path, () => 2, silentLog);
    await after.add(revision(4));
    deepEqual((await readdir(path)).sort(), ['00000003.json', '00000004.json']);
  });

  it('is pruned at once after a restart if the number is 0', async () => {
    const path = await directory();
    const before = await openRevisionStore(path, () => 20, silentLog);
    for (const number of [1, 2, 3]) await before.add(revision(number));
    const after = await openRevisionStore(path, () => 0, silentLog);
    await after.add(revision(4));
    deepEqual(await readdir(path), ['00000004.json']);
  });

  it('continues after the highest number, regardless of its digits', async () => {
    const path = await directory();
    const before = await openRevisionStore(path, () => 20, silentLog);
    for (const number of [99_999_999, 100_000_000]) await before.add(revision(number));
    equal((await openRevisionStore(path, () => 20, silentLog)).last, 100_000_000);
  });
});
