import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readArguments } from '../arguments.ts';
import type { Command } from '../command.ts';

/** Runs plugin tests in separate processes, with the gateway's own modules instead of an installed package. */
export const testPlugins: Command = {
  usage: '[FILE | DIRECTORY]...',
  flags: {},
  summary: 'Run plugin tests: files named *.test.ts, .mts, .js or .mjs.',
  details:
    'Without an argument, the plugins in ./plugins are tested. Exit codes: 0 all tests pass, 1 a test fails or no test exists.',
  async run(args, { stdout, stderr, env }) {
    const { positionals } = readArguments(args, {}, true);
    const paths = positionals.length > 0 ? positionals : ['./plugins'];
    const files = (await Promise.all(paths.map((path) => testsIn(resolve(path))))).flat();
    if (files.length === 0) {
      stderr.write('ERROR no tests found: no file is named *.test.ts, .mts, .js or .mjs\n');
      return 1;
    }
    const hook = new URL(`./test-hook${import.meta.url.slice(-3)}`, import.meta.url).href;
    // Removed because a test runner that inherits NODE_TEST_CONTEXT reports to the outer test runner.
    const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: options = '', ...environment } = env;
    const child = spawn(process.execPath, ['--import', hook, '--test', ...files], {
      // Suppresses the warning for module files in a folder without a package.json.
      env: { ...environment, NODE_OPTIONS: `${options} --disable-warning=MODULE_TYPELESS_PACKAGE_JSON`.trim() },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.on('data', (chunk: Buffer) => stdout.write(chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => stderr.write(chunk.toString()));
    return new Promise((done, fail) => {
      child.once('error', fail);
      child.once('close', (code) => done(code === 0 ? 0 : 1));
    });
  },
};

async function testsIn(path: string): Promise<string[]> {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path];
  const files: string[] = [];
  const exclude = (name: string) => name.includes('node_modules');
  for await (const file of glob('**/*.test.{ts,mts,js,mjs}', { cwd: path, exclude })) files.push(join(path, file));
  return files.sort();
}
