import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Type-checks a folder with the settings in its `tsconfig.json`, without writing anything.
 * @returns errors as `FILE:LINE:COLUMN: MESSAGE [CODE]`, an empty list for a folder without settings; null when no
 * compiler is installed for the folder.
 */
export async function typeErrorsOf(folder: string): Promise<readonly string[] | null> {
  const settings = join(folder, 'tsconfig.json');
  if (!existsSync(settings)) return [];
  const compiler = compilerOf(folder);
  if (compiler === null) return null;
  const child = spawn(process.execPath, [compiler, '--project', settings, '--noEmit', '--pretty', 'false'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  const code = await new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', done);
  });
  if (code === 0) return [];
  const errors = printed
    .split('\n')
    .filter((line) => /\berror TS\d+: /.test(line))
    .map((line) => shown(folder, line));
  return errors.length > 0 ? errors : [`the compiler of ${folder} failed with exit code ${code}`];
}

/** Returns the compiler installed for a folder; null for none. */
function compilerOf(folder: string): string | null {
  try {
    const manifest = createRequire(pathToFileURL(join(folder, 'index.js'))).resolve('typescript/package.json');
    return join(dirname(manifest), 'bin/tsc');
  } catch {
    return null;
  }
}

function shown(folder: string, line: string): string {
  const [, file, row, column, code, message] = /^(.+)\((\d+),(\d+)\): error (TS\d+): (.*)$/.exec(line) ?? [];
  return file === undefined ? line : `${resolve(folder, file)}:${row}:${column}: ${message} [${code}]`;
}
