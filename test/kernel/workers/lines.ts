import { EventEmitter } from 'node:events';
import { deserialize, serialize } from 'node:v8';
import { Channel, type Handlers } from '../../../kernel/workers/channel.ts';

/** One end of a line between two processes that are both this one. */
export class TestLine extends EventEmitter {
  /** What has been sent from here. */
  readonly sent: unknown[] = [];
  /** Null where nobody listens. */
  other: TestLine | null = null;
  /** What becomes of what is sent from here: null for good. */
  problem: Error | null = null;

  send(message: unknown, callback: (error: Error | null) => void): boolean {
    this.sent.push(message);
    const copy = deserialize(serialize(message));
    setImmediate(() => {
      callback(this.problem);
      if (!this.problem) this.other?.emit('message', copy);
    });
    return true;
  }
}

/** Both ends of a line. */
export function joinedLines(): [TestLine, TestLine] {
  const [one, other] = [new TestLine(), new TestLine()];
  one.other = other;
  other.other = one;
  return [one, other];
}

/** Stands for a worker as `cluster.fork` gives it: what it answers is said by a test. */
export class TestProcess extends TestLine {
  /** What it has been asked and told, oldest first. */
  readonly orders: (readonly [name: string, payload: unknown])[] = [];
  /** The worker's own end. */
  readonly channel: Channel;
  readonly process: { pid: number | undefined; kill(signal: string): void };
  /** What it answers. */
  readonly answers: Record<string, Handlers[string]>;

  /** @param responses by the name of what is asked; null is the answer to anything else. */
  constructor(pid: number | undefined, responses: Handlers) {
    super();
    this.answers = responses;
    this.process = { pid, kill: (signal) => this.end(null, signal) };
    const inside = new TestLine();
    inside.other = this;
    this.other = inside;
    const heard = (name: string) => (payload: unknown) => {
      this.orders.push([name, payload]);
      return (responses[name] as ((payload: unknown) => unknown) | undefined)?.(payload) ?? null;
    };
    const names = ['prepare', 'commit', 'abort', 'mirror', 'listen', 'inFlight', 'closing', 'deny', 'level', 'stop'];
    this.channel = new Channel(inside, Object.fromEntries(names.map((name) => [name, heard(name)])));
  }

  /** The process ends. */
  end(code: number | null, signal: string | null): void {
    this.emit('exit', code, signal);
  }
}

/** Waits for a condition by turns of the event loop, for tests that hold the timers. */
export async function turnsUntil(isSo: () => boolean): Promise<void> {
  for (let turns = 0; !isSo(); turns++) {
    if (turns === 2000) throw new Error(`not so: ${isSo}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Lets all that is on its way arrive. */
export async function arrival(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
}
