import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { request } from 'undici';
import { type Child, start } from './children.ts';
import { probeOptions } from './meter.ts';
import { bodyOf } from './payloads.ts';

/** What a measured program is given. */
export interface Setup {
  /** Port to listen on, on 127.0.0.1. */
  readonly port: number;
  /** Origin of the backend. */
  readonly upstream: string;
  readonly scenario: string;
  /** The gateway's configuration for this scenario. */
  readonly configFile: string;
  /** Folder with the other files of its configuration. */
  readonly folder: string;
}

/** A program that can be measured. */
export interface Subject {
  readonly name: string;
  /** Script and arguments, run by the Node that runs the benchmark or by `executable`. */
  readonly script: (setup: Setup) => readonly string[];
  /** A program other than Node. */
  readonly executable?: string;
  /** Its configuration, where it has one of its own: texts by file name, below `folder`. */
  readonly files?: (setup: Setup) => Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Gets a message channel, by which it notices the end of the benchmark. */
  readonly ipc?: boolean;
  /** Writes a line for every request to its output. */
  readonly logsAccess?: true;
  /** Serves the endpoint without the components of the scenario. */
  readonly bare?: true;
  /** Has few of the endpoints of the scenario. */
  readonly few?: true;
}

const FLOOR_FILE = join(import.meta.dirname, 'floor.ts');
const GATEWAY_FILE = join(import.meta.dirname, '../../kernel/bin.ts');

export const floor: Subject = {
  name: 'floor',
  script: ({ scenario, port, upstream }) => [FLOOR_FILE, scenario, String(port), upstream],
  ipc: true,
};

/**
 * The gateway as operators run it, except that it writes no access log and opens no admin port: another gateway may have
 * it.
 */
export const gateway: Subject = {
  name: 'gateway',
  script: ({ configFile }) => [GATEWAY_FILE, 'run', '-c', configFile, '--state-dir', dirname(configFile)],
  env: { GATEWAY_ADMIN_LISTEN: 'off' },
};

/** The gateway with the access log that it writes by default. */
export const loggingGateway: Subject = { ...gateway, name: 'gateway with access log', logsAccess: true };

/** The gateway without the components that a scenario is about. */
export const bareGateway: Subject = { ...gateway, name: 'gateway without the component', bare: true };

/** The gateway with few endpoints. */
export const gatewayOfFew: Subject = { ...gateway, name: 'gateway with 10 endpoints', few: true };

/** The gateway as so many processes. */
export function gatewayOfWorkers(count: number): Subject {
  const script = (setup: Setup) => [...gateway.script(setup), '--workers', String(count)];
  return { ...gateway, name: `gateway with ${count} workers`, script };
}

/** Longest wait for the first answer, in milliseconds. */
const START_MS = 60_000;
const PAUSE_MS = 2;

/** A running subject; `startMillis` is the time from spawning it to its first answer with status 200. */
export interface Running {
  readonly child: Child;
  readonly startMillis: number;
}

/**
 * Starts a program and waits until it answers.
 * @param path asked for once it listens.
 * @param right status of the answer.
 * @param length of the body that is posted; undefined for a GET.
 * @throws Error with the program's last words when it ends, answers otherwise or stays silent.
 */
export async function launch(
  subject: Subject,
  setup: Setup,
  path: string,
  logFile: string,
  headers: Readonly<Record<string, string>> = {},
  right = 200,
  length?: number,
): Promise<Running> {
  const started = performance.now();
  const program =
    subject.executable === undefined ? [process.execPath, ...probeOptions.nodeFlags] : [subject.executable];
  const command = [...program, ...subject.script(setup)];
  const child = start(command, logFile, { ipc: probeOptions.ipc || subject.ipc, env: subject.env });
  let end = '';
  child.ended.then((how) => {
    end = how;
  });
  try {
    while (!(await listens(setup.port))) {
      if (end) throw new Error(end);
      if (performance.now() - started > START_MS) throw new Error(`not listening after ${START_MS} ms`);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    const url = `http://127.0.0.1:${setup.port}${path}`;
    const sent = length === undefined ? { headers } : { method: 'POST', headers, body: bodyOf(length) };
    const { statusCode, body } = await request(url, { ...sent, reset: true, signal: AbortSignal.timeout(START_MS) });
    for await (const _ of body);
    if (statusCode !== right) throw new Error(`first answer has status ${statusCode}`);
    return { child, startMillis: performance.now() - started };
  } catch (error) {
    await child.stop();
    throw new Error(`${subject.name} did not start: ${(error as Error).message}\n${child.output().slice(-2000)}`);
  }
}

/** Whether something listens on a port of the loopback interface. */
export function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
