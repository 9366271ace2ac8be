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

describe('a regular file', () => {
  let directory: string;
  let pipe: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'regular-'));
    pipe = join(directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('is read, also through a symbolic link', async () => {
    writeFileSync(join(directory, 'a'), 'text');
    symlinkSync('a', join(directory, 'link'));
    equal(String(readRegularFile(join(directory, 'link'))), 'text');
    equal(String(await loadRegularFile(join(directory, 'link'))), 'text');
  });

  it('is not a directory', async () => {
    throws(() => readRegularFile(directory), { code: 'EISDIR' });
    await rejects(loadRegularFile(directory), { code: 'EISDIR' });
  });

  it('is not a named pipe, whose reader would wait', async () => {
    throws(() => readRegularFile(pipe), /is not a regular file/);
    await rejects(loadRegularFile(pipe), /is not a regular file/);
  });

  it('is not a device, which may never end', () => {
    throws(() => readRegularFile('/dev/zero'), /is not a regular file/);
  });

  it('is what certificates, plugins, settings and templates are read from', () => {
    throws(() => new ReadFiles().read(pipe), /is not a regular file/);
    throws(() => new SourceFiles(() => {}).text(pipe), /is not a regular file/);
  });

  it('is what a configuration that serves is read from again', async () => {
    const before = parseDocument('{"version": 3, "endpoints": []}', pipe);
    await rejects(
      readDocument(pipe, () => {}, before),
      /cannot read .*: is not a regular file/,
    );
  });
});
