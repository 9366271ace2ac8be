import { equal } from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Gateway } from '../../../kernel/sluice.ts';
import { FRAMES, frame, headFrames, PREFACE } from '../../../scripts/fuzz/http2.ts';
import { until } from '../../support/conditions.ts';
import { Secure } from './secure.ts';

const PING = frame(FRAMES.ping, 0, 0, Buffer.alloc(8));
/** A frame of an unknown type, longer than one read of the server. */
const FILLING = frame(200, 0, 0, Buffer.alloc(16_384));

/** A request without a body. */
function get(path: string): Buffer {
  const fields = [
    [':method', 'GET'],
    [':scheme', 'https'],
    [':authority', 'localhost'],
    [':path', path],
  ] as const;
  return headFrames(1, fields, true);
}

describe('an HTTP/2 connection over TLS that the client resets', () => {
  const secure = new Secure();
  after(() => secure.close());

  /** Sends a request and frames that the server responds to in two writes, both of which fail. */
  async function reset(port: number): Promise<void> {
    const socket = connect(port, '127.0.0.1');
    const ca = secure.authority.certificatePem;
    const stream = connectTls({ socket, ALPNProtocols: ['h2'], ca, servername: 'localhost' }).on('error', () => {});
    await once(stream, 'secureConnect');
    stream.resume();
    stream.write(Buffer.concat([PREFACE, frame(FRAMES.settings, 0, 0, Buffer.alloc(0))]));
    await once(stream, 'data');
    stream.write(Buffer.concat([get('/a'), PING, FILLING, PING, FILLING, PING]));
    socket.resetAndDestroy();
  }

  /** A gateway whose only backend never responds. */
  async function silent(arrived: () => void = () => {}): Promise<{ gateway: Gateway; port: number }> {
    const backend = await secure.backend(arrived);
    const endpoints = [{ endpoint: '/a', timeout: '1h', backend: [{ host: [backend.url], url_pattern: '/' }] }];
    return secure.listen({ endpoints, ...secure.tls() });
  }

  it('leaves no request in flight', async () => {
    let arrived = 0;
    const { gateway, port } = await silent(() => void arrived++);
    for (let round = 0; round < 5; round++) await reset(port);
    await until(() => arrived > 0);
    await until(() => gateway.status.calls === 0);
  });

  it('does not delay a stop', async () => {
    let arrived = 0;
    const { gateway, port } = await silent(() => void arrived++);
    for (let round = 0; round < 5; round++) await reset(port);
    await until(() => arrived > 0);
    await gateway.close();
    equal(gateway.status.calls, 0);
  });
});
