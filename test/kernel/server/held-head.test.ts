import { deepEqual, equal, match } from 'node:assert/strict';
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ByteStream, Call } from '#contract';
import { writeReply } from '../../../kernel/server/response/write.ts';

/** A connection that records each write. */
class Remembering extends Duplex {
  readonly writes: string[] = [];
  override _read(): void {}
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.writes.push(String(chunk));
    done();
  }
}

function answer(headers: string[], method = 'GET') {
  const connection = new Remembering();
  const message = new IncomingMessage(connection as unknown as Socket);
  Object.assign(message, { method, httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1 });
  const response = new ServerResponse(message);
  response.assignSocket(connection as unknown as Socket);
  const body = new ByteStream();
  const call = new Call();
  const failures: unknown[] = [];
  const written = { isAlone: true, bytesOut: undefined, failed: (error: unknown) => void failures.push(error) };
  const end = writeReply(response, { status: 200, headers, body, raw: true }, call, written);
  return { writes: connection.writes, response, body, call, failures, written, end };
}

const short = () => ['Content-Length', '4'];

describe('the head of a response', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.reset());

  it('is held back until a short body is complete, and sent together with it in one write', async () => {
    const { writes, body, written } = answer(short());
    body.write(Buffer.from('ab'));
    deepEqual(writes, []);
    body.write(Buffer.from('cd'));
    body.end();
    await turn();
    equal(writes.length, 1);
    match(writes[0]!, /^HTTP\/1\.1 200 OK\r\nContent-Length: 4\r\n(?:.*\r\n)*\r\nabcd$/);
    equal(written.bytesOut, 4);
  });

  it('is held back for at most 5 ms', async () => {
    const { writes, body } = answer(short());
    body.write(Buffer.from('ab'));
    mock.timers.tick(5);
    await turn();
    match(writes.join(''), /\r\n\r\nab$/);
    body.write(Buffer.from('cd'));
    body.end();
    await turn();
    match(writes.join(''), /\r\n\r\nabcd$/);
  });

  for (const [what, headers] of [
    ['a long body', ['Content-Length', '16385']],
    ['a body of unknown length', []],
  ] as const) {
    it(`is not held back for ${what}`, () => {
      const { writes } = answer([...headers]);
      match(writes[0]!, /^HTTP\/1\.1 200 OK\r\n/);
    });
  }

  it('is sent before the connection is closed because the body failed', () => {
    const { writes, body, response } = answer(short());
    body.write(Buffer.from('ab'));
    body.fail(new Error('broken'));
    match(writes.join(''), /^HTTP\/1\.1 200 OK\r\n/);
    equal(response.destroyed, true);
  });

  it('is not sent to a client that has disconnected', () => {
    const { writes, response, call } = answer(short());
    response.destroy();
    call.cancel();
    mock.timers.tick(5);
    deepEqual([writes, response.headersSent], [[], false]);
  });

  it('is sent if the response ends while the head is held back', () => {
    const { writes, end } = answer(short());
    end!();
    match(writes.join(''), /^HTTP\/1\.1 200 OK\r\n/);
  });

  it('is reported as failed if it can no longer be sent', () => {
    const early = answer([...short(), 'X', 'a\nb']);
    early.body.write(Buffer.from('abcd'));
    early.body.end();
    const late = answer([...short(), 'X', 'a\nb']);
    mock.timers.tick(5);
    deepEqual([early.failures.length, late.failures.length], [1, 1]);
  });
});
