import cluster, { Worker } from 'node:cluster';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The real functions are copied, because those of `node:fs` may be failing. */
const [list, read, follow] = [readdirSync, readFileSync, readlinkSync];

/** The moment in the conversation with its primary at which a worker is killed. */
export interface Kill {
  /** `order` for messages to workers, `report` for messages from them. */
  readonly of: 'order' | 'report';
  /** Number of the message, from 1, among all workers. */
  readonly nth: number;
  /** Time after that message, in milliseconds; 0 to kill the worker before it is sent or read. */
  readonly delayMs: number;
}

/** Workers that are killed. */
export interface Kills {
  /** Process ids of the workers killed so far. */
  readonly killed: ReadonlySet<number>;
  /** Kills the worker of the given message. */
  arm(kill: Kill): void;
  disarm(): void;
  now(pid: number): void;
  close(): void;
}

export function openKills(): Kills {
  const killed = new Set<number>();
  const timers = new Set<NodeJS.Timeout>();
  let armed: Kill | null = null;
  let count = 0;
  const end = (worker: Worker): void => {
    if (worker.isDead()) return;
    killed.add(worker.process.pid!);
    worker.process.kill('SIGKILL');
  };
  const pass = (worker: Worker, of: Kill['of']): void => {
    if (armed?.of !== of || ++count < armed.nth) return;
    const { delayMs } = armed;
    armed = null;
    if (delayMs === 0) return end(worker);
    const timer = setTimeout(() => {
      timers.delete(timer);
      end(worker);
    }, delayMs);
    timers.add(timer);
  };
  const heard = (worker: Worker): void => pass(worker, 'report');
  cluster.on('message', heard);
  const { send } = Worker.prototype;
  Worker.prototype.send = function (this: Worker, ...given: unknown[]) {
    pass(this, 'order');
    return (send as (...given: unknown[]) => boolean).apply(this, given);
  } as typeof send;
  return {
    killed,
    arm(kill) {
      armed = kill;
      count = 0;
    },
    disarm() {
      armed = null;
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
    now(pid) {
      const worker = Object.values(cluster.workers ?? {}).find((one) => one?.process.pid === pid);
      if (worker) end(worker);
    },
    close() {
      cluster.off('message', heard);
      Worker.prototype.send = send;
    },
  };
}

/** Number of times that the system's table of connections is read to find one connection. */
const MOST_READS = 20;

/** The process, among some, that has the connection from one local port to another; undefined for none. */
export function ownerOf(from: number, to: number, pids: readonly number[]): number | undefined {
  const hex = (port: number): string => `[0-9A-F]+:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const ends = new RegExp(`^\\s*\\d+: ${hex(from)} ${hex(to)} `);
  let line: string | undefined;
  // The table is read repeatedly, because the system does not read it atomically and a connection may be missing from
  // it.
  for (let attempt = 0; attempt < MOST_READS && line === undefined; attempt++)
    line = read('/proc/self/net/tcp', 'utf8')
      .split('\n')
      .find((each) => ends.test(each));
  const link = `socket:[${line?.trim().split(/\s+/)[9]}]`;
  return pids.find((pid) => linksOf(pid).includes(link));
}

/** Targets of the open descriptors of a process. */
function linksOf(pid: number): readonly string[] {
  try {
    return list(`/proc/${pid}/fd`).map((fd) => {
      try {
        return follow(`/proc/${pid}/fd/${fd}`);
      } catch {
        return '';
      }
    });
  } catch {
    return [];
  }
}
