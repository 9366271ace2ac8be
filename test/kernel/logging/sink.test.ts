import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { LogDestination } from '#contract';
import { createSink, createSinks, toFile, toStream } from '../../../kernel/logging/index.ts';

/** A destination that is busy until the test releases it. */
function blockable() {
  const written: string[] = [];
  const pending: ((error?: Error) => void)[] = [];
  const destination: LogDestination = {
    write(lines, done) {
      written.push(Buffer.from(lines).toString());
      pending.push(done);
    },
    writeSync: (lines) => {
      written.push(`sync:${Buffer.from(lines).toString()}`);
    },
  };
  return { destination, written, release: (error?: Error) => pending.shift()?.(error) };
}

/** Bytes of objects in use. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a log sink', () => {
  it('writes a single line in the next turn of the event loop', async () => {
    const { destination, written } = blockable();
    createSink(destination).write('one\n', 'INFO');
    deepEqual(written, []);
    await nextTurn();
    deepEqual(written, ['one\n']);
  });

  it('writes at once when 64 KiB are pending', () => {
    const { destination, written } = blockable();
    const sink = createSink(destination);
    sink.write('x'.repeat(64 * 1024), 'INFO');
    equal(written.length, 1);
  });

  it('writes one chunk at a time, and everything pending as the next one', async () => {
    const { destination, written, release } = blockable();
    const sink = createSink(destination, { flushAt: 1 });
    for (const line of ['a\n', 'b\n', 'c\n']) sink.write(line, 'INFO');
    deepEqual(written, ['a\n']);
    release();
    deepEqual(written, ['a\n', 'b\nc\n']);
  });

  it('drops the oldest INFO lines before any ERROR line while its destination blocks', () => {
    const { destination, written, release } = blockable();
    const sink = createSink(destination, { limit: 80, flushAt: 1 });
    sink.write('first\n', 'INFO');
    sink.write('error-one\n', 'ERROR');
    for (let at = 0; at < 20; at++) sink.write(`info-${String(at).padStart(4, '0')}\n`, 'INFO');
    sink.write('error-two\n', 'ERROR');
    release();
    const rest = written[1]!;
    ok(rest.startsWith('error-one\n') && rest.endsWith('error-two\n'), rest);
    ok(rest.includes('info-0019') && !rest.includes('info-0000'), rest);
    ok(rest.length <= 80);
    equal(sink.lost, 20 - (rest.match(/info/g)?.length ?? 0));
  });

  for (const [level, kept] of [
    ['DEBUG', false],
    ['INFO', false],
    ['WARNING', true],
    ['ERROR', true],
    ['CRITICAL', true],
  ] as const) {
    it(`${kept ? 'keeps' : 'drops'} ${level} lines older than the INFO lines that do not fit`, () => {
      const { destination, written, release } = blockable();
      const sink = createSink(destination, { limit: 80, flushAt: 1 });
      sink.write('first\n', 'INFO');
      sink.write('oldest\n', level);
      for (let at = 0; at < 20; at++) sink.write(`info-${at}\n`, 'INFO');
      release();
      equal(written[1]!.startsWith('oldest\n'), kept, written[1]);
    });
  }

  it('drops a line that is longer than its limit, but no other lines', () => {
    const { destination, written, release } = blockable();
    const sink = createSink(destination, { limit: 40, flushAt: 1 });
    sink.write('first\n', 'INFO');
    sink.write('info\n', 'INFO');
    for (const level of ['INFO', 'ERROR'] as const) sink.write(`${'x'.repeat(40)}\n`, level);
    sink.write('error\n', 'ERROR');
    release();
    deepEqual([written[1], sink.lost], ['info\nerror\n', 2]);
  });

  it('counts pending lines in bytes', () => {
    const { destination, written, release } = blockable();
    const sink = createSink(destination, { limit: 40, flushAt: 1 });
    sink.write('first\n', 'INFO');
    for (let at = 0; at < 10; at++) sink.write(`${at}€ü😀\n`, 'INFO');
    release();
    ok(Buffer.byteLength(written[1]!) <= 40);
    equal(written[1], [7, 8, 9].map((at) => `${at}€ü😀\n`).join(''));
  });

  it('keeps pending lines in memory as bytes only', async () => {
    const { destination } = blockable();
    const sink = createSink(destination, { flushAt: 1 });
    sink.write('first\n', 'INFO');
    const before = heapUsed();
    for (let at = 0; at < 1000; at++) sink.write(Buffer.alloc(900, `${at}\n`).toString('latin1'), 'INFO');
    const grown = heapUsed() - before;
    ok(grown < 500_000, `${grown} bytes`);
  });

  it('drops the new INFO line if only ERROR lines are pending', () => {
    const { destination, written, release } = blockable();
    const sink = createSink(destination, { limit: 40, flushAt: 1 });
    sink.write('first\n', 'ERROR');
    for (let at = 0; at < 4; at++) sink.write(`error-00${at}\n`, 'ERROR');
    sink.write('info-0000\n', 'INFO');
    release();
    equal(written[1], 'error-000\nerror-001\nerror-002\nerror-003\n');
    equal(sink.lost, 1);
  });

  it('drops the oldest ERROR lines if only those are pending', () => {
    const { destination, written, release } = blockable();
    const sink = createSink(destination, { limit: 40, flushAt: 1 });
    sink.write('first\n', 'ERROR');
    for (let at = 0; at < 6; at++) sink.write(`error-00${at}\n`, 'ERROR');
    release();
    ok(!written[1]!.includes('error-000') && written[1]!.endsWith('error-005\n'));
  });

  it('counts the lines of a failed write as lost and continues', () => {
    const { destination, written, release } = blockable();
    const sink = createSink(destination, { flushAt: 1 });
    sink.write('a\n', 'INFO');
    release(new Error('EPIPE'));
    equal(sink.lost, 1);
    sink.write('b\n', 'INFO');
    deepEqual(written, ['a\n', 'b\n']);
  });

  it('is drained when the last line was written', async () => {
    const { destination, release } = blockable();
    const sink = createSink(destination);
    sink.write('a\n', 'INFO');
    let drained = false;
    const promise = sink.drained().then(() => {
      drained = true;
    });
    await nextTurn();
    equal(drained, false);
    release();
    await promise;
  });
});

describe('the log sinks of a process', () => {
  it('write pending lines when the process exits', async () => {
    const { destination, written } = blockable();
    const sinks = createSinks({ stdout: destination, stderr: destination });
    sinks.stdout.write('last words\n', 'INFO');
    sinks.close();
    deepEqual(written, ['sync:last words\n']);
  });

  it('stop draining after the allowed time', async () => {
    const { destination } = blockable();
    const sinks = createSinks({ stdout: destination, stderr: destination });
    sinks.stdout.write('a\n', 'INFO');
    await sinks.drain(5);
    sinks.close();
  });

  it('survive a closed standard output', async () => {
    const stream = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error(), { code: 'EPIPE' })),
    });
    const sink = createSink(toStream(stream), { flushAt: 1 });
    sink.write('a\n', 'INFO');
    await sink.drained();
    equal(sink.lost, 1);
  });

  it('write to a file in order', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sink-'));
    const fd = openSync(join(folder, 'log'), 'a');
    const sink = createSink(toFile(fd), { flushAt: 1 });
    for (let at = 0; at < 50; at++) sink.write(`${at}\n`, 'INFO');
    await sink.drained();
    closeSync(fd);
    equal(readFileSync(join(folder, 'log'), 'utf8'), Array.from({ length: 50 }, (_, at) => `${at}\n`).join(''));
    rmSync(folder, { recursive: true });
  });

  const room = new URL('../../../kernel/logging/index.ts', import.meta.url).href;

  it('lose no lines when the process ends normally', async () => {
    const script = `import { createSinks } from '${room}'; const { stdout } = createSinks();
      for (let at = 0; at < 3000; at++) stdout.write('line ' + at + ' ' + 'x'.repeat(40) + '\\n', 'INFO');
      process.exit(0);`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    equal(stdout.split('\n').length, 3001);
    match(stdout, /line 2999 x+\n$/);
  });

  it('do not block the event loop while standard output is not read', async () => {
    const script = `import { createSinks } from '${room}'; const { stdout, stderr } = createSinks();
      let turns = 0;
      const turn = () => {
        for (let at = 0; at < 200; at++) stdout.write('x'.repeat(99) + '\\n', at === 7 ? 'ERROR' : 'INFO');
        if (++turns < 300) return setImmediate(turn);
        process.stderr.write(String(stdout.lost), () => process.kill(process.pid, 'SIGKILL'));
      };
      turn();`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'pipe'] });
    let reported = '';
    child.stderr.on('data', (chunk) => {
      reported += chunk;
    });
    await new Promise((resolve) => child.once('exit', resolve));
    // The process has reported only after it wrote more than the pipe holds, because it reports nothing while it waits
    // for its reader.
    ok(Number(reported) > 10_000, reported);
    child.stdout.destroy();
  });
});
