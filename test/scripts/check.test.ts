import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { longestFirst } from '../../scripts/check/order.ts';
import { run } from '../../scripts/check/processes.ts';
import { measureFiles } from '../../scripts/check/times.ts';

describe('npm test', () => {
  it('runs every test file once, the slowest first', () => {
    const files = longestFirst();
    deepEqual(files.toSorted(), globSync('test/**/*.test.ts').sort());
    const long: Readonly<Record<string, number>> = JSON.parse(readFileSync('scripts/check/long-files.json', 'utf8'));
    const seconds = files.map((file) => long[file] ?? 0);
    deepEqual(
      seconds,
      seconds.toSorted((a, b) => b - a),
    );
    for (const file of Object.keys(long)) ok(existsSync(file), `${file} does not exist: npm test -- --record`);
  });

  it('measures files with the processes that they start', async () => {
    const measured = measureFiles();
    const file = 'test/pinned-node.test.ts';
    const { ok: isOk, output } = await run('tests', 'mocha', [file], false, measured.env);
    equal(isOk, true, output.join('\n'));
    const times = measured.end();
    const [{ wallMs, ownMs }] = times as [(typeof times)[number]];
    deepEqual([times.length, times[0]!.file], [1, file]);
    ok(wallMs > 0 && ownMs > 0);
    match(
      measured.table(times),
      /^ +seconds +own CPU +children {2}file\n +[\d.]+ +[\d.]+ +[\d.]+ {2}test\/pinned-node/,
    );
  });

  it('reports a program that fails, and one that does not exist', async () => {
    const failed = await run('failing', process.execPath, ['-e', 'console.log(1); process.exit(3)'], false);
    deepEqual(failed, { name: 'failing', ok: false, output: ['1'] });
    equal((await run('missing', './no-such-program', [], false)).ok, false);
  });
});

describe('the processes of tests', () => {
  it('share compiled code with the programs that they start', () => {
    const program = `console.log(process.getBuiltinModule('node:module').enableCompileCache().directory)`;
    const directory = execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' }).trim();
    ok(directory.startsWith(process.env['NODE_COMPILE_CACHE']!), directory);
  });
});
