import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { WebSocket, WebSocketServer } from 'ws';
import { createGateway } from '../../kernel/sluice.ts';
import { silentSinks } from '../../kernel/testing/index.ts';
import { runWorker } from '../../kernel/workers/worker.ts';
import { catalogue } from '../../plugins/index.ts';

/**
 * Memory per connection and CPU time per message, through the gateway in both modes and through a minimal proxy written
 * with `ws`. Each subject is a separate process; `workers` adds two workers, in direct mode. Backend and clients run in
 * this process.
 *
 *     node --expose-gc scripts/bench/websocket.ts [connections] [messages]
 */
const [connections = 1000, messages = 40_000] = process.argv.slice(2).map(Number);
const subjects = ['ws', 'direct', 'shared', 'workers'] as const;
const WORKERS = 2;
type Subject = (typeof subjects)[number];

/** Resource usage of a subject so far. */
interface Usage {
  readonly cpuUs: number;
  readonly rssBytes: number;
}

if (process.argv[2] === 'worker') await runWorker(catalogue, JSON.parse(process.argv.at(-1)!), silentSinks);
else if (process.send) await serve(process.argv[2] as Subject, process.argv[3]!);
else await measure();

/** Runs the process under test. */
async function serve(subject: Subject, backend: string): Promise<void> {
  const port = subject === 'ws' ? await plainProxy(backend) : await gateway(subject, backend);
  process.on('message', () => {
    globalThis.gc?.();
    process.send!([process.pid, ...childrenOf(process.pid)].map(usageOf).reduce(sum));
  });
  process.send!(port);
}

function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return children === '' ? [] : children.split(' ').map(Number);
}

/** Clock tick of Linux, in microseconds. */
const TICK_US = 10_000;

function usageOf(pid: number): Usage {
  // Skips the program's name, which is in parentheses, because it may contain spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return { cpuUs: (Number(fields[11]) + Number(fields[12])) * TICK_US, rssBytes: Number(kilobytes) * 1024 };
}

function sum(one: Usage, other: Usage): Usage {
  return { cpuUs: one.cpuUs + other.cpuUs, rssBytes: one.rssBytes + other.rssBytes };
}

async function plainProxy(backend: string): Promise<number> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  server.on('connection', (client) => {
    const upstream = new WebSocket(backend, { perMessageDeflate: false });
    client.pause();
    upstream.on('open', () => client.resume());
    client.on('message', (data, binary) => upstream.send(data, { binary }));
    upstream.on('message', (data, binary) => client.send(data, { binary }));
    client.on('close', () => upstream.close());
    upstream.on('close', () => client.close());
    for (const socket of [client, upstream]) socket.on('error', () => {});
  });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function gateway(subject: Subject, backend: string): Promise<number> {
  const websocket = { enable_direct_communication: subject !== 'shared', ping_period: '1h', pong_wait: '2h' };
  const endpoint = {
    endpoint: '/echo',
    extra_config: { websocket },
    backend: [{ host: [backend], disable_host_sanitize: true, url_pattern: '/' }],
  };
  const running = await createGateway(
    { version: 3, endpoints: [endpoint] },
    {
      port: 0,
      sinks: silentSinks,
      ...(subject === 'workers' && {
        workers: { count: WORKERS, program: fileURLToPath(import.meta.url), args: ['worker'] },
      }),
    },
  );
  return (await running.listen()).port;
}

async function measure(): Promise<void> {
  const backend = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  backend.on('connection', (socket) => {
    socket.on('error', () => {});
    socket.on('message', (data, binary) => {
      const text = String(data);
      if (text.startsWith('{"msg"')) socket.send('OK');
      else if (!text.startsWith('{')) socket.send(data, { binary });
      else {
        const { session, body } = JSON.parse(text);
        socket.send(JSON.stringify({ session: { uuid: session.uuid }, body }));
      }
    });
  });
  await once(backend, 'listening');
  const url = `ws://127.0.0.1:${(backend.address() as AddressInfo).port}`;
  for (const subject of subjects) await measureOne(subject, url);
  for (const client of backend.clients) client.terminate();
  backend.close();
}

async function measureOne(subject: Subject, backend: string): Promise<void> {
  const child = fork(fileURLToPath(import.meta.url), [subject, backend], { execArgv: ['--expose-gc'] });
  const [port] = await once(child, 'message');
  const usage = async (): Promise<Usage> => {
    child.send('usage');
    return (await once(child, 'message'))[0];
  };
  const open = async (): Promise<WebSocket> => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/echo`, { perMessageDeflate: false });
    socket.on('error', () => {});
    await once(socket, 'open');
    return socket;
  };
  const clients: WebSocket[] = [];
  // Warms up, because one-time allocations must not be attributed to connections.
  for (let at = 0; at < 50; at++) clients.push(await open());
  const idle = await usage();
  for (let at = 0; at < connections; at += 50) {
    for (const client of await Promise.all(new Array(50).fill(0).map(open))) clients.push(client);
  }
  const held = await usage();
  const payload = 'x'.repeat(100);
  await exchange(clients.slice(0, 50), payload, 5000);
  const before = await usage();
  const began = performance.now();
  await exchange(clients.slice(0, 50), payload, messages);
  const ms = performance.now() - began;
  const after = await usage();
  const kilobytes = (held.rssBytes - idle.rssBytes) / connections / 1024;
  const cpu = (after.cpuUs - before.cpuUs) / messages;
  console.log(
    `${subject.padEnd(7)} ${connections} connections ${kilobytes.toFixed(1)} KiB each; ` +
      `${Math.round((messages / ms) * 1000)} messages a second there and back, ${cpu.toFixed(1)} us of CPU each`,
  );
  for (const client of clients) client.terminate();
  child.kill();
  await once(child, 'exit');
}

/** Sends messages and waits for each echo, one at a time on each connection. */
async function exchange(clients: readonly WebSocket[], payload: string, count: number): Promise<void> {
  let left = count;
  await Promise.all(
    clients.map(
      (client) =>
        new Promise<void>((resolve) => {
          const next = (): void => {
            if (left-- > 0) return client.send(payload);
            client.off('message', next);
            resolve();
          };
          client.on('message', next);
          next();
        }),
    ),
  );
}
