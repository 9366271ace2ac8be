import { deepEqual, equal, rejects, throws } from 'node:assert/strict';
import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectory } from '../../../kernel/control/make-directory.ts';
import { parseRevision } from '../../../kernel/control/revision.ts';
import { revisionFiles } from '../../../kernel/control/revision-files.ts';
import { directories, revision } from './revisions.ts';

describe('the files of a history', () => {
  const directory = directories();

  it('do not exist without a directory', async () => {
    deepEqual(await revisionFiles(join(await directory(), 'none')).find(), { revisions: [], last: 0, skipped: [] });
  });

  it('cannot be found if the directory is a file', async () => {
    const path = join(await directory(), 'file');
    await writeFile(path, '');
    await rejects(revisionFiles(path).find(), { code: 'ENOTDIR' });
  });

  it('are found in the order of their numbers, what is skipped in the order of its names', async () => {
    const path = await directory();
    const files = revisionFiles(path);
    for (const number of [3, 1, 2]) equal(await files.create(revision(number)), true);
    for (const name of ['b.txt', 'a.txt', '1.json', 'x00000009.json']) await writeFile(join(path, name), '{}');
    const { revisions, last, skipped } = await files.find();
    deepEqual([revisions.map(({ number }) => number), last], [[1, 2, 3], 3]);
    deepEqual(
      skipped,
      ['1.json', 'a.txt', 'b.txt', 'x00000009.json'].map((name) => `${name} (not created by the gateway)`),
    );
  });

  it('hold texts in any script', async () => {
    const files = revisionFiles(await directory());
    const written = revision(1, { text: '{"name": "Größe 大"}' });
    await files.create(written);
    deepEqual(await files.read(1), written);
  });

  it('contain long texts, however they are split for writing', async () => {
    const files = revisionFiles(await directory());
    for (const [number, start] of ['', '"', 'x'].entries()) {
      const written = revision(number, { text: start + '😀\\"\n'.repeat(30_000) });
      await files.create(written);
      deepEqual(await files.read(number), written);
    }
  });

  it('are written once under a number', async () => {
    const files = revisionFiles(await directory());
    equal(await files.create(revision(1)), true);
    equal(await files.create(revision(1, { actor: 'other' })), false);
    await files.replace(revision(1, { pinned: true }));
    deepEqual(await files.read(1), revision(1, { pinned: true }));
  });

  it('are removed, and need not be there for it', async () => {
    const path = await directory();
    const files = revisionFiles(path);
    await files.create(revision(1));
    await files.remove(1);
    await files.remove(1);
    deepEqual(await readdir(path), []);
  });

  it('leave alone what cannot be removed although it is old', async () => {
    const path = await directory();
    const old = join(path, '.00000001.00000000-0000-0000-0000-000000000000.tmp');
    await mkdir(old);
    await utimes(old, 0, 0);
    deepEqual(await revisionFiles(path).find(), { revisions: [], last: 0, skipped: [] });
    deepEqual((await readdir(path)).length, 1);
  });

  it('fail with what the system says when a name cannot be given', async () => {
    const path = await directory();
    await mkdir(join(path, '00000001.json'));
    const files = revisionFiles(path);
    equal(await files.create(revision(1)), false);
    await rejects(files.replace(revision(1)), { code: 'EISDIR' });
    deepEqual(await readdir(path), ['00000001.json']);
  });

  it('need a directory that can be made', async () => {
    const path = join(await directory(), 'file');
    await writeFile(path, '');
    await rejects(makeDirectory(join(path, 'a/b')), { code: 'ENOTDIR' });
    await rm(path);
    await makeDirectory(join(path, 'a/b'));
    await makeDirectory('/');
  });
});

describe('a revision that is read', () => {
  const parse = (changes: object) => parseRevision(JSON.stringify({ ...revision(1), ...changes }), 1);

  it('is what was written', () =>
    deepEqual(parse({ actor: null, message: 'why' }), revision(1, { actor: null, message: 'why' })));

  for (const [key, wrong] of [
    ['number', 1.5],
    ['hash', 1],
    ['at', null],
    ['source', 'rumour'],
    ['actor', 7],
    ['message', {}],
    ['result', 'perhaps'],
    ['reason', 7],
    ['pinned', 'yes'],
    ['format', 'xml'],
    ['files', 'a'],
    ['files', { every: 1 }],
    ['files', ['a', 1]],
    ['text', null],
  ] as const) {
    it(`is invalid with ${JSON.stringify(wrong)} as its ${key}`, () => {
      throws(() => parse({ [key]: wrong }), { message: `"${key}" is missing or wrong` });
    });
  }

  for (const text of ['null', '[]', '7']) {
    it(`is invalid if it is ${text}`, () => throws(() => parseRevision(text, 1), { message: 'no revision' }));
  }

  it('is invalid if it is truncated, or has another number', () => {
    throws(() => parseRevision('{', 1), { message: 'no complete JSON' });
    throws(() => parse({ number: 2 }), { message: 'it contains revision 2' });
  });
});
