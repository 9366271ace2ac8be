import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { command as program } from '../../test/support/programs.ts';

const TOKEN = 'chaos';

/** Resource usage of a gateway's processes. */
export interface Usage {
  /** Resident memory in MiB and open descriptors of every process, the primary first. */
  readonly processes: readonly { readonly residentMib: number; readonly descriptors: number }[];
  /** Used heap in MiB of every serving process, including garbage. */
  readonly heapMib: readonly number[];
}

/** A gateway in separate processes, as in production. */
export interface GatewayProcess {
  readonly child: ChildProcess;
  /** Returns the output of the gateway so far. */
  readonly output: () => string;
  /** Calls the admin API of the gateway. */
  admin(method: string, path: string, body?: string): Promise<{ status: number; body: Record<string, unknown> }>;
  /** Returns the resource usage of the gateway's processes. */
  usage(): Promise<Usage>;
  stop(): Promise<number | null>;
}

export interface GatewayProcessOptions {
  readonly file: string;
  readonly workers: number;
  readonly adminPort: number;
  readonly stateDirectory: string;
  /** Options of Node.js, for all processes of the gateway. */
  readonly nodeOptions?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

export async function startGatewayProcess(options: GatewayProcessOptions): Promise<GatewayProcess> {
  const { file, workers, adminPort, stateDirectory } = options;
  const args = [program, 'run', '-c', file, '--admin', `127.0.0.1:${adminPort}`, '--state-dir', stateDirectory];
  const { nodeOptions = [], environment = {} } = options;
  const all = [...nodeOptions, ...args, ...(workers > 1 ? ['--workers', String(workers)] : [])];
  const child = spawn(process.execPath, all, {
    env: { ...process.env, ...environment, GATEWAY_ADMIN_TOKEN: TOKEN },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output = (output + chunk).slice(-100_000);
    });
  }
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', resolve);
  });
  const admin: GatewayProcess['admin'] = async (method, path, body) => {
    const response = await fetch(`http://127.0.0.1:${adminPort}${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  for (let isUp = false; !isUp; ) {
    if (child.exitCode !== null) throw new Error(`the gateway did not start:\n${output}`);
    isUp = await admin('GET', '/ready').then(
      ({ status }) => status === 200,
      () => false,
    );
  }
  return {
    child,
    output: () => output,
    admin,
    async usage() {
      const { body } = await admin('GET', '/v1/workers');
      const serving = body.workers as { heapUsedBytes: number }[];
      return {
        processes: [child.pid!, ...childrenOf(child.pid!)].map(usageOf),
        heapMib: serving.map(({ heapUsedBytes }) => Math.round(heapUsedBytes / 2 ** 20)),
      };
    },
    stop: () => {
      child.kill('SIGTERM');
      return exited;
    },
  };
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

function usageOf(pid: number): Usage['processes'][number] {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    residentMib: Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}
