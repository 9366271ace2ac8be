import { deepEqual, equal, rejects } from 'node:assert/strict';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replaceFile } from '../../../../kernel/config/index.ts';

describe('replacing a file', () => {
  let folder: string;
  const path = (name: string) => join(folder, name);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('writes the text and leaves no other file behind', async () => {
    writeFileSync(path('a.json'), 'old');
    equal(await replaceFile(path('a.json'), 'new'), true);
    equal(readFileSync(path('a.json'), 'utf8'), 'new');
    deepEqual(readdirSync(folder), ['a.json']);
  });

  it('keeps the permissions', async () => {
    writeFileSync(path('a.json'), 'old', { mode: 0o640 });
    await replaceFile(path('a.json'), 'new');
    equal(statSync(path('a.json')).mode & 0o777, 0o640);
  });

  it('creates a new inode instead of overwriting the old one', async () => {
    writeFileSync(path('a.json'), 'old');
    const before = statSync(path('a.json')).ino;
    await replaceFile(path('a.json'), 'new');
    equal(statSync(path('a.json')).ino === before, false);
  });

  it('follows a symbolic link', async () => {
    mkdirSync(path('real'));
    writeFileSync(path('real/a.json'), 'old');
    symlinkSync('real/a.json', path('link.json'));
    await replaceFile(path('link.json'), 'new');
    equal(readFileSync(path('real/a.json'), 'utf8'), 'new');
    equal(lstatSync(path('link.json')).isSymbolicLink(), true);
  });

  it('does not write an unchanged text', async () => {
    writeFileSync(path('a.json'), 'same');
    const before = statSync(path('a.json')).ino;
    equal(await replaceFile(path('a.json'), 'same'), false);
    equal(statSync(path('a.json')).ino, before);
  });

  it('creates a missing file', async () => {
    equal(await replaceFile(path('b.json'), 'new'), true);
    equal(readFileSync(path('b.json'), 'utf8'), 'new');
  });

  it('keeps a byte order mark', async () => {
    writeFileSync(path('a.json'), '\ufeffold');
    await replaceFile(path('a.json'), 'new');
    equal(readFileSync(path('a.json'), 'utf8'), '\ufeffnew');
  });

  it('leaves nothing behind if the folder is missing', async () => {
    await rejects(replaceFile(path('none/a.json'), 'new'), { code: 'ENOENT' });
    deepEqual(readdirSync(folder), []);
  });
});
