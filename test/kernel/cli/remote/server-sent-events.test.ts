import { deepEqual, equal } from 'node:assert/strict';
import { readServerSentEvents, type ServerSentEvent } from '../../../../kernel/cli/remote/follow-events.ts';

/** Reads a stream that arrives in these pieces. */
async function read(...pieces: (string | Uint8Array)[]) {
  const retries: number[] = [];
  async function* bytes() {
    for (const piece of pieces) yield typeof piece === 'string' ? Buffer.from(piece) : piece;
  }
  const events: ServerSentEvent[] = [];
  for await (const event of readServerSentEvents(bytes(), (ms) => retries.push(ms))) events.push(event);
  return { events, retries };
}

describe('server-sent events, as a command reads them', () => {
  it('have id, type and data', async () => {
    const { events } = await read('id: 7\nevent: reload.started\ndata: {"a":1}\n\n');
    deepEqual(events, [{ id: '7', type: 'reload.started', data: '{"a":1}' }]);
  });

  it('are parsed regardless of how they are split into chunks', async () => {
    const whole = 'id: 7\r\nevent: a\r\ndata: käse\r\n\r\nid: 8\r\ndata: y\r\n\r\n';
    const bytes = Array.from(Buffer.from(whole), (byte) => Uint8Array.of(byte));
    deepEqual(await read(...bytes), await read(whole));
    equal((await read(...bytes)).events[0]!.data, 'käse');
  });

  it('join their data lines', async () => {
    deepEqual((await read('data: a\ndata:b\ndata\n\n')).events, [{ id: '', type: 'message', data: 'a\nb\n' }]);
  });

  it('keep the last id, but not the last type', async () => {
    const { events } = await read('id: 1\nevent: a\ndata: x\n\ndata: y\n\n');
    deepEqual(events[1], { id: '1', type: 'message', data: 'y' });
  });

  it('are not created by comments or without data', async () => {
    deepEqual((await read(': ping\n\nevent: a\n\n: ping\n\n')).events, []);
  });

  it('are dropped if the stream ends before they are complete', async () => {
    deepEqual((await read('data: a\n\ndata: b\n')).events.length, 1);
  });

  it('set the delay before reconnecting', async () => {
    deepEqual((await read('retry: 20\n\nretry: soon\n\n')).retries, [20]);
  });
});
