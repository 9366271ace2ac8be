import { silentLog } from '../../../kernel/contract/internal.ts';
import { Connection } from '../../../plugins/clients/redis/connection.ts';
import { RedisError } from '../../../plugins/clients/redis/redis-error.ts';
import { defineScript } from '../../../plugins/clients/redis/script.ts';
import { redisDialect } from '../dialects.ts';
import { askOnce, hostileTarget } from '../hostile-target.ts';

const count = defineScript("return redis.call('INCR', KEYS[1])");

/** A misbehaving Redis server. */
export const redis = hostileTarget({
  name: 'redis',
  dialect: redisDialect,
  rooms: ['plugins/clients/redis/'],
  deadlineMs: 400,
  recoveryMs: 2_000,
  drive(port) {
    const connection = new Connection(
      {
        name: 'a',
        kind: 'server',
        addresses: [{ host: '127.0.0.1', port }],
        username: undefined,
        password: undefined,
        clientName: undefined,
        database: 1,
        maxRedirects: 3,
        master: null,
        connectMs: 200,
        commandMs: 100,
        backoffMs: { least: 5, most: 20 },
        tls: null,
      },
      silentLog,
    );
    connection.open(silentLog);
    return {
      ask: () => askOnce(async (call) => (await connection.run(count, ['n'], [], call)) === 1, RedisError),
      close: () => connection.close(),
    };
  },
});
