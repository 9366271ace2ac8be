import { deepEqual, equal, match } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLog } from '../../../kernel/contract/internal.ts';
import { type RevisionFiles, revisionFiles } from '../../../kernel/control/revision-files.ts';
import { createRevisionStore, openRevisionStore } from '../../../kernel/control/revision-store.ts';
import { directories, revision, warned } from './revisions.ts';

describe('a revision history on a failing disk', () => {
  const directory = directories();

  /** A directory whose file operations in `broken` fail. */
  async function breakable() {
    const path = await directory();
    const files = revisionFiles(path);
    const broken = new Set<keyof RevisionFiles>();
    const or = <A extends unknown[], T>(name: keyof RevisionFiles, work: (...given: A) => Promise<T>) => {
      return async (...given: A): Promise<T> => {
        if (broken.has(name)) throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
        return work(...given);
      };
    };
    const breaking: RevisionFiles = {
      find: or('find', files.find),
      read: or('read', files.read),
      create: or('create', files.create),
      replace: or('replace', files.replace),
      remove: or('remove', files.remove),
    };
    const { log, warnings } = warned();
    return { path, broken, warnings, open: (keep = 20) => createRevisionStore(breaking, () => keep, log) };
  }

  it('keeps the revision in memory', async () => {
    const { broken, open, path } = await breakable();
    const store = await open();
    broken.add('create');
    await store.add(revision(1));
    deepEqual([await store.get(1), await store.lastGood(), await readdir(path)], [revision(1), revision(1), []]);
  });

  it('reports the problem until the disk works again', async () => {
    const { broken, open } = await breakable();
    const store = await open();
    broken.add('create');
    await store.add(revision(1));
    equal(store.problem, 'ENOSPC: no space left');
    broken.clear();
    await store.add(revision(2));
    equal(store.problem, null);
  });

  it('warns once, and again after a success', async () => {
    const { broken, warnings, open } = await breakable();
    const store = await open();
    broken.add('create');
    await store.add(revision(1));
    await store.add(revision(2));
    equal(warnings.length, 1);
    broken.clear();
    await store.add(revision(3));
    broken.add('create');
    await store.add(revision(4));
    const line = 'revisions are kept in memory only: ENOSPC: no space left';
    deepEqual(warnings, [line, line]);
  });

  it('writes revisions later that could not be written', async () => {
    const { broken, open } = await breakable();
    const store = await open();
    broken.add('create');
    await store.add(revision(1));
    await store.markBad(1, 'errors rose');
    broken.clear();
    await store.add(revision(2));
    const again = await open();
    deepEqual(
      [await again.get(1), await again.get(2)],
      [revision(1, { result: 'rolled-back', reason: 'errors rose' }), revision(2)],
    );
  });

  it('does not write revisions that were pruned before the disk worked again', async () => {
    const { broken, open, path } = await breakable();
    const store = await open(1);
    broken.add('create');
    await store.add(revision(1));
    broken.clear();
    await store.add(revision(2));
    deepEqual(await readdir(path), ['00000002.json']);
  });

  for (const step of ['read', 'replace'] as const) {
    it(`writes a pin later if it could not ${step} the file`, async () => {
      const { broken, open } = await breakable();
      const store = await open();
      await store.add(revision(1));
      broken.add(step);
      await store.pin(1, true);
      deepEqual([store.problem, store.list()[0]?.pinned], ['ENOSPC: no space left', true]);
      broken.clear();
      await store.add(revision(2));
      equal((await open()).list()[1]?.pinned, true);
    });
  }

  it('removes files later that could not be removed', async () => {
    const { broken, open, path } = await breakable();
    const store = await open(1);
    broken.add('remove');
    await store.add(revision(1));
    await store.add(revision(2));
    deepEqual([await store.get(1), store.problem], ['pruned', 'ENOSPC: no space left']);
    broken.clear();
    await store.add(revision(3));
    deepEqual([await readdir(path), store.problem], [['00000003.json'], null]);
  });

  it('warns of a revision that cannot be read, and finds it again when it can', async () => {
    const { broken, open, warnings } = await breakable();
    const store = await open();
    await store.add(revision(1));
    broken.add('read');
    equal(await store.get(1), 'pruned');
    deepEqual(warnings, ['revision 1 cannot be read: ENOSPC: no space left']);
    broken.clear();
    deepEqual(await store.get(1), revision(1));
  });

  it('does not warn of a revision that is pruned while it is read', async () => {
    const files = revisionFiles(await directory());
    const pruned = Promise.withResolvers<void>();
    const slow: RevisionFiles = { ...files, read: (number) => pruned.promise.then(() => files.read(number)) };
    const { log, warnings } = warned();
    const store = await createRevisionStore(slow, () => 1, log);
    await store.add(revision(1));
    const reading = store.get(1);
    await store.add(revision(2));
    pruned.resolve();
    deepEqual([await reading, warnings], ['pruned', []]);
  });

  it('opens with a warning if the directory cannot be read', async () => {
    const { broken, open, warnings } = await breakable();
    broken.add('find');
    const store = await open();
    deepEqual([store.list(), store.problem, warnings.length], [[], 'ENOSPC: no space left', 1]);
  });

  it('serves while a file has the path of the directory, and writes once it is removed', async () => {
    const path = join(await directory(), 'revisions');
    await writeFile(path, '');
    const { log, warnings } = warned();
    const store = await openRevisionStore(path, () => 20, log);
    await store.add(revision(1));
    deepEqual([await store.get(1), warnings.length], [revision(1), 1]);
    match(store.problem!, /EEXIST|ENOTDIR/);
    await rm(path);
    await store.add(revision(2));
    deepEqual([(await readdir(path)).sort(), store.problem], [['00000001.json', '00000002.json'], null]);
  });

  it('creates its directory again when it is removed', async () => {
    const path = join(await directory(), 'revisions');
    const store = await openRevisionStore(path, () => 20, silentLog);
    await store.add(revision(1));
    await rm(path, { recursive: true });
    await store.add(revision(2));
    deepEqual([await readdir(path), store.problem], [['00000002.json'], null]);
  });
});

