import { deepEqual, equal, ok } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { gunzipSync } from 'node:zlib';
import { plugin } from '../../../../plugins/telemetry/gelf/index.ts';
import { datagramsOf, openUdp } from '../../../../plugins/telemetry/gelf/udp.ts';
import { until } from '../../../support/conditions.ts';
import { logsOf } from '../fixture.ts';

describe('GELF over UDP', () => {
  let server: Socket;
  let address: string;
  let datagrams: Buffer[];
  let logs: Awaited<ReturnType<typeof logsOf>> | undefined;

  beforeEach(async () => {
    datagrams = [];
    server = createSocket('udp4', (datagram) => datagrams.push(datagram)).bind(0, '127.0.0.1');
    await once(server, 'listening');
    address = `127.0.0.1:${server.address().port}`;
  });
  afterEach(async () => {
    await logs?.close();
    logs = undefined;
    server.close();
    await once(server, 'close');
  });

  const open = async () => {
    logs = await logsOf(plugin, { address, enable_tcp: false });
    return logs;
  };
  const received = async (count: number) => {
    await until(() => datagrams.length >= count);
    return datagrams;
  };
  const messageOf = (bytes: Uint8Array) => JSON.parse(gunzipSync(bytes).toString());

  it('sends each line compressed, as a GELF 1.1 message', async () => {
    const { log } = await open();
    const before = Date.now() / 1000;
    log.at('[ENDPOINT: /a]').warning('say "hi"');
    const [datagram] = await received(1);
    const { timestamp, ...message } = messageOf(datagram!);
    const short_message = '[ENDPOINT: /a] say "hi"';
    deepEqual(message, { version: '1.1', host: hostname(), short_message, level: 4 });
    ok(timestamp >= before - 1 && timestamp <= Date.now() / 1000 + 1);
  });

  it('maps log levels to syslog severities', async () => {
    const { log } = await open();
    for (const level of ['debug', 'info', 'warning', 'error', 'critical'] as const) log[level](level);
    const levels = (await received(5)).map((datagram) => messageOf(datagram).level);
    deepEqual(levels, [7, 6, 4, 3, 2]);
  });

  it('sends a message of 20 KB in three chunks with the same ID', async () => {
    const { log } = await open();
    // Sends 15,000 random bytes, which compression cannot reduce.
    const text = randomBytes(15_000).toString('hex');
    log.info(text);
    const chunks = await received(2);
    const total = chunks[0]![11]!;
    await received(total);
    deepEqual(
      chunks.map((chunk) => [...chunk.subarray(0, 2), chunk[10], chunk[11]]),
      Array.from({ length: total }, (_, index) => [0x1e, 0x0f, index, total]),
    );
    equal(new Set(chunks.map((chunk) => chunk.subarray(2, 10).toString('hex'))).size, 1);
    equal(messageOf(Buffer.concat(chunks.map((chunk) => chunk.subarray(12)))).short_message, text);
  });

  it('splits 20 KB into three chunks of at most 8192 bytes, and drops messages of more than 128 chunks', () => {
    deepEqual(
      datagramsOf(Buffer.alloc(20_000)).map(({ length }) => length),
      [8192, 8192, 20_000 - 2 * 8180 + 12],
    );
    deepEqual(
      datagramsOf(Buffer.alloc(8192)).map(({ length }) => length),
      [8192],
    );
    equal(datagramsOf(Buffer.alloc(8180 * 128)).length, 128);
    equal(datagramsOf(Buffer.alloc(8180 * 128 + 1)).length, 0);
  });

  it('counts oversized messages as lost and continues', async () => {
    const udp = openUdp({ host: '127.0.0.1', port: server.address().port });
    // Sends separate messages, so that a lost message does not affect the others.
    const long = randomBytes(1_100_000).toString('base64');
    const error = await new Promise<Error | null | undefined>((resolve) =>
      udp.write(Buffer.from(`"${long}"\n"next"\n`), resolve),
    );
    ok(error instanceof Error);
    const [datagram] = await received(1);
    equal(messageOf(datagram!), 'next');
    udp.close();
  });

  it('sends buffered lines and closes its socket when the configuration ends', async () => {
    const { log, close } = await open();
    log.info('last');
    deepEqual(await close(), { kept: 0, deferred: 0 });
    logs = undefined;
    equal(messageOf((await received(1))[0]!).short_message, 'last');
  });

  it('splits a multi-line message into a short and a full message', async () => {
    const { accessSink } = await open();
    accessSink!.write('[GATEWAY] GET "/a"\nError #01: x\n', 'INFO');
    const { short_message, full_message } = messageOf((await received(1))[0]!);
    deepEqual([short_message, full_message], ['[GATEWAY] GET "/a"', '[GATEWAY] GET "/a"\nError #01: x']);
  });
});
