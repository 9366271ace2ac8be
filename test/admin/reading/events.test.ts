import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Operations } from '#kernel';
import type { Caller } from '../../../admin/caller.ts';
import type { GatewayEvent } from '../../../kernel/index.ts';
import { silentSinks } from '../../../kernel/testing/index.ts';
import { json, openGateway, startBackend, startGateway } from '../../support/gateway.ts';
import { eventually, openStream, type StreamedResponse } from '../../support/stream-client.ts';
import { openReading, type ReadingPort } from './support.ts';

describe('GET /v1/events', () => {
  let gateway: Operations;
  let admin: ReadingPort;
  let stream: StreamedResponse | null;

  const open = async (query = '', headers: Record<string, string> = {}): Promise<StreamedResponse> => {
    stream = await openStream(admin.port, `/v1/events${query}`, headers);
    return stream;
  };
  /** Events received so far. */
  const reported = (text: Buffer) =>
    text
      .toString()
      .split('\n\n')
      .filter((frame) => frame.startsWith('id:'))
      .map((frame) => {
        const [id, event, data] = frame.split('\n').map((line) => line.slice(line.indexOf(' ') + 1));
        return { id: Number(id), event: event!, data: JSON.parse(data!) };
      });

  beforeEach(async () => {
    gateway = await startGateway({ endpoints: [] });
    admin = await openReading(gateway);
    stream = null;
  });

  afterEach(async () => {
    stream?.leave();
    await admin.close();
    await gateway.close();
  });

  it('is a stream of server-sent events', async () => {
    const { status, headers } = await open();
    equal(status, 200);
    match(headers['content-type']!, /^text\/event-stream/);
  });

  it('sends events with id, type and data', async () => {
    const following = await open();
    const id = gateway.events.emit('worker.up', { worker: 3, pid: 7 });
    await following.until('"worker":3');
    deepEqual(reported(following.bytes), [{ id, event: 'worker.up', data: { worker: 3, pid: 7 } }]);
    const time = /^: (.*Z)$/m.exec(following.bytes.toString())![1]!;
    ok(Date.parse(time) <= Date.now(), 'the comment is the time of the event');
  });

  it('sends only the requested types', async () => {
    const following = await open('?types=reload.*,worker.down');
    gateway.events.emit('worker.up', { worker: 1, pid: 7 });
    gateway.events.emit('worker.down', { worker: 1, pid: 7, reason: 'SIGKILL' });
    gateway.events.emit('reload.phase', { attempt: 1, phase: 'build' });
    await following.until('reload.phase');
    deepEqual(
      reported(following.bytes).map(({ event }) => event),
      ['worker.down', 'reload.phase'],
    );
  });

  for (const types of ['reload.*,guard.failed', '*', 'r*']) {
    it(`accepts types=${types}`, async () => {
      await open(`?types=${types}`);
    });
  }

  for (const [types, unknown] of [
    ['reload.succeded', 'reload.succeded'],
    ['worker.up,nope.*', 'nope.*'],
    ['', ''],
    ['worker.up,', ''],
  ]) {
    it(`rejects types=${types}, which do not exist`, async () => {
      const { status, body } = await admin.ask(`/v1/events?types=${types}`);
      equal(status, 400);
      match(
        body.detail,
        new RegExp(`unknown event types "${unknown!.replace('*', '\\*')}"; known types are reload.started, `),
      );
    });
  }

  it('begins after the last event that the client received', async () => {
    const first = gateway.events.emit('worker.up', { worker: 1, pid: 7 });
    gateway.events.emit('worker.up', { worker: 2, pid: 8 });
    const following = await open('', { 'Last-Event-ID': String(first) });
    await following.until('"worker":2');
    equal(reported(following.bytes).length, 1);
  });

  it('rejects an id that is not a number', async () => {
    equal((await admin.ask('/v1/events', { headers: { 'Last-Event-ID': 'x' } })).status, 400);
  });

  it('reports a rejected configuration with the problem', async () => {
    const following = await open('?types=reload.failed');
    await gateway.reload({ version: 3, endpoints: 7 }).catch(() => {});
    await following.until('reload.failed');
    const { data } = reported(following.bytes)[0]!;
    deepEqual([data.type, data.errors[0].pointer], ['urn:gateway:problem:validation', '/endpoints']);
  });

  it('reports an accepted configuration with its changes', async () => {
    const following = await open('?types=reload.succeeded');
    await gateway.reload({ version: 3, name: 'other', endpoints: [] });
    await following.until('reload.succeeded');
    const { data } = reported(following.bytes)[0]!;
    deepEqual([data.result, data.revision, data.previous, data.warnings], ['applied', 2, 1, []]);
  });

  it('keeps an idle connection alive with comments', async () => {
    const following = await open();
    await following.until(':\n\n');
    admin.timers.advance(15_000);
    await following.until(':\n\n:\n\n');
    equal(reported(following.bytes).length, 0);
  });

  for (const [what, changed] of [
    ['is withdrawn', null],
    ['loses the scope read', { id: 'a', scopes: ['check'] as const, sha256: '' }],
  ] as const) {
    it(`ends normally with the next heartbeat after its token ${what}`, async () => {
      let caller: Caller | null = { id: 'a', scopes: ['read'], sha256: '' };
      await admin.close();
      admin = await openReading(gateway, () => caller);
      const following = await open();
      await following.until(':\n\n');
      admin.timers.advance(15_000);
      await following.until(':\n\n:\n\n');
      caller = changed;
      admin.timers.advance(15_000);
      equal(await following.ended(), true);
    });
  }

  it('ends normally when the admin port closes', async () => {
    const following = await open();
    await following.until(':');
    admin.end();
    equal(await following.ended(), true);
  });

  it('stops sending once the client has disconnected', async () => {
    let reported = 0;
    const data = {
      toJSON() {
        reported++;
        return {};
      },
    };
    const following = await open();
    await following.until(':');
    following.leave();
    await eventually(() => {
      const before = reported;
      gateway.events.emit('breaker.changed', data);
      return reported === before;
    });
    const before = reported;
    gateway.events.emit('breaker.changed', data);
    equal(reported, before);
  });

  it('closes the connection of a client that does not read the stream', async () => {
    const socket = connect(admin.port, '127.0.0.1');
    socket.write('GET /v1/events HTTP/1.1\r\nHost: a\r\n\r\n');
    await new Promise((resolve) => socket.once('readable', resolve));
    let cut = false;
    socket.once('error', () => {});
    const data = { text: 'x'.repeat(100_000) };
    let asked = 0;
    const counted = {
      toJSON() {
        asked++;
        return data;
      },
    };
    await eventually(() => {
      const before = asked;
      gateway.events.emit('breaker.changed', counted);
      cut = asked === before;
      return cut;
    });
    socket.destroy();
    equal(cut, true);
  });
});

