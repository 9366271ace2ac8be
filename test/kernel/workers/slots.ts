import cluster, { type Worker } from 'node:cluster';
import { mock } from 'node:test';
import type { Log } from '#contract';
import type { Handlers } from '../../../kernel/workers/channel.ts';
import type { PrepareOrder } from '../../../kernel/workers/messages.ts';
import { type SlotOwner, WorkerSlot } from '../../../kernel/workers/worker-slot.ts';
import { TestProcess, turnsUntil } from './lines.ts';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** A configuration as it is sent to a worker. */
export function order(revision: number): PrepareOrder {
  return { revision, file: 'gateway.json', text: '{}', files: [], secrets: [] };
}

/** A worker slot with processes, timers and an owner of the test. */
export class SlotHarness {
  readonly processes: TestProcess[] = [];
  /** Lines of the log. */
  readonly lines: string[] = [];
  /** Notifications to the owner, by name. */
  readonly reports: (readonly unknown[])[] = [];
  /** Responses of the next process, by the name of the request. */
  answers: Handlers = {
    commit: (revision: number) => ({ revision, rebound: [], port: null }),
    stop: () => this.last.end(0, null),
  };
  /** Milliseconds by which `setClock` has set the clock forward. */
  setForwardMs = 0;
  /** State of the next process: undefined if the system does not start it, null if it fails immediately. */
  pid: number | undefined | null = 100;
  readonly owner: Mutable<SlotOwner>;
  readonly slot: WorkerSlot;

  constructor() {
    mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 });
    mock.method(performance, 'now', () => Date.now() - this.setForwardMs);
    mock.method(cluster, 'fork', () => {
      if (this.pid === null) throw new Error('no memory');
      this.processes.push(new TestProcess(this.pid, this.answers));
      return this.last as unknown as Worker;
    });
    const report = (name: string) => (payload: unknown) => void this.reports.push([name, payload]);
    this.owner = {
      log: { error: (line: string) => void this.lines.push(line) } as Log,
      committed: null,
      listens: false,
      target: { known: null },
      denied: [{ address: '127.0.0.1', port: 1 }],
      onSample: async () => null,
      useShared: ({ question }) => `answer to ${question}`,
      mirrorSnapshot: (id) => `all of ${id}`,
      onMirror: report('mirror'),
      onHeartbeat: report('heartbeat'),
      onEvent: ({ id }, event) => report('event')([id, event]),
      onFaulty: ({ id }) => report('faulty')(id),
      onUp: ({ id }) => report('up')(id),
      onDown: ({ id }, reason, held) => report('down')(held ? [id, reason, held] : [id, reason]),
    };
    this.slot = new WorkerSlot(7, this.owner);
  }

  /** The process that was started last. */
  get last(): TestProcess {
    return this.processes.at(-1)!;
  }

  /** Names of the requests and notifications that the process has received. */
  get asked(): string[] {
    return this.last.orders.map(([name]) => name);
  }

  /** Changes the responses of the next process and of a running one. */
  answer(more: Handlers): void {
    Object.assign(this.answers, more);
  }

  /** Sets the clock forward; no time passes. */
  setClock(byMs: number): void {
    this.setForwardMs += byMs;
    mock.timers.setTime(Date.now() + byMs);
  }

  async up(): Promise<void> {
    this.slot.start();
    this.last.channel.notify('ready');
    await turnsUntil(() => this.slot.state === 'up');
  }

  close(): void {
    mock.timers.reset();
    mock.restoreAll();
  }
}