describe('a revision history on a full disk', () => {
  const directory = directories();

  it('keeps a revision in memory, leaves no partial file, and writes it when there is space', async function () {
    const path = await directory();
    // Skipped without superuser rights, which mounting a file system requires.
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', path]).status !== 0) this.skip();
    try {
      const { log, warnings } = warned();
      const store = await openRevisionStore(path, () => 20, log);
      await writeFile(join(path, 'others'), Buffer.alloc(40_000));
      const large = revision(1, { text: 'x'.repeat(30_000) });
      await store.add(large);
      deepEqual([await store.get(1), await readdir(path), warnings.length], [large, ['others'], 1]);
      match(store.problem!, /ENOSPC/);
      await rm(join(path, 'others'));
      await store.add(revision(2));
      deepEqual([(await readdir(path)).sort(), store.problem], [['00000001.json', '00000002.json'], null]);
    } finally {
      spawnSync('umount', [path]);
    }
  });
});

describe('foreign files in the directory of revisions', () => {
  const directory = directories();
  const cases: readonly (readonly [what: string, name: string, content: string])[] = [
    ['truncated', '00000002.json', JSON.stringify(revision(2)).slice(0, 100)],
    ['empty', '00000002.json', ''],
    ['not an object', '00000002.json', '[]'],
    ['under a wrong number', '00000002.json', JSON.stringify(revision(3))],
    ['without content', '00000002.json', JSON.stringify({ ...revision(2), text: undefined })],
    ['from an unknown source', '00000002.json', JSON.stringify({ ...revision(2), source: 'rumour' })],
    ['of another program', 'notes.txt', 'mine'],
  ];
  for (const [what, name, content] of cases) {
    it(`are skipped with a warning that names them, and not removed: ${what}`, async () => {
      const path = await directory();
      await (await openRevisionStore(path, () => 20, silentLog)).add(revision(1));
      await writeFile(join(path, name), content);
      const { log, warnings } = warned();
      const store = await openRevisionStore(path, () => 20, log);
      deepEqual([store.list().length, warnings.length, warnings[0]?.includes(name)], [1, 1, true]);
      equal(await readFile(join(path, name), 'utf8'), content);
    });
  }

  it('are not quoted in warnings', async () => {
    const path = await directory();
    await writeFile(join(path, '00000001.json'), '{"text": "top secret"');
    const { log, warnings } = warned();
    await openRevisionStore(path, () => 20, log);
    deepEqual([warnings.length, warnings.join().includes('secret')], [1, false]);
  });

  it('block their numbers', async () => {
    const path = await directory();
    await writeFile(join(path, '00000009.json'), '{');
    const store = await openRevisionStore(path, () => 20, silentLog);
    deepEqual([store.last, await store.get(9)], [9, 'pruned']);
  });

  it('are removed if they are temporary files older than an hour', async () => {
    const path = await directory();
    const old = join(path, '.00000001.00000000-0000-4000-8000-000000000000.tmp');
    const young = join(path, '.00000001.00000000-0000-4000-8000-000000000001.tmp');
    await writeFile(old, '');
    await writeFile(young, '');
    const before = Date.now() / 1000 - 3_601;
    await utimes(old, before, before);
    const { log, warnings } = warned();
    await openRevisionStore(path, () => 20, log);
    deepEqual([(await readdir(path)).map((name) => join(path, name)), warnings], [[young], []]);
  });

  it('cause a warning if they replace a revision', async () => {
    const path = await directory();
    const { log, warnings } = warned();
    const store = await openRevisionStore(path, () => 20, log);
    await store.add(revision(1));
    await store.add(revision(2));
    await writeFile(join(path, '00000002.json'), '{');
    deepEqual([await store.lastGood(), store.list().length], [revision(1), 1]);
    deepEqual(warnings, ['revision 2 is lost: the JSON is incomplete']);
  });

  it('cause a warning if a revision is missing', async () => {
    const path = await directory();
    const { log, warnings } = warned();
    const store = await openRevisionStore(path, () => 20, log);
    await store.add(revision(1));
    await rm(join(path, '00000001.json'));
    await store.pin(1, true);
    deepEqual([await store.get(1), store.problem, warnings.length], ['pruned', null, 1]);
    match(warnings[0]!, /^revision 1 is lost: ENOENT/);
  });
});

