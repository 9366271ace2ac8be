import { equal, match, ok, rejects } from 'node:assert/strict';
import { createServer, type Server, type Socket } from 'node:net';
import { Call } from '#contract';
import { silentLog } from '../../../../kernel/contract/log.ts';
import { DeniedAddresses } from '../../../../kernel/net/denied-addresses.ts';
import { KafkaConsumer } from '../../../../plugins/clients/kafka/consumer/consumer.ts';
import { KafkaProducer, standardProducer } from '../../../../plugins/clients/kafka/producer/producer.ts';
import type { GroupSettings, KafkaSettings, KafkaUser } from '../../../../plugins/clients/kafka/settings.ts';
import { until } from '../../../support/conditions.ts';

const group: GroupSettings = {
  id: 'g',
  sessionMs: 1000,
  heartbeatMs: 100,
  rebalanceMs: 1000,
  strategy: 'range',
  instanceId: undefined,
  fetchBytes: 1_000_000,
  readsUncommitted: false,
  from: 'oldest',
};

/** A misbehaving server over plain TCP. */
describe('a misbehaving Kafka broker', () => {
  let server: Server;
  let sockets: Set<Socket>;
  let lines: string[];
  let call: Call;
  /** @param request including its length. */
  let reply: (socket: Socket, request: Buffer) => void;

  beforeEach(async () => {
    sockets = new Set();
    lines = [];
    call = new Call(silentLog, 20_000);
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
      socket.on('data', (chunk) => {
        for (let at = 0; at < chunk.length; at += 4 + chunk.readInt32BE(at)) reply(socket, chunk.subarray(at));
      });
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
  });
  afterEach(async () => {
    call.finish();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  const settings = (responseMs: number, user: KafkaUser | null = null): KafkaSettings => ({
    brokers: [`127.0.0.1:${(server.address() as { port: number }).port}`],
    tls: null,
    user,
    connectMs: 500,
    responseMs,
    keepAliveMs: 0,
    clientId: 'c',
    rack: '',
    bufferSize: 10,
    metadataRetries: 0,
    metadataBackoffMs: 10,
    denied: new DeniedAddresses(),
  });
  const log = () => {
    const note = (line: string | (() => string)) => void lines.push(String(line));
    return { ...silentLog, error: note } as typeof silentLog;
  };
  const produce = (responseMs: number, user?: KafkaUser) => {
    const producer = new KafkaProducer(settings(responseMs, user), standardProducer);
    producer.open(log());
    const sent = producer.send('t', { payload: Buffer.from('x'), headers: [] }, call);
    return { sent, close: () => producer.close() };
  };
  const consume = (responseMs: number) => {
    const receiver = { receive: () => true, unreadable() {}, forget: () => [] };
    const consumer = new KafkaConsumer(settings(responseMs), { topics: ['t'], group }, receiver);
    consumer.open(log());
    return { sent: (async () => consumer.link.current(call))(), close: () => consumer.close() };
  };
  /** A response to a request, with its length. */
  const framed = (request: Buffer, content: Buffer) => {
    const head = Buffer.alloc(8);
    head.writeInt32BE(content.length + 4);
    request.copy(head, 4, 8, 12);
    return Buffer.concat([head, content]);
  };

  for (const [who, begin] of [
    ['producers', produce],
    ['consumers', consume],
  ] as const) {
    for (const [what, bytes, reason] of [
      ['an undersized response', '00000001ff', /does not speak the Kafka protocol: a response of 1 bytes/],
      ['an empty response', '0000000000000000', /does not speak the Kafka protocol: a response of 0 bytes/],
      ['a negative length', 'ffffffffffffffffff', /does not speak the Kafka protocol: a response of -1 bytes/],
      [
        'a response of gigabytes, which is not buffered',
        '7fffffff00000001',
        /its response is too large: 2147483647 bytes/,
      ],
    ] as const) {
      it(`is disconnected from the ${who} immediately if it sends ${what}`, async () => {
        reply = (socket) => socket.write(Buffer.from(bytes, 'hex'));
        const { sent, close } = begin(60_000);
        await rejects(sent, ({ message }: Error) => {
          match(message, reason);
          return true;
        });
        await until(() => sockets.size === 0);
        match(lines[0]!, reason);
        await close();
      });
    }

    it(`is disconnected from the ${who} if it sends an impossible length byte by byte`, async () => {
      reply = (socket) => {
        for (const byte of [0, 0, 0, 2, 1]) socket.write(Buffer.from([byte]));
      };
      const { sent, close } = begin(60_000);
      await rejects(sent, /does not speak the Kafka protocol: a response of 2 bytes/);
      await close();
    });

    it(`delays ${who} no longer than their timeout if it is silent`, async () => {
      reply = () => {};
      const { sent, close } = begin(200);
      await rejects(sent, /no response|timed out/i);
      await close();
      await until(() => sockets.size === 0);
    });

    it(`loses only its connection to the ${who} if its responses are random`, async () => {
      let seed = 1;
      const random = () => {
        seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
        return seed / 0x8000_0000;
      };
      for (let round = 0; round < 30; round++) {
        reply = (socket, request) => {
          const content = Buffer.from(Array.from({ length: random() * 200 }, () => random() * (round % 2 ? 256 : 4)));
          const whole = framed(request, content);
          const at = random() * whole.length;
          socket.write(whole.subarray(0, at));
          socket.write(whole.subarray(at));
        };
        const { sent, close } = begin(150);
        await rejects(sent);
        await close();
      }
      await until(() => sockets.size === 0);
      ok(lines.length > 0);
    }).timeout(60_000);
  }

  for (const [what, user, sent] of [
    [
      'an OAUTHBEARER token',
      { mechanism: 'OAUTHBEARER', user: '', password: 'T0', authorizationId: '' },
      'n,,\u0001auth=Bearer T0\u0001\u0001',
    ],
    ['the user and password', { mechanism: 'PLAIN', user: 'ada', password: 'x', authorizationId: '' }, '\0ada\0x'],
    [
      'the authorization identity',
      { mechanism: 'PLAIN', user: 'ada', password: 'x', authorizationId: 'o' },
      'o\0ada\0x',
    ],
  ] as const) {
    it(`receives ${what}, and no further requests after it rejects them`, async () => {
      let told = '';
      reply = (socket, request) => {
        const key = request.readInt16BE(4);
        const name = Buffer.from(user.mechanism);
        const known = Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 1, 0, name.length]), name]);
        if (key === 17) socket.write(framed(request, known));
        if (key === 18) socket.write(framed(request, Buffer.alloc(0)));
        if (key !== 36) return;
        told = request.subarray(4, 4 + request.readInt32BE(0)).toString();
        // SASL_AUTHENTICATION_FAILED
        socket.write(framed(request, Buffer.from([0, 0, 58, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0])));
      };
      const { sent: writing, close } = produce(10_000, user);
      await rejects(writing, /rejects the user name or the password/);
      ok(told.includes(sent));
      ok(!lines.join().includes('T0'));
      await close();
    });
  }

  it('with a session lifetime of months does not cause an endless loop of reauthentication', async () => {
    const requested: number[] = [];
    const month = Buffer.alloc(8);
    month.writeBigInt64BE(30n * 86_400_000n * 12n);
    reply = (socket, request) => {
      const key = request.readInt16BE(4);
      requested.push(key);
      // Offers PLAIN in the handshake and accepts the authentication; other requests receive no response.
      if (key === 17) socket.write(framed(request, Buffer.from('000000000001' + '0005504c41494e', 'hex')));
      if (key === 36)
        socket.write(framed(request, Buffer.concat([Buffer.from([0, 0, 0, 0, 1]), month, Buffer.from([0])])));
      if (key === 18 && !requested.includes(17)) socket.write(framed(request, Buffer.alloc(0)));
    };
    const { sent, close } = produce(3000, { mechanism: 'PLAIN', user: 'ada', password: 'x', authorizationId: '' });
    await rejects(sent);
    await close();
    equal(requested.filter((key) => key === 36).length, 1);
  });
});
