import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, until } from './conditions.ts';
import { isInstalled } from './debian.ts';

/** Addition to the title of a skipped suite. */
export const withoutEtcd = isInstalled('etcd', 'etcd-server') ? null : 'apt-get install etcd-server';

/** An etcd server for tests, on the loopback address. */
export interface TestEtcd {
  /** Host and port for clients. */
  readonly host: string;
  put(key: string, value: string): Promise<void>;
  remove(key: string): Promise<void>;
  /** Calls a method of the JSON API. */
  call(method: string, body: object): Promise<Record<string, unknown>>;
  stop(): Promise<void>;
  /** Restarts at the same port with the same data. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** @param options command-line options. @param scheme of the address for clients. */
export async function startEtcd(options: readonly string[] = [], scheme = 'http'): Promise<TestEtcd> {
  const [port, peerPort] = [await freePort(), await freePort()];
  const directory = mkdtempSync(join(tmpdir(), 'sluice-etcd-'));
  let stop = async () => {};
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const self: TestEtcd = {
    host: `127.0.0.1:${port}`,
    async call(method, body) {
      const response = await fetch(`http://127.0.0.1:${port}/v3/${method}`, {
        method: 'POST',
        body: JSON.stringify(body),
      });
      return (await response.json()) as Record<string, unknown>;
    },
    async put(key, value) {
      await self.call('kv/put', { key: base64(key), value: base64(value) });
    },
    async remove(key) {
      await self.call('kv/deleterange', { key: base64(key) });
    },
    stop: () => stop(),
    async start() {
      const client = `${scheme}://127.0.0.1:${port}`;
      const peer = `http://127.0.0.1:${peerPort}`;
      const args = [
        ...['--data-dir', directory, '--listen-client-urls', client, '--advertise-client-urls', client],
        ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
        ...options,
      ];
      const server = spawn('etcd', args, { stdio: ['ignore', 'ignore', 'pipe'] });
      let output = '';
      server.stderr.on('data', (chunk) => {
        output += chunk;
      });
      stop = async () => {
        const exited = once(server, 'exit');
        server.kill('SIGKILL');
        await exited;
        stop = async () => {};
      };
      await until(() => {
        if (server.exitCode !== null) throw new Error(output);
        return output.includes('ready to serve client requests');
      });
    },
    async close() {
      await stop();
      rmSync(directory, { recursive: true });
    },
  };
  await self.start();
  return self;
}
