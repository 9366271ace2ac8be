import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { SourceConflict } from '#contract';
import { until } from './conditions.ts';
import { copiedBy, filesOf, soon, type TestSources, textsIn } from './source-suite.ts';

/** A store for the tests of the contract. */
export interface StoreUnderTest {
  readonly sources: TestSources;
  address(key: string): string;
  /** Writes the value of a key, as other programs do. */
  put(key: string, text: string): Promise<void> | void;
  /** Writes a file that belongs to a key. */
  putFile(key: string, name: string, text: string): Promise<void> | void;
  removeFile(key: string, name: string): Promise<void> | void;
  stop(): Promise<void>;
  /** Restarts with the same data. */
  start(): Promise<void>;
}

/** Tests of what every store of configurations does that can be written, reports changes, and has several files. */
export function itKeepsTheContract(store: () => StoreUnderTest, { writesSeveral = true } = {}): void {
  const open = (key: string) => store().sources.open(store().address(key));
  const write = (key: string, files: Readonly<Record<string, string>>, expected: string | null) =>
    open(key).write!({ files: filesOf(files), expected }, soon());
  const versionOf = async (key: string) => (await open(key).read(soon()))!.version;

  it('is a key whose name ends like a configuration file', async () => {
    await store().put('single/eu.yaml', 'version: 3');
    deepEqual(await textsIn(open('single/eu.yaml')), { 'eu.yaml': 'version: 3' });
  });

  it('is several files, the configuration first', async () => {
    await store().putFile('several', 'a/part.json', '[]');
    await store().putFile('several', 'gateway.json', '{}');
    await store().putFile('several2', 'gateway.json', '{"other":true}');
    const revision = await open('several').read(soon());
    deepEqual([...revision!.files.keys()], ['gateway.json', 'a/part.json']);
  });

  it('is absent without a key', async () => {
    equal(await open('absent').read(soon()), null);
    equal(await open('absent.json').read(soon()), null);
  });

  it('is rejected if no file is named like a configuration', async () => {
    await store().putFile('unnamed', 'part.json', '[]');
    await rejects(open('unnamed').read(soon()), /unnamed.* has no configuration/);
  });

  it('is rejected if it is larger than the maximum', async () => {
    await store().put('large.json', 'x'.repeat(300_000));
    await rejects(open('large.json').read(soon()), /larger than/);
  });

  it('has the same version until it is written', async () => {
    await store().putFile('version', 'gateway.json', '1');
    const first = await versionOf('version');
    await store().putFile('another', 'gateway.json', '1');
    equal(await versionOf('version'), first);
    await store().putFile('version', 'gateway.json', '2');
    ok((await versionOf('version')) !== first);
  });

  describe('reports a change', () => {
    it('of the configuration', async () => {
      await store().putFile('watch', 'gateway.json', '1');
      const source = open('watch');
      const changed = source.awaitChange!(await versionOf('watch'), soon());
      await store().putFile('watch', 'gateway.json', '2');
      await changed;
      deepEqual(await textsIn(source), { 'gateway.json': '2' });
    });

    it('that was made before the wait began', async () => {
      await store().putFile('before', 'gateway.json', '1');
      const version = await versionOf('before');
      await store().putFile('before', 'gateway.json', '2');
      await open('before').awaitChange!(version, soon());
    });

    it('that removes a file', async () => {
      await store().putFile('remove', 'gateway.json', '1');
      await store().putFile('remove', 'part.json', '1');
      const source = open('remove');
      const changed = source.awaitChange!(await versionOf('remove'), soon());
      await store().removeFile('remove', 'part.json');
      await changed;
      deepEqual(await textsIn(source), { 'gateway.json': '1' });
    });

    it('that creates the configuration', async () => {
      const source = open('created');
      const changed = source.awaitChange!(null, soon());
      await store().putFile('created', 'gateway.json', '1');
      await changed;
      deepEqual(await textsIn(source), { 'gateway.json': '1' });
    });

    it('not of other keys', async () => {
      await store().putFile('quiet', 'gateway.json', '1');
      await store().putFile('quieter', 'gateway.json', '1');
      let hasChanged = false;
      const changed = open('quiet').awaitChange!(await versionOf('quiet'), soon()).then(() => {
        hasChanged = true;
      });
      const other = open('quieter').awaitChange!(await versionOf('quieter'), soon());
      await store().putFile('quieter', 'gateway.json', '2');
      await other;
      equal(hasChanged, false);
      await store().putFile('quiet', 'gateway.json', '2');
      await changed;
    });

    it('until it is canceled', async () => {
      await store().putFile('canceled', 'gateway.json', '1');
      const canceling = new AbortController();
      const waiting = open('canceled').awaitChange!(await versionOf('canceled'), canceling.signal);
      canceling.abort();
      await rejects(waiting);
    });
  });

  describe('is written', () => {
    it('if the store has the expected version', async () => {
      await store().putFile('write', 'gateway.json', '1');
      const version = await write('write', { 'gateway.json': '2' }, await versionOf('write'));
      deepEqual(await textsIn(open('write')), { 'gateway.json': '2' });
      equal(await versionOf('write'), version);
    });

    if (writesSeveral) {
      it('with several files, which replace all others', async () => {
        await store().putFile('replace', 'gateway.json', '1');
        await store().putFile('replace', 'old.json', '1');
        const files = { 'gateway.json': '2', 'a/new.json': '2' };
        const version = await write('replace', files, await versionOf('replace'));
        deepEqual(await textsIn(open('replace')), files);
        equal(await versionOf('replace'), version);
      });
    }

    it('to a key whose name ends like a configuration file', async () => {
      const version = await write('written/eu.json', { 'gateway.json': '1' }, null);
      deepEqual(await textsIn(open('written/eu.json')), { 'eu.json': '1' });
      await write('written/eu.json', { 'eu.json': '2' }, version);
      deepEqual(await textsIn(open('written/eu.json')), { 'eu.json': '2' });
    });

    it('for the first time only if the key does not exist', async () => {
      await write('create', { 'gateway.json': '1' }, null);
      await rejects(write('create', { 'gateway.json': '1' }, null), SourceConflict);
    });

    it('again after it was removed', async () => {
      await store().putFile('removed', 'gateway.json', '1');
      const version = await versionOf('removed');
      await store().removeFile('removed', 'gateway.json');
      await rejects(write('removed', { 'gateway.json': '2' }, version), SourceConflict);
      await write('removed', { 'gateway.json': '2' }, null);
      deepEqual(await textsIn(open('removed')), { 'gateway.json': '2' });
    });

    it('not after another change', async () => {
      await store().putFile('conflict', 'gateway.json', '1');
      const version = await versionOf('conflict');
      await store().putFile('conflict', 'gateway.json', '2');
      await rejects(write('conflict', { 'gateway.json': '3' }, version), SourceConflict);
      deepEqual(await textsIn(open('conflict')), { 'gateway.json': '2' });
    });

    for (const start of ['existing', 'new']) {
      it(
        `by exactly one of several writers of an ${start} key at the same time`.replace('an new', 'a new'),
        async () => {
          const key = `race-${start}`;
          if (start === 'existing') await store().putFile(key, 'gateway.json', '0');
          const version = start === 'existing' ? await versionOf(key) : null;
          const texts = ['1', '2', '3', '4'];
          const results = await Promise.allSettled(texts.map((text) => write(key, { 'gateway.json': text }, version)));
          equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
          const losers = results.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
          ok(losers.every((error) => error instanceof SourceConflict));
          const winner = texts[results.findIndex(({ status }) => status === 'fulfilled')]!;
          deepEqual(await textsIn(open(key)), { 'gateway.json': winner });
        },
      );
    }
  });

  it('is followed by a mirror, also after the server was stopped and restarted', async () => {
    await store().putFile('restart', 'gateway.json', '1');
    const mirror = await store().sources.follow(open('restart'));
    await store().putFile('restart', 'gateway.json', '2');
    await until(() => copiedBy(mirror) === '2');
    await store().stop();
    await until(() => mirror.status.state === 'unreachable');
    await store().start();
    await until(() => mirror.status.state === 'current');
    await store().putFile('restart', 'gateway.json', '3');
    await until(() => copiedBy(mirror) === '3');
  });
}
