import { EventEmitter } from 'node:events';
import { deserialize, serialize } from 'node:v8';
import { Channel, type Handlers } from '../../../kernel/workers/channel.ts';

/** One end of a message channel between a primary process and a worker, both of which are simulated in this process. */
export class TestLine extends EventEmitter {
  /** Messages sent from this end. */
  readonly sent: unknown[] = [];
  /** The other end of the line; null without a listener. */
  other: TestLine | null = null;
  /** Error of every message sent from this end; null for success. */
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

/** Both ends of a channel. */
export function joinedLines(): [TestLine, TestLine] {
  const [one, other] = [new TestLine(), new TestLine()];
  one.other = other;
  other.other = one;
  return [one, other];
}

/** A fake worker as returned by `cluster.fork`, with responses of the test. */
export class TestProcess extends TestLine {
  /** Received requests and notifications, oldest first. */
  readonly orders: (readonly [name: string, payload: unknown])[] = [];
  /** The worker's end of the channel. */
  readonly channel: Channel;
  readonly process: { pid: number | undefined; kill(signal: string): void };
  /** Responses of the worker. */
  readonly answers: Record<string, Handlers[string]>;

  /** @param responses by the name of the request; other requests get null. */
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

/** Waits for a condition by yielding to the event loop, for tests that hold the timers. */
export async function turnsUntil(isSo: () => boolean): Promise<void> {
  for (let turns = 0; !isSo(); turns++) {
    if (turns === 2000) throw new Error(`not so: ${isSo}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Waits until all pending messages have arrived. */
export async function arrival(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
}
