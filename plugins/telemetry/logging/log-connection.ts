import type { Socket } from 'node:net';
import { type LogDestination, openOwned } from '#contract';

/** Where a connection may lead. */
export interface Target {
  connect(): Socket;
  /** Why it cannot be had, with its name. */
  describe(error: NodeJS.ErrnoException): string;
}

/** What a connection reports to its owner. */
export interface ConnectionEvents {
  /** None of the targets can be reached; called once for every outage. */
  lost(reason: string): void;
  /** One can be reached again. */
  restored(): void;
}

/** A connection that is made at the first line, and made again when lines come after it was lost. */
export interface LogConnection extends LogDestination {
  /** Ends it, once what it was given is sent. */
  close(): void;
}

/**
 * Connects to the first target that takes a connection. While there is none the lines are held back, so that the bounded
 * buffer of the sink decides what is kept.
 * @param pauseOf milliseconds until the next attempt, by how many have failed in a row: 1 or more.
 */
export function openConnection(
  targets: readonly Target[],
  events: ConnectionEvents,
  pauseOf: (failures: number) => number,
): LogConnection {
  let socket: Socket | null = null;
  let held: { lines: Uint8Array; done: (error?: Error | null) => void } | null = null;
  let retry: NodeJS.Timeout | null = null;
  let connecting = false;
  let closed = false;
  let failures = 0;

  const send = (): void => {
    if (!socket) return;
    if (held) {
      const { lines, done } = held;
      held = null;
      socket.write(lines, done);
    }
    if (closed) socket.end();
  };

  const dial = (at: number, reasons: string[]): void => {
    const target = targets[at];
    if (target === undefined) {
      fail(reasons.join('; '));
      return;
    }
    connecting = true;
    const attempt = openOwned('log connection', 'a log output', () => target.connect());
    attempt.unref();
    attempt.once('connect', () => {
      // The target has looked at where it leads, and refused.
      if (attempt.destroyed) return;
      connecting = false;
      socket = attempt;
      if (failures > 0) events.restored();
      failures = 0;
      send();
    });
    attempt.on('error', (error: NodeJS.ErrnoException) => {
      if (socket !== attempt && connecting) dial(at + 1, [...reasons, target.describe(error)]);
    });
    attempt.once('close', () => {
      if (socket === attempt) socket = null;
    });
  };

  const fail = (reason: string): void => {
    connecting = false;
    failures++;
    if (closed) return;
    if (failures === 1) events.lost(reason);
    retry = setTimeout(() => {
      retry = null;
      dial(0, []);
    }, pauseOf(failures));
    retry.unref();
  };

  return {
    write(lines, done) {
      held = { lines, done };
      if (socket) send();
      else if (!connecting && retry === null) dial(0, []);
    },
    close() {
      closed = true;
      if (retry) clearTimeout(retry);
      if (!held) socket?.end();
    },
  };
}
