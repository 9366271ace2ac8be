import { deepEqual, equal, match } from 'node:assert/strict';
import { Writable } from 'node:stream';
import { main } from '../../../kernel/cli/main.ts';
import { contextOf, startProcess } from './running.ts';

/** A stream that fails at the first write, like a pipe without a reader. */
const failing = (code: string) =>
  new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error(`write ${code}`), { code })),
  });

describe('a standard output that cannot be written', () => {
  for (const args of [['schema', '--pretty'], ['help'], ['check', '-c', 'samples/quickstart/gateway.json']]) {
    it(`ends ${args[0]} normally, without an error, when its reader has closed`, async () => {
      const { context, prints } = contextOf({});
      equal(await main(args, { ...context, stdout: failing('EPIPE') }), 0);
      equal(prints.err, '');
    });
  }

  it('ends a command normally when its reader has reset the connection', async () => {
    const { context, prints } = contextOf({});
    equal(await main(['version'], { ...context, stdout: failing('ECONNRESET') }), 0);
    equal(prints.err, '');
  });

  it('does not change the exit code of the command', async () => {
    const { context } = contextOf({});
    const args = ['explain', '-c', 'samples/quickstart/gateway.json', 'GET', '/nowhere'];
    equal(await main(args, { ...context, stdout: failing('EPIPE') }), 1);
  });

  it('is reported, with exit code 1, if the write fails for another reason', async () => {
    const { context, prints } = contextOf({});
    equal(await main(['version'], { ...context, stdout: failing('ENOSPC') }), 1);
    match(prints.err, /^ERROR cannot write to standard output: write ENOSPC\n$/);
  });

  it('does not end a process with a stack trace', async () => {
    const command = startProcess({}, 'schema', '--pretty');
    command.closeOutput();
    deepEqual([await command.ended, command.err], [0, '']);
  });

  it('is not the same as a closed standard error, which has no effect on a command', async () => {
    const { context } = contextOf({});
    equal(await main(['nope'], { ...context, stderr: failing('EPIPE') }), 2);
  });
});
