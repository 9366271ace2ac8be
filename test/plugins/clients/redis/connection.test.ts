import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { createServer, connect as openSocket, type Socket } from 'node:net';
import { RedisClient } from '@redis/client';
import { Call, type Log } from '#contract';
import { silentLog } from '../../../../kernel/contract/internal.ts';
import { Connection } from '../../../../plugins/clients/redis/connection.ts';
import { RedisError } from '../../../../plugins/clients/redis/redis-error.ts';
import { defineScript } from '../../../../plugins/clients/redis/script.ts';
import type { RedisSettings } from '../../../../plugins/clients/redis/settings.ts';
import { freePort, until } from '../../../support/conditions.ts';
import { startRedis, type TestRedis, withoutRedis } from '../../../support/redis.ts';

const count = defineScript("return redis.call('INCR', KEYS[1])");

const settings = (port: number, more: Partial<RedisSettings> = {}): RedisSettings => ({
  name: 'counters',
  kind: 'server',
  addresses: [{ host: '127.0.0.1', port }],
  username: undefined,
  password: undefined,
  clientName: undefined,
  database: 0,
  maxRedirects: 3,
  master: null,
  connectMs: 5000,
  commandMs: 5000,
  backoffMs: { least: 5, most: 20 },
  tls: null,
  ...more,
});

