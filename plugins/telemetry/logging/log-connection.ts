import type { Socket } from 'node:net';
import { type LogDestination, openOwned } from '#contract';

/** One destination of a connection. */
export interface Target {
  connect(): Socket;
  /** Describes why the target cannot be reached; the text contains the name of the target. */
  describe(error: NodeJS.ErrnoException): string;
}

/** Events that a connection reports to its owner. */
export interface ConnectionEvents {
  /** Called once per outage, when all targets are unreachable. */
  lost(reason: string): void;
  /** Called when a target is reachable again. */
  restored(): void;
}

/** A connection that is opened for the first line, and reopened for the next line after it was lost. */
export interface LogConnection extends LogDestination {
  /** Closes the connection once its pending lines are sent. */
  close(): void;
}

/**
 * Connects to the first target that accepts a connection. Lines wait while no target does, so that the sink's bounded
 * buffer decides which lines are kept.
 * @param pauseOf milliseconds until the next attempt, by the number of consecutive failures (1 or more).
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
      // The target has destroyed the socket, because it rejects the address.
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
