import { deepEqual, equal, rejects, throws } from 'node:assert/strict';
import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseRevision } from '../../../kernel/control/revision.ts';
import { revisionFiles } from '../../../kernel/control/revision-files.ts';
import { makeDirectory } from '../../../kernel/values/make-directory.ts';
import { directories, revision } from './revisions.ts';

describe('the files of a revision history', () => {
  const directory = directories();

  it('are an empty list without a directory', async () => {
    deepEqual(await revisionFiles(join(await directory(), 'none')).find(), { revisions: [], last: 0, skipped: [] });
  });

  it('cannot be read if the directory is a file', async () => {
    const path = join(await directory(), 'file');
    await writeFile(path, '');
    await rejects(revisionFiles(path).find(), { code: 'ENOTDIR' });
  });

  it('are read in the order of their numbers; skipped files are listed by name', async () => {
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

  it('can contain texts in any script', async () => {
    const files = revisionFiles(await directory());
    const written = revision(1, { text: '{"name": "Größe 大"}' });
    await files.create(written);
    deepEqual(await files.read(1), written);
  });

  it('can contain long texts, regardless of the chunks in which they are written', async () => {
    const files = revisionFiles(await directory());
    for (const [number, start] of ['', '"', 'x'].entries()) {
      const written = revision(number, { text: start + '😀\\"\n'.repeat(30_000) });
      await files.create(written);
      deepEqual(await files.read(number), written);
    }
  });

  it('are created once per number', async () => {
    const files = revisionFiles(await directory());
    equal(await files.create(revision(1)), true);
    equal(await files.create(revision(1, { actor: 'other' })), false);
    await files.replace(revision(1, { pinned: true }));
    deepEqual(await files.read(1), revision(1, { pinned: true }));
  });

  it('can be removed, even if they do not exist', async () => {
    const path = await directory();
    const files = revisionFiles(path);
    await files.create(revision(1));
    await files.remove(1);
    await files.remove(1);
    deepEqual(await readdir(path), []);
  });

  it('skip an old temporary file that cannot be removed', async () => {
    const path = await directory();
    const old = join(path, '.00000001.00000000-0000-0000-0000-000000000000.tmp');
    await mkdir(old);
    await utimes(old, 0, 0);
    deepEqual(await revisionFiles(path).find(), { revisions: [], last: 0, skipped: [] });
    deepEqual((await readdir(path)).length, 1);
  });

  it('cannot be created if the system rejects the file name, with its reason', async () => {
    const path = await directory();
    await mkdir(join(path, '00000001.json'));
    const files = revisionFiles(path);
    equal(await files.create(revision(1)), false);
    await rejects(files.replace(revision(1)), { code: 'EISDIR' });
    deepEqual(await readdir(path), ['00000001.json']);
  });

  it('need a directory that can be created', async () => {
    const path = join(await directory(), 'file');
    await writeFile(path, '');
    await rejects(makeDirectory(join(path, 'a/b')), { code: 'ENOTDIR' });
    await rm(path);
    await makeDirectory(join(path, 'a/b'));
    await makeDirectory('/');
  });
});

describe('a stored revision', () => {
  const parse = (changes: object) => parseRevision(JSON.stringify({ ...revision(1), ...changes }), 1);

  it('is read as it was written', () =>
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
    throws(() => parseRevision('{', 1), { message: 'the JSON is incomplete' });
    throws(() => parse({ number: 2 }), { message: 'it contains revision 2' });
  });
});
