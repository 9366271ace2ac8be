import { deepEqual, equal, rejects } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFile, chmod, mkdir, readFile, rename, unlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { contentHash } from '../../../kernel/runtime/prints/content-hash.ts';
import { looksUnfinished } from '../../../kernel/runtime/watch/index.ts';
import { openWatching, type Watching } from '../../support/watching.ts';

describe('watching configuration files', () => {
  let at: Watching;
  let file: string;

  beforeEach(async () => {
    at = await openWatching();
    file = at.file;
  });

  afterEach(() => at.end());

  /** Writes the file as the gateway itself does, so that the watcher does not report the change. */
  const write = (text: string) => at.watcher.write(file, contentHash(Buffer.from(text)), () => writeFile(file, text));

  describe('reports a file saved', () => {
    it('by writing to it', async () => {
      await at.start([file]);
      await writeFile(file, '{"a": 2}');
      deepEqual(await at.next(), [file]);
    });

    it('like vim does: old file renamed, new file written, old file removed', async () => {
      await at.start([file]);
      for (const number of [2, 3, 4]) {
        await rename(file, `${file}~`);
        await writeFile(file, `{"a": ${number}}`);
        await chmod(file, 0o644);
        await unlink(`${file}~`);
        deepEqual(await at.next(), [file]);
      }
      equal(at.reported.length, 3);
    });

    it('by sed -i', async () => {
      await at.start([file]);
      execFileSync('sed', ['-i.bak', 's/1/2/', file]);
      deepEqual(await at.next(), [file]);
      equal(await readFile(file, 'utf8'), '{"a": 2}');
    });

    it('by renaming another file over it, repeatedly', async () => {
      await at.start([file]);
      for (const number of [2, 3, 4]) {
        await writeFile(`${file}.new`, `{"a": ${number}}`);
        await rename(`${file}.new`, file);
        deepEqual(await at.next(), [file]);
      }
      equal(at.reported.length, 3);
    });

    it('by deleting and creating it', async () => {
      await at.start([file]);
      await unlink(file);
      await writeFile(file, '{"a": 2}');
      deepEqual(await at.next(), [file]);
      equal(at.reported.length, 1);
    });

    it('by renaming a file with the same size and time over it', async () => {
      const time = new Date('2026-01-01');
      await utimes(file, time, time);
      await at.start([file]);
      await writeFile(`${file}.new`, '{"a": 2}');
      await utimes(`${file}.new`, time, time);
      await rename(`${file}.new`, file);
      deepEqual(await at.next(), [file]);
    });

    it('in another directory than the first file', async () => {
      const other = join(at.home, 'partials', 'hosts.json');
      await mkdir(join(at.home, 'partials'));
      await writeFile(other, '[]');
      await at.start([file, other]);
      await writeFile(other, '["http://a"]');
      deepEqual(await at.next(), [other]);
    });
  });

  describe('reports nothing', () => {
    let marker: string;

    beforeEach(async () => {
      marker = join(at.home, 'marker.json');
      await writeFile(marker, '{}');
      await at.start([file, marker]);
    });

    it('for touch', async () => {
      await utimes(file, new Date(), new Date());
      await at.nothingElseThan(marker);
    });

    it('for chmod', async () => {
      await chmod(file, 0o600);
      await at.nothingElseThan(marker);
    });

    it('for a rewrite with the same content', async () => {
      await writeFile(file, '{"a": 1}');
      await at.nothingElseThan(marker);
    });

    it('for a neighboring file that is not watched', async () => {
      await writeFile(join(at.home, 'notes.txt'), 'x');
      await at.nothingElseThan(marker);
    });

    it('for a write by the gateway itself', async () => {
      await write('{"ours": 1}');
      await at.nothingElseThan(marker);
    });
  });

  it('reports a change after a write by the gateway itself', async () => {
    await at.start([file]);
    await write('{"ours": 1}');
    await writeFile(file, '{"theirs": 1}');
    deepEqual(await at.next(), [file]);
  });

  it("reports the gateway's own text if another program restores it", async () => {
    await at.start([file]);
    await write('{"ours": 1}');
    for (const text of ['{"theirs": 1}', '{"ours": 1}']) {
      await writeFile(file, text);
      deepEqual(await at.next(), [file]);
    }
  });

  it('reports a text that the gateway failed to write if another program writes it', async () => {
    await at.start([file]);
    const failing = at.watcher.write(file, contentHash(Buffer.from('{"ours": 1}')), async () => {
      throw new Error('the disk is full');
    });
    await rejects(failing, /the disk is full/);
    await writeFile(file, '{"ours": 1}');
    deepEqual(await at.next(), [file]);
  });

  describe('waits for unfinished writes', () => {
    /** Starts the watcher. The promise resolves when a file is detected as unfinished. */
    const startPatiently = async (): Promise<{ readonly unfinished: Promise<void> }> => {
      const seen = Promise.withResolvers<void>();
      await at.start([file], {
        looksUnfinished(path, bytes) {
          const unfinished = looksUnfinished(path, bytes);
          if (unfinished) seen.resolve();
          return unfinished;
        },
      });
      return { unfinished: seen.promise };
    };

    it('of a file of which only half is written', async () => {
      const { unfinished } = await startPatiently();
      await writeFile(file, '{"a": 2, "b": [');
      await unfinished;
      await appendFile(file, '1, 2]}');
      deepEqual(await at.next(), [file]);
      equal(at.reported.length, 1);
    });

    it('of a file that is truncated, then filled', async () => {
      const { unfinished } = await startPatiently();
      await writeFile(file, '');
      await unfinished;
      await writeFile(file, '{"a": 2}');
      deepEqual(await at.next(), [file]);
      equal(at.reported.length, 1);
    });

    it('but reports a file that stays unfinished, and its completion', async () => {
      await at.start([file], { times: { patienceMs: 100 } });
      await writeFile(file, '{"a": ');
      deepEqual(await at.next(), [file]);
      await appendFile(file, '2}');
      deepEqual(await at.next(), [file]);
    });

    it('of a file that is rewritten continuously, and reports the last version', async () => {
      let last = '';
      const saw = Promise.withResolvers<void>();
      const end = `{"a": ${199}}`;
      await at.start([file], {
        async onChange() {
          last = await readFile(file, 'utf8');
          if (last === end) saw.resolve();
        },
      });
      for (let number = 0; number < 200; number++) await writeFile(file, `{"a": ${number}}`);
      await saw.promise;
      equal(last, end);
      equal(at.reported.length < 50, true, `${at.reported.length} runs`);
    });
  });
});
