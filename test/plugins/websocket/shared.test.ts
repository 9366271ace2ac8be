import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { until } from '../../support/conditions.ts';
import { type AcceptedSocket, refusalOf, type TestSocket, type TestSocketServer } from '../../support/websocket.ts';
import { type FrameClient, openFrames } from './frames.ts';
import { configOf, Stage } from './setup.ts';

const GREETING = '{"msg":"KrakenD WS proxy starting"}';

interface Envelope {
  readonly url: string;
  readonly session: { readonly uuid: string; readonly Room: string };
  readonly body?: string;
  readonly event?: string;
}

/** A backend that receives the greeting and acknowledges it. */
const greeted = (socket: AcceptedSocket): void => {
  socket.socket.once('message', () => socket.send('OK'));
};

describe('websocket with one backend connection for all clients', () => {
  let stage: Stage;
  const raw: FrameClient[] = [];

  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(async () => {
    for (const { socket } of raw.splice(0)) socket.destroy();
    await stage.close();
  });

  const open = (backend: TestSocketServer, written: Parameters<typeof configOf>[1] = {}) =>
    stage.start(configOf(backend.url, { backend: { url_pattern: '/rooms' }, ...written }));
  /** The next envelope that the backend receives. */
  const envelope = async (peer: TestSocket): Promise<Envelope> => JSON.parse(String(await peer.next()));
  /** The backend's side of the connection, after the greeting. */
  const uplink = async (backend: TestSocketServer): Promise<AcceptedSocket> => {
    const peer = await backend.next();
    equal(await peer.next(), GREETING);
    return peer;
  };

  it("sends client messages to the backend with the client's address and session", async () => {
    const backend = await stage.backend({ accepted: greeted });
    await open(backend);
    const peer = await uplink(backend);
    const client = await stage.open('/chat/red?token=secret');
    client.send('hi');
    const { url, session, body, event } = await envelope(peer);
    match(session.uuid, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    deepEqual(
      { url, session, body, event },
      {
        url: '/chat/red',
        session: { uuid: session.uuid, Room: 'red' },
        body: 'aGk=',
        event: undefined,
      },
    );
    client.send(Buffer.from([0, 255]));
    equal((await envelope(peer)).body, 'AP8=');
  });

  it('delivers backend messages to all clients, to an address, to a session value or to one client', async () => {
    const backend = await stage.backend({ accepted: greeted });
    await open(backend);
    const peer = await uplink(backend);
    const clients = [await stage.open('/chat/red'), await stage.open('/chat/red'), await stage.open('/chat/blue')];
    const [one, two, blue] = clients as [TestSocket, TestSocket, TestSocket];
    one.send('who am I');
    const { uuid } = (await envelope(peer)).session;
    peer.send('{"body":"eA=="}');
    for (const client of clients) equal(await client.next(), 'x');
    peer.send(JSON.stringify({ body: btoa('one'), session: { uuid } }));
    equal(await one.next(), 'one');
    peer.send(JSON.stringify({ body: btoa('url'), url: '/chat/red' }));
    peer.send(JSON.stringify({ body: btoa('room'), session: { Room: 'red' } }));
    peer.send(JSON.stringify({ body: btoa('none'), url: '/chat/blue', session: { Room: 'red' } }));
    peer.send(JSON.stringify({ body: btoa('none'), session: { uuid, Room: 'blue' } }));
    peer.send(JSON.stringify({ body: btoa('none'), session: { uuid: 'nobody' } }));
    peer.send(JSON.stringify({ body: btoa('none'), session: { toString: 'x' } }));
    peer.send(JSON.stringify({ body: btoa('end') }));
    deepEqual([await one.next(), await one.next(), await one.next()], ['url', 'room', 'end']);
    deepEqual([await two.next(), await two.next(), await two.next()], ['url', 'room', 'end']);
    equal(await blue.next(), 'end');
  });

  it('delivers messages without an envelope to all clients, and never shows an envelope to clients', async () => {
    const backend = await stage.backend({ accepted: greeted });
    await open(backend);
    const peer = await uplink(backend);
    const client = await stage.open('/chat/red');
    peer.send('plain');
    equal(await client.next(), 'plain');
    peer.send(Buffer.from('text'));
    equal(await client.next(), 'text');
    peer.send(JSON.stringify({ body: '/wA=' }));
    deepEqual(await client.next(), Buffer.from([255, 0]));
    peer.send(JSON.stringify({ body: '%%%', session: { uuid: 'other' } }));
    peer.send('next');
    equal(await client.next(), 'next');
    ok(stage.lines.some((line) => line.includes('cannot be delivered')));
  });

  it('notifies the backend of connecting and disconnecting clients if configured', async () => {
    const backend = await stage.backend({ accepted: greeted });
    await open(backend, { websocket: { connect_event: true, disconnect_event: true } });
    const peer = await uplink(backend);
    const client = await stage.open('/chat/red');
    const connected = await envelope(peer);
    deepEqual([connected.event, connected.body, connected.url], ['connected', undefined, '/chat/red']);
    client.send('a');
    client.socket.close();
    equal((await envelope(peer)).body, 'YQ==');
    deepEqual(await envelope(peer), { ...connected, event: 'disconnected' });
    const gone = await stage.open('/chat/red');
    equal((await envelope(peer)).event, 'connected');
    gone.socket.terminate();
    equal((await envelope(peer)).event, 'disconnected');
  });

  it('connects to the backend once, when the configuration becomes active', async () => {
    const backend = await stage.backend({ accepted: greeted });
    await open(backend);
    const peer = await uplink(backend);
    equal(peer.request.url, '/rooms');
    await stage.open('/chat/red');
    await stage.open('/chat/blue');
    equal(backend.sockets.length, 1);
  });

  it('closes only the client that sends an oversized message, with 1009', async () => {
    const backend = await stage.backend({ accepted: greeted });
    await open(backend, { websocket: { max_message_size: 16 } });
    const peer = await uplink(backend);
    const other = await stage.open('/chat/red');
    const client = await stage.open('/chat/red');
    client.send('x'.repeat(20));
    equal((await client.over()).code, 1009);
    other.send('x'.repeat(16));
    equal((await envelope(peer)).body, btoa('x'.repeat(16)));
  });

  it('closes clients with 1009 if the backend sends them an oversized message', async () => {
    const backend = await stage.backend({ accepted: greeted });
    await open(backend, { websocket: { max_message_size: 16 } });
    const peer = await uplink(backend);
    const red = await stage.open('/chat/red');
    const blue = await stage.open('/chat/blue');
    peer.send(JSON.stringify({ body: btoa('x'.repeat(17)), url: '/chat/red' }));
    equal((await red.over()).code, 1009);
    peer.send(JSON.stringify({ body: btoa('x'.repeat(16)) }));
    equal(await blue.next(), 'x'.repeat(16));
    equal(peer.closed, null);
  });

  it('sends the greeting again to a backend that it reconnects to, without effect on clients', async () => {
    let backend = await stage.backend({ accepted: greeted });
    const { port } = backend;
    await open(backend);
    await uplink(backend);
    const client = await stage.open('/chat/red');
    await backend.close();
    await until(() => stage.lines.some((line) => line.includes('backend lost')));
    client.send('while it is away');
    const late = await stage.open('/chat/blue');
    late.send('late');
    const began = performance.now();
    backend = await stage.backend({ port, accepted: greeted });
    const peer = await uplink(backend);
    ok(performance.now() - began < 10_000);
    deepEqual([(await envelope(peer)).body, (await envelope(peer)).body], [btoa('while it is away'), btoa('late')]);
    peer.send('back');
    equal(await client.next(), 'back');
    equal(client.closed, null);
  });

  it('closes clients with 1014 if reconnecting fails, and rejects new ones with 502 until the backend is back', async () => {
    const backend = await stage.backend({ accepted: greeted });
    const { port } = backend;
    await open(backend, { websocket: { max_retries: 1 } });
    await uplink(backend);
    const client = await stage.open('/chat/red');
    await backend.close();
    equal((await client.over()).code, 1014);
    const count = (text: string) => stage.lines.filter((line) => line.includes(text)).length;
    deepEqual([count('WARNING'), count('ERROR'), count('CRITICAL')], [1, 1, 1]);
    equal(await refusalOf(stage.url('/chat/red')), 502);
    const tried = count('ERROR');
    await Promise.all(new Array(20).fill(0).map(() => refusalOf(stage.url('/chat/red'))));
    ok(count('cannot open a WebSocket to') <= tried + 2, 'at most one attempt a second');
    const again = await stage.backend({ port, accepted: greeted });
    await until(() =>
      stage.open('/chat/red').then(
        () => true,
        () => false,
      ),
    );
    equal(again.sockets.length, 1);
  });

  it('starts without the backend and queues messages', async () => {
    let backend = await stage.backend();
    const { port } = backend;
    await backend.close();
    await open(backend, { websocket: { message_buffer_size: 2, return_error_details: true } });
    const client = await stage.open('/chat/red');
    for (const message of ['a', 'b', 'c']) client.send(message);
    equal(await client.next(), '{"error":"empty connection"}');
    backend = await stage.backend({ port, accepted: greeted });
    const peer = await uplink(backend);
    deepEqual([(await envelope(peer)).body, (await envelope(peer)).body], [btoa('a'), btoa('b')]);
    client.send('d');
    equal((await envelope(peer)).body, btoa('d'));
  });

  it('does not report dropped messages by default', async () => {
    const backend = await stage.backend();
    await backend.close();
    await open(backend, { websocket: { message_buffer_size: 1 } });
    const client = await stage.open('/chat/red');
    for (const message of ['a', 'b', 'c']) client.send(message);
    client.socket.ping();
    await new Promise((resolve) => client.socket.once('pong', resolve));
    deepEqual(client.messages, []);
  });

  it('accepts an "OK" that arrives before the greeting was sent, and sends messages afterwards', async () => {
    const backend = await stage.backend({ accepted: ({ send }) => send('OK') });
    await open(backend);
    await uplink(backend);
    const client = await stage.open('/chat/red');
    client.send('a');
    equal((await envelope(backend.sockets[0]!)).body, btoa('a'));
  });

  it('waits for an "OK" without a limit by default', async () => {
    const backend = await stage.backend();
    await open(backend, { websocket: { write_wait: '999h' } });
    const peer = await uplink(backend);
    const client = await stage.open('/chat/red');
    client.send('hi');
    peer.send('OK');
    equal((await envelope(peer)).url, '/chat/red');
    equal(backend.sockets.length, 1);
  });

  it('disconnects a backend that does not send "OK" in time, which counts as a failed attempt', async () => {
    const backend = await stage.backend({ accepted: ({ send }) => send('NO') });
    await open(backend, { websocket: { write_wait: '50ms', max_retries: 1 } });
    const client = await stage.open('/chat/red');
    client.send('a');
    equal((await client.over()).code, 1014);
    equal(backend.sockets.length, 2);
    for (const { messages } of backend.sockets) deepEqual(messages, [GREETING]);
    ok(stage.lines.some((line) => line.includes('no "OK" within 50 ms')));
  });

  it('connects with the first client if its path has placeholders, which are empty', async () => {
    const backend = await stage.backend({ accepted: greeted });
    await stage.start(configOf(backend.url, { backend: { url_pattern: '/rooms/{room}/x?v=1' } }));
    equal(backend.sockets.length, 0);
    await stage.open('/chat/red');
    equal((await uplink(backend)).request.url, '/rooms//x?v=1');
    await stage.open('/chat/blue');
    equal(backend.sockets.length, 1);
  });

  it('selects the first allowed subprotocol of a client, or none', async () => {
    const backend = await stage.backend({ accepted: greeted });
    await open(backend, { websocket: { subprotocols: ['a', 'b'] } });
    equal((await stage.open('/chat/red', { subprotocols: ['x', 'b', 'a'] })).socket.protocol, 'b');
    const none = await openFrames(stage.port, '/chat/red');
    raw.push(none);
    equal(none.socket.destroyed, false);
  });

  it('closes a client with 1013 that does not read, without delaying others', async () => {
    const backend = await stage.backend({ accepted: greeted });
    // The client is disconnected because of its full buffer, long before the write timeout.
    await open(backend, { websocket: { message_buffer_size: 4, max_message_size: 65_536, write_wait: '10m' } });
    const peer = await uplink(backend);
    const slow = await openFrames(stage.port, '/chat/red');
    raw.push(slow);
    slow.socket.pause();
    const quick = await stage.open('/chat/red');
    let sent = 0;
    await until(() => {
      if (stage.gateway.status.streams === 1) return true;
      sent++;
      peer.send('x'.repeat(60_000));
      return false;
    });
    await until(() => quick.messages.length === sent);
    equal(quick.closed, null);
  });

  it('sends all messages of a client to the backend before its disconnect notification', async () => {
    const backend = await stage.backend({ accepted: greeted });
    await open(backend, { websocket: { max_message_size: 65_536, disconnect_event: true } });
    const peer = await uplink(backend);
    const client = await stage.open('/chat/red');
    peer.socket.pause();
    const count = 200;
    for (let at = 0; at < count; at++) client.send(`${at} ${'x'.repeat(60_000)}`);
    client.socket.close();
    await until(() => stage.gateway.status.streams === 0);
    peer.socket.resume();
    await until(() => String(peer.messages.at(-1)).includes('"disconnected"'));
    equal(peer.messages.length, 1 + count + 1);
  });

  it("reads from clients at the backend's speed, and loses no messages", async () => {
    const backend = await stage.backend({ accepted: greeted });
    await open(backend, { websocket: { message_buffer_size: 4, max_message_size: 65_536 } });
    const peer = await uplink(backend);
    const clients = [await stage.open('/chat/red'), await stage.open('/chat/blue')];
    peer.socket.pause();
    const count = 150;
    for (const client of clients) for (let at = 0; at < count; at++) client.send(`${at} ${'x'.repeat(60_000)}`);
    await until(() => clients.some(({ socket }) => socket.bufferedAmount > 1_000_000));
    peer.socket.resume();
    await until(() => peer.messages.length === 1 + clients.length * count);
    const orders = ['/chat/red', '/chat/blue'].map((url) =>
      peer.messages
        .slice(1)
        .map((text) => JSON.parse(String(text)) as Envelope)
        .filter((each) => each.url === url)
        .map(({ body }) => Number.parseInt(atob(body!), 10)),
    );
    const inOrder = [...new Array(count).keys()];
    deepEqual(orders, [inOrder, inOrder]);
  });

  it('keeps its connections across reloads that do not change its endpoint', async () => {
    const backend = await stage.backend({ accepted: greeted });
    const config = configOf(backend.url, { backend: { url_pattern: '/rooms' } }) as { endpoints: object[] };
    await stage.start(config);
    const peer = await uplink(backend);
    const client = await stage.open('/chat/red');
    for (let at = 1; at < 6; at++) {
      const other = {
        endpoint: '/other',
        timeout: `${at}s`,
        backend: [{ host: ['http://127.0.0.1:1'], url_pattern: '/' }],
      };
      await stage.gateway.reload({ ...config, endpoints: [...config.endpoints, other] });
    }
    await until(() => stage.gateway.status.draining === 0);
    const late = await stage.open('/chat/red');
    peer.send('all');
    deepEqual([await client.next(), await late.next()], ['all', 'all']);
    equal(backend.sockets.length, 1);
  });

  it('closes clients and the backend connection with 1001 if the endpoint changes', async () => {
    const backend = await stage.backend({ accepted: greeted });
    await open(backend, { websocket: { disconnect_event: true } });
    const peer = await uplink(backend);
    const client = await stage.open('/chat/red');
    await stage.gateway.reload(configOf(backend.url, { backend: { url_pattern: '/rooms' } }));
    equal((await client.over()).code, 1001);
    equal((await envelope(peer)).event, 'disconnected');
    equal((await peer.over()).code, 1001);
    await uplink(backend);
    await stage.open('/chat/red');
    equal(backend.sockets.length, 2);
  });

  it('closes both sides with 1001 when the gateway closes', async () => {
    const backend = await stage.backend({ accepted: greeted });
    await open(backend);
    const peer = await uplink(backend);
    const client = await stage.open('/chat/red');
    await stage.gateway.close();
    equal((await client.over()).code, 1001);
    equal((await peer.over()).code, 1001);
  });

  it('can be closed while it reconnects to a backend', async () => {
    const backend = await stage.backend();
    await backend.close();
    await open(backend);
    await until(() => stage.lines.some((line) => line.includes('cannot open a WebSocket to')));
    const client = await stage.open('/chat/red');
    await stage.gateway.close();
    equal((await client.over()).code, 1001);
  });
});
