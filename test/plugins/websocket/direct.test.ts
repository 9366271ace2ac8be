import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { until } from '../../support/conditions.ts';
import { refusalOf } from '../../support/websocket.ts';
import { directConfig, Stage } from './setup.ts';

describe('websocket with a backend connection for each client', () => {
  let stage: Stage;

  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(() => stage.close());

  it('forwards messages unchanged and in order in both directions, as text or binary', async () => {
    const backend = await stage.backend();
    await stage.start(directConfig(backend.url));
    const client = await stage.open('/chat/red');
    const peer = await backend.next();
    const sent = ['hi', Buffer.from([0, 255, 128, 7]), '', 'ö'];
    for (const message of sent) client.send(message);
    for (const message of sent) deepEqual(await peer.next(), message);
    for (const message of sent) peer.send(message);
    for (const message of sent) deepEqual(await client.next(), message);
  });

  it('opens a backend connection for each client', async () => {
    const backend = await stage.backend();
    await stage.start(directConfig(backend.url));
    const clients = [await stage.open('/chat/red'), await stage.open('/chat/blue')];
    equal(backend.sockets.length, 2);
    equal(stage.gateway.status.streams, 2);
    for (const { socket } of clients) socket.close();
    await until(() => stage.gateway.status.streams === 0);
  });

  it('forwards the close code and reason of one side to the other', async () => {
    const backend = await stage.backend();
    await stage.start(directConfig(backend.url));
    const client = await stage.open('/chat/red');
    (await backend.next()).socket.close(4001, 'enough');
    deepEqual(await client.over(), { code: 4001, reason: 'enough' });
    for (const code of [1000, 1003, 1011, 1013, 3999, 4999]) {
      const other = await stage.open('/chat/red');
      const peer = await backend.next();
      other.socket.close(code, 'bye');
      deepEqual(await peer.over(), { code, reason: 'bye' });
    }
    const silent = await stage.open('/chat/red');
    (await backend.next()).socket.close();
    equal((await silent.over()).code, 1005);
  });

  it('sends 1001 to the backend when a client disconnects without a close frame', async () => {
    const backend = await stage.backend();
    await stage.start(directConfig(backend.url));
    const client = await stage.open('/chat/red');
    client.socket.terminate();
    equal((await (await backend.next()).over()).code, 1001);
  });

  it("requests the client's path from the backend, with the query of url_pattern and forwarded parameters", async () => {
    const backend = await stage.backend();
    const endpoint = { input_query_strings: ['token', 'EIO'] };
    const pattern = { url_pattern: '/io/{room}/?EIO=4&transport=websocket' };
    await stage.start(directConfig(`${backend.url}/base`, { endpoint, backend: pattern }));
    await stage.open('/chat/r%20d');
    await stage.open('/chat/red?token=a%20b&EIO=3&other=1');
    deepEqual(
      backend.sockets.map(({ request }) => request.url),
      ['/base/io/r%20d/?EIO=4&transport=websocket', '/base/io/red/?EIO=4&transport=websocket&token=a+b'],
    );
  });

  it("forwards the headers of its own input_headers instead of the endpoint's", async () => {
    const backend = await stage.backend();
    const endpoint = { input_headers: ['X-Endpoint'] };
    await stage.start(directConfig(backend.url, { endpoint, websocket: { input_headers: ['X-Team', 'Cookie'] } }));
    await stage.open('/chat/red', {
      headers: { 'X-Team': 'a', 'X-Endpoint': 'b', 'X-Other': 'c', Cookie: 'd=e', 'Sec-WebSocket-Extensions': 'x' },
    });
    const { headers } = (await backend.next()).request;
    deepEqual(
      [headers['x-team'], headers['x-endpoint'], headers['x-other'], headers.cookie],
      ['a', undefined, undefined, 'd=e'],
    );
    ok(headers['x-forwarded-for']);
  });

  it('forwards all headers with "*", except handshake and connection headers', async () => {
    const backend = await stage.backend();
    await stage.start(directConfig(backend.url, { websocket: { input_headers: ['*'] } }));
    await stage.open('/chat/red', {
      perMessageDeflate: true,
      headers: { 'X-Team': 'a', ['__proto__']: 'b', 'X-Hop': 'c', Origin: 'https://a.example' },
      finishRequest: (request) => {
        request.setHeader('Connection', 'Upgrade, X-Hop');
        request.end();
      },
    });
    const { headers, rawHeaders } = (await backend.next()).request;
    equal(headers['x-team'], 'a');
    equal(headers['origin'], 'https://a.example');
    equal(headers['x-hop'], undefined);
    equal(headers['sec-websocket-extensions'], undefined);
    for (const name of ['sec-websocket-key', 'sec-websocket-version', 'upgrade', 'connection', 'host']) {
      equal(rawHeaders.filter((_, at) => at % 2 === 0 && rawHeaders[at]!.toLowerCase() === name).length, 1, name);
    }
  });

  it("offers allowed subprotocols of the client to the backend, and returns the backend's choice", async () => {
    const backend = await stage.backend({ choose: (offered) => [...offered].at(-1)! });
    await stage.start(directConfig(backend.url, { websocket: { subprotocols: ['a', 'b', 'c'] } }));
    const client = await stage.open('/chat/red', { subprotocols: ['x', 'c', 'b'] });
    equal((await backend.next()).request.headers['sec-websocket-protocol'], 'c,b');
    equal(client.socket.protocol, 'b');
    await rejects(stage.open('/chat/red', { subprotocols: ['x'] }), /no subprotocol/);
    equal((await backend.next()).request.headers['sec-websocket-protocol'], undefined);
  });

  describe('returns 502', () => {
    it('if the backend is unreachable', async () => {
      const backend = await stage.backend();
      await backend.close();
      await stage.start(directConfig(backend.url));
      equal(await refusalOf(stage.url('/chat/red')), 502);
      ok(stage.lines.some((line) => line.includes('cannot open a WebSocket to ws://127.0.0.1')));
    });

    it('if the backend rejects the handshake', async () => {
      const backend = await stage.backend({ refuses: 403 });
      await stage.start(directConfig(backend.url.replace('//', '//ada:secret@')));
      equal(await refusalOf(stage.url('/chat/red')), 502);
      ok(stage.lines.some((line) => /cannot open a WebSocket to ws:\/\/127.*: status 403/.test(line)));
      ok(!stage.lines.some((line) => line.includes('secret')));
    });
  });

  it('closes only the client that sends an oversized message, with 1009', async () => {
    const backend = await stage.backend();
    await stage.start(directConfig(backend.url, { websocket: { max_message_size: 16 } }));
    const other = await stage.open('/chat/red');
    const otherPeer = await backend.next();
    const client = await stage.open('/chat/red');
    client.send('x'.repeat(20));
    equal((await client.over()).code, 1009);
    other.send('x'.repeat(16));
    equal(await otherPeer.next(), 'x'.repeat(16));
  });

  it('closes a client with 1009 if its backend sends an oversized message', async () => {
    const backend = await stage.backend();
    await stage.start(directConfig(backend.url, { websocket: { max_message_size: 16 } }));
    const client = await stage.open('/chat/red');
    const peer = await backend.next();
    peer.send('x'.repeat(17));
    equal((await client.over()).code, 1009);
    equal((await peer.over()).code, 1009);
  });

  it('pauses the client while it reconnects to a lost backend', async () => {
    let backend = await stage.backend();
    const { port } = backend;
    await stage.start(directConfig(backend.url, { websocket: { return_error_details: true, message_buffer_size: 2 } }));
    const client = await stage.open('/chat/red');
    await backend.next();
    await backend.close();
    await until(() => stage.lines.some((line) => line.includes('backend lost')));
    for (const message of ['a', 'b', 'c']) client.send(message);
    equal(await client.next(), '{"error":"empty connection"}');
    backend = await stage.backend({ port });
    const peer = await backend.next();
    equal(await peer.next(), 'a');
    equal(await peer.next(), 'b');
    client.send('d');
    equal(await peer.next(), 'd');
    peer.send('e');
    equal(await client.next(), 'e');
  });

  it('requests the negotiated subprotocol when it reconnects', async () => {
    let backend = await stage.backend({ choose: () => 'v2' });
    const { port } = backend;
    await stage.start(directConfig(backend.url, { websocket: { subprotocols: ['v1', 'v2'] } }));
    const client = await stage.open('/chat/red', { subprotocols: ['v1', 'v2'] });
    equal(client.socket.protocol, 'v2');
    await backend.next();
    await backend.close();
    // Expects the first subprotocol, because the server selects the first one that is offered.
    backend = await stage.backend({ port });
    const peer = await backend.next();
    equal(peer.socket.protocol, 'v2');
    peer.send('hi');
    equal(await client.next(), 'hi');
  });

  it('closes the client with 1014 if reconnecting fails', async () => {
    const backend = await stage.backend();
    await stage.start(directConfig(backend.url, { websocket: { max_retries: 1 } }));
    const client = await stage.open('/chat/red');
    await backend.close();
    equal((await client.over()).code, 1014);
    const logged = (text: string) => stage.lines.filter((line) => line.includes(text)).length;
    deepEqual([logged('WARNING'), logged('ERROR'), logged('CRITICAL')], [1, 1, 1]);
    ok(stage.lines.every((line) => !/WARNING|ERROR|CRITICAL/.test(line) || line.includes('[SERVICE: Websocket]')));
    equal(await refusalOf(stage.url('/chat/red')), 502);
  });

  it('switches to another host if the first one is lost', async () => {
    const first = await stage.backend();
    const second = await stage.backend();
    await stage.start(directConfig([`${first.url}/one`, `${second.url}/two`], { websocket: { max_retries: 3 } }));
    const client = await stage.open('/chat/red');
    const [lost, left] = first.sockets.length === 1 ? [first, second] : [second, first];
    await lost.close();
    const { request } = await left.next();
    match(request.url!, /^\/(one|two)\/rooms\/red$/);
    equal(request.url, left === first ? '/one/rooms/red' : '/two/rooms/red');
    equal(client.closed, null);
  });
});
