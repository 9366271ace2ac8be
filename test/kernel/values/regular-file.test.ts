import { equal, rejects, throws } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SourceFiles } from '../../../kernel/config/flexible/source-files.ts';
import { readDocument } from '../../../kernel/config/index.ts';
import { parseDocument } from '../../../kernel/config/syntax/load.ts';
import { ReadFiles } from '../../../kernel/runtime/prints/read-files.ts';
import { loadRegularFile, readRegularFile } from '../../../kernel/values/regular-file.ts';

describe('reading a regular file', () => {
  let directory: string;
  let pipe: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'regular-'));
    pipe = join(directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('follows symbolic links', async () => {
    writeFileSync(join(directory, 'a'), 'text');
    symlinkSync('a', join(directory, 'link'));
    equal(String(readRegularFile(join(directory, 'link'))), 'text');
    equal(String(await loadRegularFile(join(directory, 'link'))), 'text');
  });

  it('rejects a directory', async () => {
    throws(() => readRegularFile(directory), { code: 'EISDIR' });
    await rejects(loadRegularFile(directory), { code: 'EISDIR' });
  });

  it('rejects a named pipe, whose reader would wait', async () => {
    throws(() => readRegularFile(pipe), /is not a regular file/);
    await rejects(loadRegularFile(pipe), /is not a regular file/);
  });

  it('rejects a device, which may never end', () => {
    throws(() => readRegularFile('/dev/zero'), /is not a regular file/);
  });

  it('applies to certificates, plugins, settings and templates', () => {
    throws(() => new ReadFiles().read(pipe), /is not a regular file/);
    throws(() => new SourceFiles(() => {}).text(pipe), /is not a regular file/);
  });

  it('applies to a configuration on every reload', async () => {
    const before = parseDocument('{"version": 3, "endpoints": []}', pipe);
    await rejects(
      readDocument(pipe, () => {}, before),
      /cannot read .*: is not a regular file/,
    );
  });
});
