import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../free-port.ts';

/** Memory of the gateway at one moment of a stream. */
export interface Sample {
  /** Body bytes that the client had received. */
  readonly taken: number;
  /** Body bytes that the backend had written to its socket. */
  readonly sent: number;
  /** True when the client was not reading and all data had stopped moving. */
  readonly stalled: boolean;
  /** Resident memory of the gateway's process, in bytes. */
  readonly residentBytes: number;
}

export interface Passage {
  /** Resident memory before the stream began, in bytes. */
  readonly before: number;
  readonly samples: readonly Sample[];
  /** Total bytes that the client received, including HTTP framing. */
  readonly taken: number;
}

const MiB = 1024 * 1024;
/** Interval between progress checks, in milliseconds. */
const LOOK_MS = 20;
const bin = join(import.meta.dirname, '../../kernel/bin.ts');

/** 64 KiB of data that is well-formed in each measured output. */
const messages = {
  sse: `data: {"text":"${'x'.repeat(994)}","secret":1}\n\n`,
  ndjson: `{"text":"${'x'.repeat(1000)}","secret":1}\n`,
};

/**
 * Sends a stream through a gateway in a separate process, to a client that repeatedly stops reading until all data has
 * stopped moving, and samples the gateway's memory.
 *
 * @param output the endpoint's `output_encoding`.
 * @param bytes length of the stream.
 * @param pauseBytes number of bytes after which the client pauses.
 */
export async function pass(output: string, bytes: number, pauseBytes: number): Promise<Passage> {
  let sent = 0;
  const backend = createServer((_request, response) => {
    send(response, chunkOf(output), bytes, (length) => {
      sent += length;
    });
  });
  backend.listen(0, '127.0.0.1');
  await once(backend, 'listening');
  const gateway = await startGateway(output, (backend.address() as AddressInfo).port);
  const client = connect(gateway.port, '127.0.0.1');
  try {
    const samples: Sample[] = [];
    const before = residentBytesOf(gateway.pid);
    let taken = 0;
    let stopAt = pauseBytes;
    let ended = false;
    client.on('data', (chunk) => {
      taken += chunk.length;
      if (taken >= stopAt) client.pause();
    });
    client.once('close', () => {
      ended = true;
    });
    client.write('GET / HTTP/1.0\r\n\r\n');
    while (!ended) {
      const moved = [taken, sent];
      await wait(LOOK_MS);
      const stalled = client.isPaused() && moved[0] === taken && moved[1] === sent;
      samples.push({ taken, sent, stalled, residentBytes: residentBytesOf(gateway.pid) });
      if (!stalled) continue;
      stopAt = taken + pauseBytes;
      client.resume();
    }
    return { before, samples, taken };
  } finally {
    client.destroy();
    await gateway.stop();
    backend.closeAllConnections();
    backend.close();
  }
}

function chunkOf(output: string): Buffer {
  const message = output === 'sse' || output === 'ndjson' ? messages[output] : 'x'.repeat(1024);
  return Buffer.from(message.repeat(64));
}

/** Writes as fast as the connection accepts data. */
function send(response: ServerResponse, chunk: Buffer, bytes: number, count: (length: number) => void): void {
  let left = bytes;
  const pump = (): void => {
    while (left > 0) {
      left -= chunk.length;
      count(chunk.length);
      if (!response.write(chunk)) return;
    }
    if (!response.writableEnded) response.end();
  };
  response.writeHead(200).on('drain', pump);
  pump();
}

async function startGateway(output: string, backendPort: number) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-memory-'));
  const file = join(folder, 'gateway.json');
  const port = await freePort();
  const backend = { url_pattern: '/', host: [`http://127.0.0.1:${backendPort}`], deny: ['secret'] };
  const endpoint = { endpoint: '/', output_encoding: output, timeout: '1h', backend: [backend] };
  writeFileSync(file, JSON.stringify({ version: 3, port, listen_ip: '127.0.0.1', endpoints: [endpoint] }));
  const env = { ...process.env, GATEWAY_ADMIN_LISTEN: 'off', GATEWAY_STATE_DIR: folder };
  const child = spawn(process.execPath, [bin, 'run', '-c', file], { stdio: ['ignore', 'ignore', 'inherit'], env });
  const exited = once(child, 'exit');
  const gone = exited.then(() => {
    throw new Error('the gateway ended');
  });
  gone.catch(() => {});
  await Promise.race([responding(port), gone]);
  return {
    port,
    pid: child.pid!,
    async stop() {
      child.kill('SIGKILL');
      await exited;
      rmSync(folder, { recursive: true });
    },
  };
}

/** Waits until a process listens on the port. */
async function responding(port: number): Promise<void> {
  while (true) {
    const socket: Socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return;
    } catch {
      await wait(LOOK_MS);
    } finally {
      socket.destroy();
    }
  }
}

function residentBytesOf(pid: number): number {
  const status = `/proc/${pid}/status`;
  if (existsSync(status)) return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(status, 'utf8'))?.[1]) * 1024;
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) * 1024;
}

/** Formats bytes as MiB. */
export function inMiB(bytes: number): string {
  return (bytes / MiB).toFixed(1);
}
