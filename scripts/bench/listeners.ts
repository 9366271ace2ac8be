import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Configuration } from '#contract';
import { silentSinks } from '../../kernel/contract/internal.ts';
import { startGateway } from '../../kernel/gateway/start-gateway.ts';
import { withPlugins } from '../../kernel/registry/registry.ts';
import { catalogue } from '../../plugins/index.ts';
import { freePort } from '../free-port.ts';
import { body, constant } from './constant.ts';
import { positive } from './options.ts';
import { type Quartiles, quartiles } from './spread.ts';
import { table } from './table.ts';

/**
 * CPU time of listeners and backends with the PROXY protocol and Unix sockets, in microseconds per request, compared with TCP
 * without a header. Client, gateway and backend run in this process, and their costs are the same for both; calm pairs count,
 * as in in-process.ts.
 *
 *   node scripts/bench/listeners.ts [--pairs 60] [--requests 500]
 */
const WARM_UP_PAIRS = 10;
const CALM_SHARE = 1 / 3;
const CLIENTS = 8;

const request = Buffer.from('GET /bench HTTP/1.1\r\nHost: localhost\r\n\r\n');
const version1 = Buffer.from('PROXY TCP4 192.0.2.7 192.0.2.1 56324 443\r\n');
const version2 = Buffer.concat([
  Buffer.from('0d0a0d0a000d0a515549540a2111000c', 'hex'),
  Buffer.from([192, 0, 2, 7, 192, 0, 2, 1, 0xdc, 0x04, 0x01, 0xbb]),
]);

const folder = mkdtempSync(join(tmpdir(), 'bench-'));
const sockets = { gateway: join(folder, 'gateway.sock'), backend: join(folder, 'backend.sock') };

interface Lane {
  readonly open: () => Socket;
  /** Bytes that are sent first on each connection. */
  readonly header?: Buffer;
}

const fixed = { extra_config: { [constant.name]: {} } };

async function gatewayWith(settings: object, backend: object = fixed): Promise<{ port: number }> {
  const port = await freePort();
  const endpoint = {
    endpoint: '/bench',
    output_encoding: 'no-op',
    backend: [{ url_pattern: '/', encoding: 'no-op', ...backend }],
  };
  const source = {
    ...{ version: 3, port, listen_ip: '127.0.0.1', host: ['http://x'], endpoints: [endpoint], ...settings },
    extra_config: { router: { disable_access_log: true } },
  };
  const gateway = await startGateway(withPlugins(catalogue, [constant]), source as Configuration, {
    sinks: silentSinks,
  });
  await gateway.listen();
  return { port };
}

const tcp = (port: number) => () => connect(port, '127.0.0.1');

/** Sends a request and resolves with the response. */
function ask(socket: Socket, message: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = 0;
    let needed = Number.POSITIVE_INFINITY;
    const read = (chunk: Buffer): void => {
      if (received === 0) {
        const end = chunk.indexOf('\r\n\r\n');
        if (!chunk.subarray(0, 12).equals(Buffer.from('HTTP/1.1 200'))) return reject(new Error(chunk.toString()));
        needed = end + 4 + body.length;
      }
      received += chunk.length;
      if (received < needed) return;
      socket.off('data', read);
      socket.off('error', reject);
      resolve();
    };
    socket.on('data', read);
    socket.once('error', reject);
    socket.write(message);
  });
}

/** @param perConnection requests of each connection. @returns microseconds per request. */
async function turn({ open, header }: Lane, kept: Socket[], count: number, perConnection: number): Promise<number> {
  const start = process.cpuUsage();
  const client = async (at: number): Promise<void> => {
    for (let done = 0; done < count / CLIENTS; done += 1) {
      const isNew = kept[at] === undefined;
      kept[at] ??= open();
      await ask(kept[at], isNew && header ? Buffer.concat([header, request]) : request);
      if ((done + 1) % perConnection === 0) {
        kept[at].destroy();
        delete kept[at];
      }
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, at) => client(at)));
  const { user, system } = process.cpuUsage(start);
  return (user + system) / count;
}

async function measure(
  lanes: readonly [Lane, Lane],
  pairs: number,
  count: number,
  perConnection: number,
): Promise<Quartiles[]> {
  const kept: Socket[][] = [[], []];
  const measured: number[][] = [];
  for (let pair = -WARM_UP_PAIRS; pair < pairs; pair += 1) {
    const micros: number[] = [];
    for (const lane of pair % 2 === 0 ? [0, 1] : [1, 0]) {
      micros[lane] = await turn(lanes[lane]!, kept[lane]!, count, perConnection);
    }
    if (pair >= 0) measured.push(micros);
  }
  for (const socket of kept.flat()) socket?.destroy();
  const calm = measured.toSorted((a, b) => a[0]! + a[1]! - b[0]! - b[1]!).slice(0, Math.ceil(pairs * CALM_SHARE));
  return [quartiles(calm.map(([base]) => base!)), quartiles(calm.map(([base, more]) => more! - base!))];
}

const { values } = parseArgs({
  options: { pairs: { type: 'string', default: '60' }, requests: { type: 'string', default: '500' } },
});
const pairs = positive('pairs', values.pairs, true);
const requests = positive('requests', values.requests, true);

const plain = await gatewayWith({});
const proxied = await gatewayWith({ proxy_protocol: { trusted: ['127.0.0.1'] } });
const unused = await gatewayWith({ proxy_protocol: { trusted: ['192.0.2.1'] } });
await gatewayWith({ listen_ip: `unix:${sockets.gateway}` });
const server = createServer((_request, response) => response.end(body));
const backendPort = await freePort();
await new Promise<void>((resolve) => server.listen(backendPort, '127.0.0.1', resolve));
const other = createServer((_request, response) => response.end(body));
await new Promise<void>((resolve) => other.listen(sockets.backend, resolve));
const overTcp = await gatewayWith({}, { host: [`http://127.0.0.1:${backendPort}`] });
const overSocket = await gatewayWith({}, { host: [`unix://${sockets.backend}`] });

const base: Lane = { open: tcp(plain.port) };
const rows: string[][] = [];
for (const [name, lanes, perConnection] of [
  ['new connection, PROXY version 1', [base, { open: tcp(proxied.port), header: version1 }], 1],
  ['new connection, PROXY version 2', [base, { open: tcp(proxied.port), header: version2 }], 1],
  ['new connection, PROXY of other peers', [base, { open: tcp(unused.port) }], 1],
  ['kept connection, PROXY version 2', [base, { open: tcp(proxied.port), header: version2 }], requests],
  ['kept connection, Unix socket', [base, { open: () => connect(sockets.gateway) }], requests],
  ['backend over a Unix socket', [{ open: tcp(overTcp.port) }, { open: tcp(overSocket.port) }], requests],
] as const satisfies readonly (readonly [string, readonly [Lane, Lane], number])[]) {
  const figures = await measure(lanes, pairs, requests, perConnection);
  rows.push([
    name,
    ...figures.map(({ lower, median, upper }) => `${median.toFixed(1)} (${lower.toFixed(1)} to ${upper.toFixed(1)})`),
  ]);
}
console.log(table([['listener or backend', 'base µs', 'more µs'], ...rows]));
rmSync(folder, { recursive: true, force: true });
// Exits, because gateways and servers would keep this process alive.
process.exit();