describe('events of components and of the file watcher', () => {
  const heard = (gateway: Operations, type: string): GatewayEvent[] => {
    const events: GatewayEvent[] = [];
    gateway.events.subscribe({ types: [type] }, (event) => events.push(event));
    return events;
  };

  it('report changes of a circuit breaker, even without logging', async () => {
    const backend = await startBackend(json({}, 500));
    const breaker = { interval: 60, timeout: 10, max_errors: 1, name: 'users' };
    const gateway = await startGateway({
      endpoints: [
        {
          endpoint: '/a',
          backend: [{ host: [backend.url], url_pattern: '/', extra_config: { 'qos/circuit-breaker': breaker } }],
        },
      ],
    });
    const events = heard(gateway, 'breaker.changed');
    await gateway.inject('/a');
    await gateway.inject('/a');
    deepEqual(
      events.map(({ data }) => data),
      [{ name: 'users', from: 'closed', to: 'open', method: 'GET', endpoint: '/a', backend: 0 }],
    );
    await gateway.close();
    await backend.close();
  });

  it('report failures of the watcher', async () => {
    const home = await mkdtemp(join(tmpdir(), 'events-'));
    const file = join(home, 'gateway.json');
    await writeFile(file, '{ "version": 3, "endpoints": [] }');
    const gateway = await openGateway(file, { port: 0, sinks: silentSinks });
    const events = heard(gateway, 'watch.error');
    await gateway.watch();
    await rm(file);
    await eventually(() => events.length > 0);
    match((events[0]!.data as { message: string }).message, /cannot be read \(missing\)/);
    await gateway.close();
    await rm(home, { recursive: true });
  });
});
