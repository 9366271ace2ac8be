import { deepEqual, equal, ok } from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Operations } from '#kernel';
import { type Certificates, makeCertificates } from '../../support/certificates.ts';
import { freePort, until } from '../../support/conditions.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { startRedis, type TestRedis, withoutRedis } from '../../support/redis.ts';

const limit = 'qos/ratelimit/router/redis';
const one = {
  connection_name: 'c',
  client_max_rate: 1,
  client_capacity: 1,
  every: '10m',
  strategy: 'header',
  key: 'X-Id',
};

(withoutRedis ? describe.skip : describe)(`servers of Redis ${withoutRedis ?? ''}`.trim(), function () {
  // The time limit is raised, because servers need time to start and to elect a master.
  this.timeout(180_000);
  let backend: TestBackend;
  let gateway: Operations | undefined;
  let servers: TestRedis[];
  let certificates: Certificates;

  before(async () => {
    backend = await startBackend(json({ ok: true }));
    certificates = makeCertificates();
  });
  after(async () => {
    certificates.remove();
    await backend.close();
  });
  beforeEach(() => {
    servers = [];
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    for (const server of servers) await server.close();
  });

  const startServer = async (...given: Parameters<typeof startRedis>) => {
    const server = await startRedis(...given);
    servers.push(server);
    return server;
  };
  const serve = async (redis: object, more: object = {}) => {
    gateway = await startGateway({
      extra_config: { redis },
      endpoints: [
        {
          endpoint: '/a',
          extra_config: { [limit]: { ...one, ...more } },
          backend: [{ host: [backend.url], url_pattern: '/' }],
        },
      ],
    });
  };
  const ask = async (id = 'a') => (await gateway!.inject({ url: '/a', headers: { 'x-id': id } })).statusCode;

  it('use TLS with a client certificate, and are rejected if their authority is not trusted', async () => {
    const authority = certificates.authority('authority');
    const server = certificates.issue('server', authority);
    const client = certificates.issue('client', authority);
    const redis = await startServer(
      [
        ...['--tls-cert-file', server.certificate, '--tls-key-file', server.privateKey],
        ...['--tls-ca-cert-file', authority.certificate],
      ],
      { ca: authority.certificatePem, cert: client.certificatePem, key: client.privateKeyPem },
    );
    const tls = {
      ca_certs: [authority.certificate],
      client_certs: [{ certificate: client.certificate, private_key: client.privateKey }],
      min_version: 'TLS12',
    };
    await serve({ connection_pools: [{ name: 'c', address: `localhost:${redis.port}`, tls }] });
    deepEqual([await ask(), await ask(), await ask('b')], [200, 429, 200]);
    await gateway!.close();
    await serve({ connection_pools: [{ name: 'c', address: redis.address, tls: { ...tls, ca_certs: [] } }] });
    deepEqual([await ask('c'), await ask('c')], [500, 500]);
  });

  it('are used with a user of minimal permissions, a client name and a selected database', async () => {
    const redis = await startServer();
    await redis.command(
      'ACL',
      'SETUSER',
      'gateway',
      'on',
      '>secret',
      '~sluice:*',
      '+@scripting',
      '+get',
      '+set',
      '+time',
      '+select',
      '+client|setname',
    );
    const pool = {
      name: 'c',
      address: redis.address,
      user_name: 'gateway',
      password: 'secret',
      db: 3,
      client_name: 'edge',
    };
    await serve({ connection_pools: [pool] });
    deepEqual([await ask(), await ask()], [200, 429]);
    ok(String(await redis.command('CLIENT', 'LIST')).includes('name=edge'));
    await redis.command('SELECT', '3');
    deepEqual(await redis.command('KEYS', '*'), ['sluice:ratelimit:client:GET:/a a']);
    await gateway!.close();
    await serve({ connection_pools: [{ ...pool, password: 'wrong' }] });
    equal(await ask('b'), 500);
  });

  it('of a cluster receive only commands for their own keys, and share one rate limit', async () => {
    const members = [];
    for (let each = 0; each < 3; each++) {
      // Sets the port of the cluster bus, which is otherwise 10,000 above the port of the server and may be in use.
      const bus = String(await freePort());
      const options = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000', '--cluster-port', bus];
      members.push({ bus, ...(await startServer(options)) });
    }
    const slots = [0, 5461, 10923, 16384];
    for (const [index, member] of members.entries()) {
      await member.command('CLUSTER', 'ADDSLOTSRANGE', String(slots[index]), String(slots[index + 1]! - 1));
      await member.command('CLUSTER', 'MEET', '127.0.0.1', String(members[0]!.port), members[0]!.bus);
    }
    for (const member of members) {
      await until(async () => String(await member.command('CLUSTER', 'INFO')).includes('cluster_state:ok'));
      await until(async () => String(await member.command('CLUSTER', 'INFO')).includes('cluster_known_nodes:3'));
    }
    await serve({ clusters: [{ name: 'c', addresses: [members[0]!.address] }] }, { max_rate: 20, capacity: 20 });
    const statuses: number[] = [];
    for (let id = 0; id < 22; id++) statuses.push(await ask(`id-${id}`));
    deepEqual(statuses, [...new Array(20).fill(200), 503, 503]);
    equal(await ask('id-0'), 429);
    for (const member of members) ok(Number(await member.command('DBSIZE')) > 1);
    for (const member of members) await member.command('SCRIPT', 'FLUSH');
    equal(await ask('id-1'), 429);
  });

  it('are located through Sentinel, even after a failover', async () => {
    const master = await startServer();
    const replica = await startServer([
      '--replicaof',
      '127.0.0.1',
      String(master.port),
      '--repl-diskless-sync-delay',
      '0',
    ]);
    await until(async () => String(await replica.command('INFO', 'replication')).includes('master_link_status:up'));
    const folder = certificates.directory;
    const file = join(folder, 'sentinel.conf');
    const port = await freePort();
    writeFileSync(
      file,
      [
        `sentinel monitor main 127.0.0.1 ${master.port} 1`,
        'sentinel down-after-milliseconds main 300',
        'sentinel failover-timeout main 2000',
        `port ${port}`,
      ].join('\n'),
    );
    const sentinel = await startServer([file, '--sentinel']);
    await until(async () => String(await sentinel.command('INFO', 'sentinel')).includes('slaves=1'));
    ok(readFileSync(file, 'utf8').includes('main'));
    await serve({ sentinels: [{ name: 'c', master_name: 'main', addresses: [sentinel.address] }] });
    deepEqual([await ask(), await ask()], [200, 429]);
    await until(async () => String(await replica.command('DBSIZE')) === '1');
    await master.stop();
    // Requests are rejected without delay while no server is the master; the new master preserves the count.
    await until(async () => {
      const status = await ask();
      ok(status === 500 || status === 429, String(status));
      return status === 429 && String(await replica.command('ROLE')).startsWith('master');
    });
    equal(await ask('b'), 200);
  });
});