(withoutRedis ? describe.skip : describe)(`a connection to Redis ${withoutRedis ?? ''}`.trim(), () => {
  let redis: TestRedis;
  let lines: string[];
  let log: Log;
  let opened: { close(): unknown }[];

  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.close());
  beforeEach(async () => {
    lines = [];
    opened = [];
    const write = (level: string) => (line: unknown) => void lines.push(`${level} ${line}`);
    log = { ...silentLog, error: write('ERROR'), info: write('INFO') };
    await redis.command('FLUSHALL');
  });
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.close();
  });

  const open = (given: RedisSettings): Connection => {
    const connection = new Connection(given, log);
    opened.push(connection);
    connection.open(log);
    return connection;
  };
  const run = (connection: Connection, call = new Call()) => connection.run(count, ['n'], [], call);
  const problem = (promise: Promise<unknown>, reason: RegExp) =>
    rejects(promise, (error) => error instanceof RedisError && reason.test(error.message));

  /** A proxy in front of the server that counts the client's bytes and delays them on request. */
  async function proxy() {
    const self = { port: 0, chunks: 0, sockets: new Set<Socket>(), close: async () => {} };
    const server = createServer((client) => {
      const upstream = openSocket(redis.port, '127.0.0.1');
      for (const socket of [client, upstream]) {
        self.sockets.add(socket);
        socket.on('error', () => {}).on('close', () => self.sockets.delete(socket));
      }
      client.on('data', (data) => {
        self.chunks++;
        upstream.write(data);
      });
      upstream.pipe(client);
      client.on('close', () => upstream.destroy());
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    self.port = (server.address() as { port: number }).port;
    self.close = () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of self.sockets) socket.destroy();
      });
    opened.push(self);
    return self;
  }

  it('sends nothing for a call that has ended, and reports the reason', async () => {
    const connection = open(settings(redis.port));
    await run(connection);
    const call = new Call();
    call.cancel();
    await problem(run(connection, call), /context canceled/);
    equal(await redis.command('GET', 'n'), '1');
  });

  it('queues commands only during the first connection attempt', async () => {
    const connection = open(settings(redis.port));
    deepEqual(await Promise.all([run(connection), run(connection)]), [1, 2]);
    const away = open(settings(await freePort()));
    await problem(run(away), /not connected: connect ECONNREFUSED/);
    await problem(run(away), /not connected/);
    equal(lines.length, 1);
    match(lines[0]!, /^ERROR \[Redis\] counters not connected: connect ECONNREFUSED/);
  });

  it('sends all commands of one event loop turn in one write', async () => {
    const between = await proxy();
    const connection = open(settings(between.port));
    await run(connection);
    const before = between.chunks;
    const totals = await Promise.all(Array.from({ length: 50 }, () => run(connection)));
    deepEqual(
      totals,
      Array.from({ length: 50 }, (_, at) => at + 2),
    );
    equal(between.chunks - before, 1);
  });

  it('loads a script that the server does not know or has forgotten', async () => {
    const connection = open(settings(redis.port));
    await redis.command('SCRIPT', 'FLUSH');
    equal(await run(connection), 1);
    equal(await run(connection), 2);
    await redis.command('SCRIPT', 'FLUSH');
    deepEqual(await Promise.all([run(connection), run(connection)]), [3, 4]);
  });

  it('reports error replies of the server', async () => {
    const connection = open(settings(redis.port));
    await redis.command('SET', 'n', 'text');
    await problem(run(connection), /redis counters: ERR value is not an integer/);
    deepEqual(lines, []);
  });

  it('connects once the server is running, and reconnects after a restart', async () => {
    const server = await startRedis();
    opened.push(server);
    await server.stop();
    const connection = open(settings(server.port));
    await problem(run(connection), /not connected/);
    await server.start();
    await until(() => run(connection).then(Boolean, () => false));
    await server.stop();
    await until(() =>
      run(connection).then(
        () => false,
        () => true,
      ),
    );
    await server.start();
    await until(() =>
      run(connection).then(
        (total) => total === 1,
        () => false,
      ),
    );
    ok(
      lines.some((line) => /^INFO .*is connected/.test(line)),
      lines.join('\n'),
    );
  });

  it('fails waiting commands immediately when the connection is lost', async () => {
    const between = await proxy();
    const connection = open(settings(between.port));
    await run(connection);
    redis.pause();
    try {
      const sent = between.chunks;
      const waiting = run(connection);
      await until(() => between.chunks > sent);
      for (const socket of between.sockets) socket.destroy();
      await problem(waiting, /redis counters: /);
    } finally {
      redis.resume();
    }
  });

  it('times out once if the server does not respond, sends nothing until it responds, and then continues', async () => {
    const connection = open(settings(redis.port, { commandMs: 2000 }));
    await until(() => run(connection).then(Boolean, () => false));
    redis.pause();
    try {
      await problem(run(connection), /no response within 2000ms/);
      for (let requested = 0; requested < 100; requested++) await problem(run(connection), /does not respond/);
    } finally {
      redis.resume();
    }
    await until(() => run(connection).then(Boolean, () => false));
    deepEqual(lines, ['ERROR [Redis] counters does not respond', 'INFO [Redis] counters responds again']);
  });

  it('reconnects if the server continues not to respond', async () => {
    const between = await proxy();
    const connection = open(settings(between.port, { commandMs: 10, connectMs: 500 }));
    await until(() => run(connection).then(Boolean, () => false));
    const [first] = between.sockets;
    redis.pause();
    await problem(run(connection), /no response within 10ms/);
    await until(() => first!.destroyed);
    redis.resume();
    await until(() => run(connection).then(Boolean, () => false));
  });

  it("waits for at most half of the call's remaining time", async () => {
    const connection = open(settings(redis.port));
    await run(connection);
    redis.pause();
    const call = new Call(silentLog, 60);
    try {
      await problem(run(connection, call), /no response within (?:2\d|30)ms/);
      equal(call.reason, null);
    } finally {
      redis.resume();
      call.finish();
    }
    // Sends another call: a call that failed because of its short deadline does not mark the server as failed.
    equal(typeof (await run(connection)), 'number');
    deepEqual(lines, []);
  });

  it('stops sending to an unresponsive server even if calls end before command_timeout', async () => {
    const connection = open(settings(redis.port, { commandMs: 60 }));
    await until(() => run(connection).then(Boolean, () => false));
    redis.pause();
    const reasons: string[] = [];
    try {
      while (!reasons.some((reason) => reason.includes('does not respond'))) {
        ok(reasons.length < 20, reasons.join());
        const call = new Call(silentLog, 40);
        await run(connection, call).catch(({ message }: Error) => reasons.push(message));
        call.finish();
      }
    } finally {
      redis.resume();
    }
    await until(() => run(connection).then(Boolean, () => false));
  });

  it('does not wait for a canceled call', async () => {
    const connection = open(settings(redis.port));
    await run(connection);
    redis.pause();
    const call = new Call();
    try {
      const waiting = run(connection, call);
      call.cancel();
      await problem(waiting, /context canceled/);
    } finally {
      redis.resume();
    }
  });

  /**
   * A server of the test.
   * @returns its port.
   */
  async function serve(onData: (socket: Socket, text: string) => void = () => {}): Promise<number> {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {}).on('data', (data) => onData(socket, String(data)));
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    opened.push({
      close: () => {
        for (const socket of sockets) socket.destroy();
        return new Promise<void>((resolve) => {
          server.close(() => resolve());
        });
      },
    });
    return (server.address() as { port: number }).port;
  }

  it('creates the class of its clients only once, because that takes longer than connecting', async () => {
    const { connect } = RedisClient.prototype;
    const classes: unknown[] = [];
    RedisClient.prototype.connect = function () {
      classes.push(this.constructor);
      return connect.call(this);
    };
    try {
      const ports = [redis.port, (await proxy()).port];
      for (const port of ports) {
        await run(open(settings(port)));
        const addresses = [{ host: '127.0.0.1', port }];
        // The client detects that the server is not a cluster only after it has connected.
        await rejects(run(open(settings(port, { kind: 'cluster', addresses }))));
      }
    } finally {
      RedisClient.prototype.connect = connect;
    }
    ok(classes.length > 2);
    equal(new Set(classes).size, 1);
  });

  it('abandons a connection if the server accepts it but does not respond', async () => {
    const port = await serve();
    await problem(run(open(settings(port, { connectMs: 20 }))), /not connected: no response within 20ms/);
  });

  it("waits for the first connection attempt for at most half of the call's remaining time and the command timeout", async () => {
    const port = await serve();
    const call = new Call(silentLog, 60);
    await problem(run(open(settings(port)), call), /not connected yet/);
    equal(call.reason, null);
    call.finish();
    await problem(run(open(settings(port, { commandMs: 20 }))), /not connected yet/);
    const cancelled = new Call();
    const waiting = run(open(settings(port)), cancelled);
    cancelled.cancel();
    await problem(waiting, /context canceled/);
    await problem(run(open(settings(port)), cancelled), /context canceled/);
    deepEqual(lines, []);
  });

  it('does not treat a server that rejects commands as unresponsive', async () => {
    let commands = 0;
    const port = await serve((socket, text) => {
      if (text.includes('PING')) return socket.write('+PONG\r\n');
      // Sends each error reply only after it has received the next command.
      for (const _sent of text.matchAll(/EVALSHA/g)) if (++commands > 1) socket.write('-OOM full\r\n');
    });
    const connection = open(settings(port, { commandMs: 100 }));
    const refused: Promise<void>[] = [];
    const end = performance.now() + 200;
    while (performance.now() < end) {
      refused.push(problem(run(connection), /OOM full/));
      const sent = refused.length;
      await until(() => commands >= sent);
    }
    const call = new Call(silentLog, 20);
    await problem(run(connection, call), /OOM full|no response within/);
    call.finish();
    await problem(run(connection, new Call(silentLog, 20)), /OOM full|no response within/);
    deepEqual(lines, []);
    connection.close();
    await Promise.allSettled(refused);
  });

  it('reports a wrong password', async () => {
    const server = await startRedis(['--requirepass', 'secret']);
    opened.push(server);
    await problem(run(open(settings(server.port))), /not connected: NOAUTH/);
    await problem(run(open(settings(server.port, { password: 'wrong' }))), /not connected: WRONGPASS/);
    equal(await run(open(settings(server.port, { password: 'secret' }))), 1);
    ok(!lines.join().includes('secret'));
  });

  it('reports that the server has too many clients', async () => {
    const server = await startRedis(['--maxmemory', '1', '--maxmemory-policy', 'noeviction']);
    opened.push(server);
    await problem(run(open(settings(server.port))), /OOM command not allowed/);
  });

  it('can be closed at any time, permanently', async () => {
    const first = open(settings(redis.port));
    const waiting = run(first);
    first.close();
    await problem(waiting, /closed/);
    first.open(log);
    await problem(run(first), /closed/);
    const second = open(settings(redis.port));
    await run(second);
    second.close();
    await problem(run(second), /closed/);
    deepEqual(lines, []);
  });
});
