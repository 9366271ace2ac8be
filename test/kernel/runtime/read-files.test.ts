import { deepEqual, equal, rejects, throws } from 'node:assert/strict';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contentHash, listingHash } from '../../../kernel/runtime/content-hash.ts';
import { createReader } from '../../../kernel/runtime/read-files.ts';

describe('a reader of files', () => {
  let home: string;
  let file: string;
  const one = Buffer.from('one');

  beforeEach(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), 'read-')));
    file = join(home, 'a.txt');
    await writeFile(file, one);
  });

  afterEach(() => rm(home, { recursive: true }));

  it('remembers what it read, with its content', async () => {
    const reader = createReader();
    deepEqual(Buffer.from(await reader.read(file)), one);
    deepEqual(reader.files(), [{ path: file, hash: contentHash(one) }]);
  });

  it('remembers what was missing', async () => {
    const reader = createReader();
    await rejects(reader.read(join(home, 'b')), { code: 'ENOENT' });
    throws(() => reader.readSync(join(home, 'c')), { code: 'ENOENT' });
    await rejects(reader.list(join(home, 'd')), { code: 'ENOENT' });
    deepEqual(
      reader.files().map(({ path, hash }) => [path, hash]),
      ['b', 'c', 'd'].map((name) => [join(home, name), null]),
    );
  });

  it('gives the same content to whoever asks again, whatever happened to the file', async () => {
    const reader = createReader();
    await reader.read(file);
    await writeFile(file, 'two');
    equal(Buffer.from(reader.readSync(file)).toString(), 'one');
    equal(Buffer.from(await reader.read(file)).toString(), 'one');
    equal(reader.files().length, 1);
  });

  it('reads a file once when two ask at the same time', async () => {
    const reader = createReader();
    const [a, b] = await Promise.all([reader.read(file), reader.read(join(home, '.', 'a.txt'))]);
    equal(a, b);
  });

  it('gives one content to all when one asks at once while another waits', async () => {
    const reader = createReader();
    const waiting = reader.read(file);
    const now = reader.readSync(file);
    equal(await waiting, now);
  });

  it('remembers listed directories by the names in them', async () => {
    const reader = createReader();
    await writeFile(join(home, '.hidden'), '');
    deepEqual(await reader.list(home), ['.hidden', 'a.txt']);
    deepEqual(reader.listSync(home), ['.hidden', 'a.txt']);
    deepEqual(reader.files(), [{ path: home, hash: listingHash(['a.txt']) }]);
  });

  it('claims nothing about a directory read like a file', async () => {
    const reader = createReader();
    await rejects(reader.read(home), { code: 'EISDIR' });
    deepEqual(reader.files(), [{ path: home, hash: undefined }]);
  });

  it('claims nothing about a file that is still being read', async () => {
    const reader = createReader();
    const reading = reader.read(file);
    deepEqual(reader.files(), [{ path: file, hash: undefined }]);
    await reading;
  });
});
