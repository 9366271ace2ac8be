import { equal, match } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../support/stray.ts', import.meta.url));

describe('an unhandled error or rejection', function () {
  this.timeout(30_000);

  const run = (act: string, ...more: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> =>
    new Promise((resolve) => {
      const child = spawn(process.execPath, [program, act, ...more], { stdio: ['ignore', 'pipe', 'pipe'] });
      const texts = { stdout: '', stderr: '' };
      for (const name of ['stdout', 'stderr'] as const) {
        child[name].on('data', (bytes) => {
          texts[name] += bytes;
        });
      }
      child.once('close', (code) => resolve({ code, ...texts }));
    });

  for (const [act, line] of [
    [
      'plugin throws',
      /ERROR \[PLUGIN: test\/misbehaving\] hook "outside of a request" .* failed at .*stray-plugin\.ts:7:13: TypeError: late/,
    ],
    ['plugin rejects', /ERROR \[PLUGIN: test\/misbehaving\] .* at .*stray-plugin\.ts:\d+:\d+: TypeError: stray/],
    ['plugin socket', /ERROR \[PLUGIN: one of test\/misbehaving\] failed asynchronously: Error: connect ECONNREFUSED/],
    ['plugin text', /ERROR \[PLUGIN: one of test\/misbehaving\] failed asynchronously: thrown: a text/],
  ] as const) {
    it(`is logged and does not end the process if it belongs to a plugin from a file or to none: ${act}`, async () => {
      const { code, stdout } = await run(act);
      equal(code, 0);
      match(stdout, /^alive\n/);
      match(stdout, line);
    });
  }

  for (const [act, ...more] of [
    ['gateway throws'],
    ['gateway rejects'],
    ['plugin socket', 'without'],
    ['plugin rejects', 'without'],
  ] as const) {
    it(`ends the process if it belongs to the gateway, or no plugin is from a file: ${act}`, async () => {
      const { code, stdout, stderr } = await run(act, ...more);
      equal(code, 1);
      equal(stdout, '');
      match(stderr, /Error: (?:of the gateway|connect ECONNREFUSED|stray)/);
    });
  }
});
