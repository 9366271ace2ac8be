import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { request } from 'undici';
import { built } from '../build/built.ts';
import { type Child, start } from './children.ts';
import { probeOptions } from './meter.ts';
import { bodyOf } from './payloads.ts';

/** Parameters of a measured program. */
export interface Setup {
  /** Port to listen on, on 127.0.0.1. */
  readonly port: number;
  /** Origin of the backend. */
  readonly upstream: string;
  readonly scenario: string;
  /** The gateway's configuration for this scenario. */
  readonly configFile: string;
  /** Folder with the other files of the program's configuration. */
  readonly folder: string;
}

/** A program that can be measured. */
export interface Subject {
  readonly name: string;
  /** Script and arguments, run by the benchmark's own Node.js or by `executable`. */
  readonly script: (setup: Setup) => readonly string[];
  /** Executable other than Node.js. */
  readonly executable?: string;
  /** Configuration files in addition to the usual one, if any: texts by file name, below `folder`. */
  readonly files?: (setup: Setup) => Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Opens a message channel, by which it detects the end of the benchmark. */
  readonly ipc?: boolean;
  /** Whether the program writes a line per request to its output. */
  readonly logsAccess?: true;
  /** Serves the endpoint without the components of the scenario. */
  readonly bare?: true;
  /** Contains only a few of the scenario's endpoints. */
  readonly few?: true;
}

const FLOOR_FILE = join(import.meta.dirname, 'floor.ts');
/** The code of the gateway, as in the published package. */
const GATEWAY_FILE = join(await built(), 'kernel/bin.js');

export const floor: Subject = {
  name: 'floor',
  script: ({ scenario, port, upstream }) => [FLOOR_FILE, scenario, String(port), upstream],
  ipc: true,
};

/** The gateway in its usual configuration, but without access log and admin port: another gateway may use that port. */
export const gateway: Subject = {
  name: 'gateway',
  script: ({ configFile }) => [GATEWAY_FILE, 'run', '-c', configFile, '--state-dir', dirname(configFile)],
  env: { GATEWAY_ADMIN_LISTEN: 'off' },
};

/** The gateway with its default access log. */
export const loggingGateway: Subject = { ...gateway, name: 'gateway with access log', logsAccess: true };

/** The gateway without the components that a scenario measures. */
export const bareGateway: Subject = { ...gateway, name: 'gateway without the component', bare: true };

/** The gateway with few endpoints. */
export const gatewayOfFew: Subject = { ...gateway, name: 'gateway with 10 endpoints', few: true };

/** The gateway with a number of worker processes. */
export function gatewayOfWorkers(count: number): Subject {
  const script = (setup: Setup) => [...gateway.script(setup), '--workers', String(count)];
  return { ...gateway, name: `gateway with ${count} workers`, script };
}

/** Maximum time to wait for the first response, in milliseconds. */
const START_MS = 60_000;
const PAUSE_MS = 2;

/** A running subject; `startMillis` is the time from spawning it to its first response with status 200. */
export interface Running {
  readonly child: Child;
  readonly startMillis: number;
}

/**
 * Starts a program and waits until it responds.
 * @param path requested once it listens.
 * @param right expected status code.
 * @param length of the body to post; undefined for a GET.
 * @throws Error with the program's last output when it exits, responds otherwise or does not respond.
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
    if (statusCode !== right) throw new Error(`the first response has status ${statusCode}`);
    return { child, startMillis: performance.now() - started };
  } catch (error) {
    await child.stop();
    throw new Error(`${subject.name} did not start: ${(error as Error).message}\n${child.output().slice(-2000)}`);
  }
}

/** True when a process listens on a port of the loopback interface. */
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
