import { deepEqual, equal, notEqual, rejects } from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigText, readSnapshot } from '../../../kernel/control/snapshot.ts';
import type { FileRead } from '../../../kernel/runtime/watch/index.ts';

const digest = (text: string) => hash('sha256', text, 'hex');

describe('a snapshot of a configuration', () => {
  let folder: string;
  const read: FileRead[] = [];
  const note = (file: FileRead) => void read.push(file);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-snapshot-'));
    read.length = 0;
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  for (const [name, text, format] of [
    ['gateway.json', '{"version": 3}', 'json'],
    ['gateway.yaml', 'version: 3\n', 'yaml'],
    ['gateway.toml', 'version = 3\n', 'toml'],
    ['gateway.conf', '{"version": 3}', 'json'],
  ] as const) {
    it(`read from ${name} has the text and the data of the source`, async () => {
      const path = join(folder, name);
      writeFileSync(path, text);
      const snapshot = await readSnapshot(path, note);
      const { source, file, data, textHash } = snapshot;
      deepEqual({ source, file, data }, { source: path, file: path, data: { version: 3 } });
      deepEqual([snapshot.format, snapshot.text, textHash], [format, text, digest(text)]);
      equal(snapshot.document!.file, path);
      deepEqual(read, [{ path, hash: digest(text) }]);
    });
  }

  it('read from a file needs no listener', async () => {
    const path = join(folder, 'gateway.json');
    writeFileSync(path, '{}');
    equal((await readSnapshot(path)).text, '{}');
  });

  it('is reported to the listener even if it cannot be parsed or does not exist', async () => {
    const [broken, missing] = [join(folder, 'broken.json'), join(folder, 'missing.json')];
    writeFileSync(broken, '{');
    await rejects(readSnapshot(broken, note));
    await rejects(readSnapshot(missing, note));
    deepEqual(read, [
      { path: broken, hash: digest('{') },
      { path: missing, hash: null },
    ]);
  });

  for (const [text, format] of [
    ['{"version": 3}', 'json'],
    ['version: 3\n', 'yaml'],
    ['version = 3\n', 'toml'],
  ] as const) {
    it(`of a text in ${format} has a file name with that extension`, async () => {
      const source = new ConfigText(text, format);
      const snapshot = await readSnapshot(source, note);
      deepEqual(
        [snapshot.source, snapshot.file, snapshot.format, snapshot.text, snapshot.textHash, snapshot.data, read],
        [source, `configuration.${format}`, format, text, digest(text), { version: 3 }, []],
      );
    });
  }

  describe('of an object', () => {
    it('is a copy that later changes of the object do not affect', async () => {
      const source = { version: 3, endpoints: [] as unknown[] };
      const { data, file, format, document } = await readSnapshot(source, note);
      source.endpoints.push('late');
      deepEqual(data, { version: 3, endpoints: [] });
      notEqual(data, source);
      deepEqual([file, format, document, read], ['configuration.json', 'json', null, []]);
    });

    it('has the JSON text of the object', async () => {
      const snapshot = await readSnapshot({ version: 3, name: 'é' });
      equal(snapshot.text, '{"version":3,"name":"é"}');
      equal(snapshot.textHash, digest(snapshot.text));
    });

    it('has a text even if it is invalid', async () => {
      equal((await readSnapshot([1, 2])).text, '[1,2]');
      equal((await readSnapshot(undefined as never)).text, 'undefined');
    });
  });
});
