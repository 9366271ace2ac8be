import { deepEqual, equal } from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { mock } from 'node:test';
import { readFirst } from '../../../kernel/server/port/first-bytes.ts';

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('the first bytes of a connection', () => {
  let socket: Duplex;
  /** The bytes that had arrived at each attempt to decide. */
  let looks: string[];
  let dones: number;

  /** Reads until at least three bytes have arrived. */
  const read = (waitMs = 0): void => {
    socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
    looks = [];
    dones = 0;
    readFirst(socket, waitMs, (bytes) => {
      looks.push(String(bytes));
      if (bytes.length < 3) return null;
      return String(bytes).startsWith('bad') ? 'wrong' : { bytes: Buffer.from(`<${bytes}>`), done: () => dones++ };
    });
  };
  const come = async (bytes: string | null): Promise<void> => {
    socket.push(bytes);
    await turn();
  };

  afterEach(() => {
    mock.timers.reset();
    socket.destroy();
  });

  it('are collected until the protocol is known, and returned to the stream', async () => {
    read();
    for (const bytes of ['a', 'b', 'cd']) await come(bytes);
    deepEqual([looks, dones], [['a', 'ab', 'abcd'], 1]);
    equal(String(socket.read()), '<abcd>');
  });

  it('are inspected only once', async () => {
    read();
    await come('abc');
    await come('def');
    deepEqual([looks, dones], [['abc'], 1]);
    equal(String(Buffer.concat([socket.read(), socket.read() ?? Buffer.alloc(0)])), '<abc>def');
  });

  it('close the connection if they are invalid', async () => {
    read();
    await come('bad');
    deepEqual([socket.destroyed, dones], [true, 0]);
  });

  it('close the connection if it ends before they are complete', async () => {
    read();
    await come('a');
    await come(null);
    deepEqual([socket.destroyed, dones], [true, 0]);
  });

  it('close the connection if they do not arrive in time', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    read(1000);
    await come('a');
    mock.timers.tick(999);
    equal(socket.destroyed, false);
    mock.timers.tick(1);
    equal(socket.destroyed, true);
  });

  it('have no time limit by default', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    read();
    mock.timers.tick(1_000_000);
    equal(socket.destroyed, false);
    read(1000);
    await come('abc');
    mock.timers.tick(1000);
    equal(socket.destroyed, false);
  });

  it('leave no listeners on a closed connection', async () => {
    read(1000);
    socket.destroy();
    await turn();
    deepEqual([socket.listenerCount('readable'), socket.listenerCount('close')], [0, 0]);
  });

  it('leave no listeners on a connection that is passed on', async () => {
    read();
    await come('abc');
    deepEqual([socket.listenerCount('readable'), socket.listenerCount('close')], [0, 0]);
  });
});