describe('two processes with one revision history', () => {
  const directory = directories();

  async function two(keep = 20) {
    const path = await directory();
    const { log, warnings } = warned();
    const first = await openRevisionStore(path, () => keep, silentLog);
    const second = await openRevisionStore(path, () => keep, log);
    await first.add(revision(1, { text: 'first' }));
    await second.add(revision(1, { text: 'second' }));
    return { path, first, second, warnings };
  }

  it('keep the file of the first', async () => {
    const { path } = await two();
    const text = await readFile(join(path, '00000001.json'), 'utf8');
    deepEqual(JSON.parse(text), revision(1, { text: 'first' }));
  });

  it('serve different revisions', async () => {
    const { first, second } = await two();
    deepEqual(
      [await first.get(1), await second.get(1)],
      [revision(1, { text: 'first' }), revision(1, { text: 'second' })],
    );
  });

  it('warn, and report a problem until the next revision is written', async () => {
    const { second, warnings } = await two();
    const line =
      'revision 1 on disk was written by another process; the revision of this process is kept in memory only';
    deepEqual([warnings, second.problem], [[line], line]);
    await second.add(revision(2));
    deepEqual([warnings.length, second.problem], [1, null]);
  });

  it("do not remove each other's files when they prune old revisions", async () => {
    const { path, second } = await two(1);
    await second.add(revision(2));
    deepEqual((await readdir(path)).sort(), ['00000001.json', '00000002.json']);
  });

  it("do not overwrite each other's files when they pin a revision", async () => {
    const { path, second } = await two();
    await second.pin(1, true);
    equal(JSON.parse(await readFile(join(path, '00000001.json'), 'utf8')).text, 'first');
  });

  it('write one complete file when many of them write the same number concurrently', async () => {
    const path = await directory();
    const texts = Array.from({ length: 20 }, (_, at) => `${at}`.repeat(50_000));
    const made = await Promise.all(texts.map((text) => revisionFiles(path).create(revision(1, { text }))));
    equal(made.filter(Boolean).length, 1);
    equal((await revisionFiles(path).read(1)).text, texts[made.indexOf(true)]);
    deepEqual(await readdir(path), ['00000001.json']);
  });

  it('leave no temporary file if another process has written the number first', async () => {
    const path = await directory();
    await mkdir(join(path, '00000001.json'));
    equal(await revisionFiles(path).create(revision(1)), false);
    deepEqual(await readdir(path), ['00000001.json']);
  });
});
