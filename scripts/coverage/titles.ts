import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';

/** A test of the suite. */
export interface Title {
  /** Names of the test's suites and of the test, joined by spaces. */
  readonly fullTitle: string;
  /** File path, relative to the repository root. */
  readonly file: string;
  /** True for a test marked as skipped, which does not prove anything. */
  readonly skipped: boolean;
}

interface Listed {
  readonly fullTitle: string;
  readonly file: string;
}

const mocha = 'node_modules/mocha/bin/mocha.js';

/**
 * Lists all tests of the suite, in order: the files are loaded without running them. Must be called from the repository
 * root.
 * @throws Error when a test file cannot be loaded.
 */
export async function listTitles(): Promise<Title[]> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-titles-'));
  try {
    const output = join(folder, 'titles.json');
    const report = ['--reporter', 'json', '--reporter-option', `output=${output}`];
    // Suites whose servers are not installed are listed too, so that the tables do not depend on the machine.
    const env = { ...process.env, SLUICE_TEST_LISTING: '1' };
    await promisify(execFile)(process.execPath, [mocha, '--dry-run', ...report, 'test/**/*.test.ts'], { env });
    const { tests, pending } = JSON.parse(await readFile(output, 'utf8')) as { tests: Listed[]; pending: Listed[] };
    const skipped = new Set(pending.map(({ fullTitle }) => fullTitle));
    return tests.map(({ fullTitle, file }) => ({
      fullTitle,
      file: relative(process.cwd(), file),
      skipped: skipped.has(fullTitle),
    }));
  } finally {
    await rm(folder, { recursive: true });
  }
}
