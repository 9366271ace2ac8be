import { equal, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installBuilt } from '../support/built-package.ts';

const run = promisify(execFile);

describe('the guide to the gateway as a library', function () {
  this.timeout(180_000);
  let home: string;
  before(async () => {
    home = await installBuilt();
  });
  after(() => rmSync(home, { recursive: true }));

  const guide = readFileSync('samples/library/README.md', 'utf8');
  const blocks = Array.from(guide.matchAll(/^```(ts|sh|text) ?(\S*)\n([\s\S]*?)^```$/gm), ([, kind, file, text]) => ({
    kind: kind!,
    file: file!,
    text: text!.trimEnd(),
  }));

  it('contains only code blocks that are tested here', () => {
    equal(guide.match(/^```/gm)!.length, 2 * blocks.length);
    for (const { kind, file } of blocks) equal(kind === 'ts', file !== '');
  });

  for (const [index, { kind, text: command }] of blocks.entries()) {
    if (kind !== 'sh') continue;
    it(`shows what \`${command}\` prints`, async () => {
      for (const { file, text } of blocks) if (file !== '') writeFileSync(join(home, file), text);
      const [program, ...args] = command.split(' ');
      equal(program, 'node');
      // Sets this variable, so that the test runner prints the same as in a terminal.
      const { NODE_TEST_CONTEXT: _, ...env } = process.env;
      const { stdout } = await run(process.execPath, args, { cwd: home, env });
      const expected = blocks[index + 1]!;
      equal(expected.kind, 'text');
      for (const line of expected.text.split('\n')) ok(stdout.includes(line), `"${line}" is not in:\n${stdout}`);
    });
  }
});
