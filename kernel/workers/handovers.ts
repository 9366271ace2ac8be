import cluster, { type Worker } from 'node:cluster';
import type { EventEmitter } from 'node:events';

/** A message of Node.js about a port or a connection, between the primary and a worker. */
interface PortMessage {
  readonly cmd?: 'NODE_CLUSTER';
  readonly act?: string;
  /** Identifies the port. */
  readonly key?: string;
  readonly errno?: number | null;
  readonly seq?: number;
  /** Sequence number (`seq`) of the message to which this one is the response. */
  readonly ack?: number;
  accepted?: boolean;
}

type Send = (message: PortMessage, ...more: unknown[]) => boolean;

/**
 * Connections that were handed to a worker and that it has not accepted. Node.js forgets those of a worker that dies or
 * closes the port: they would stay open without ever being read. They are passed to another worker, or closed if no
 * worker listens on their port.
 */
export class Handovers {
  /** Ports of each worker. */
  readonly #ports = new Map<Worker, Set<string>>();
  readonly #onFork = (worker: Worker): void => this.#follow(worker);

  constructor() {
    cluster.on('fork', this.#onFork);
  }

  /** Stops observing workers that start from now on. */
  close(): void {
    cluster.off('fork', this.#onFork);
  }

  #follow(worker: Worker): void {
    const child = worker.process as unknown as EventEmitter & { send: Send };
    /** Keys of the ports of connections that wait to be accepted, by the number of their message. */
    const waiting = new Map<number, string>();
    const { send } = child;
    child.send = (message, ...more) => {
      const { cmd, act, key, seq, ack, errno } = message;
      if (cmd !== undefined && key !== undefined) {
        if (act === 'newconn') waiting.set(seq!, key);
        else if (ack !== undefined && !errno) this.#portsOf(worker).add(key);
      }
      return send.call(child, message, ...more);
    };
    child.prependListener('internalMessage', (message: PortMessage) => {
      const { act, key, ack } = message;
      if (act === 'close') this.#ports.get(worker)?.delete(key!);
      const port = ack === undefined ? undefined : waiting.get(ack);
      if (port === undefined) return;
      waiting.delete(ack!);
      // A connection whose port is no longer open is marked as accepted, so that Node.js closes it.
      message.accepted ||= !this.#isOpen(port);
    });
    // When "close" is emitted, the last messages of the worker have been read.
    child.once('close', () => {
      // Without this call, Node.js keeps the ports of a worker that dies before it has received its first connection.
      worker.disconnect();
      this.#ports.delete(worker);
      for (const ack of [...waiting.keys()])
        child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack, accepted: false } satisfies PortMessage);
    });
  }

  #portsOf(worker: Worker): Set<string> {
    const ports = this.#ports.get(worker) ?? new Set();
    this.#ports.set(worker, ports);
    return ports;
  }

  #isOpen(port: string): boolean {
    return [...this.#ports.values()].some((ports) => ports.has(port));
  }
}
