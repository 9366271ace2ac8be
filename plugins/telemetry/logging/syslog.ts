import { connect, type Socket } from 'node:net';
import { hostname } from 'node:os';
import type { LogDestination, LogFormat, LogLevel } from '#contract';
import { syslogText } from './application.ts';
import { compileLayout } from './go-time.ts';

/** Where the syslog daemon listens, tried in order. */
export const socketPaths: readonly string[] = ['/dev/log', '/var/run/syslog', '/var/run/log'];

/** Pause between two attempts to reach the daemon. */
const RETRY_MS = 30_000;

const severities: Readonly<Record<LogLevel, number>> = { DEBUG: 7, INFO: 6, WARNING: 4, ERROR: 3, CRITICAL: 2 };

/** The line as the daemon reads it: priority with the severity of the line itself, time, host, tag, text. */
export function syslogFormat(tag: string, facility: string): LogFormat {
  const base = (16 + Number(facility.slice('local'.length))) * 8;
  const text = syslogText();
  const stamp = compileLayout('Jan _2 15:04:05');
  const sender = `${hostname()} ${tag === '' ? 'sluice' : tag.replace(/[\s\x00-\x1f]/g, '_')}[${process.pid}]:`;
  return (line) => `<${base + severities[line.level]}>${stamp(line.time)} ${sender} ${text(line)}\n`;
}

/** What the connection tells its owner. */
export interface SyslogEvents {
  /** The daemon cannot be reached; told once for every outage. */
  lost(reason: string): void;
  found(): void;
}

/** A connection to the daemon that is made at the first line and made again whenever it is lost. */
export interface Syslog extends LogDestination {
  close(): void;
}

/**
 * Connects to the first socket that takes a stream connection. While there is none lines are held back, so that the
 * sink's bounded buffer decides what is kept. Sockets that only take datagrams cannot be opened by Node.js.
 */
export function openSyslog(events: SyslogEvents, paths = socketPaths, retryMs = RETRY_MS): Syslog {
  let socket: Socket | null = null;
  let held: { lines: Uint8Array; done: (error?: Error | null) => void } | null = null;
  let retry: NodeJS.Timeout | null = null;
  let connecting = false;
  let closed = false;
  let told = false;

  const send = (): void => {
    if (!socket || !held) return;
    const { lines, done } = held;
    held = null;
    socket.write(lines, done);
    if (closed) socket.end();
  };

  const dial = (at: number, reasons: string[]): void => {
    const path = paths[at];
    if (path === undefined) {
      fail(reasons.join('; '));
      return;
    }
    connecting = true;
    const attempt = connect(path);
    attempt.unref();
    attempt.once('connect', () => {
      connecting = false;
      socket = attempt;
      if (told) events.found();
      told = false;
      send();
    });
    attempt.on('error', (error: NodeJS.ErrnoException) => {
      if (socket === attempt) return;
      dial(at + 1, [...reasons, describe(path, error)]);
    });
    attempt.once('close', () => {
      if (socket === attempt) socket = null;
    });
  };

  const fail = (reason: string): void => {
    connecting = false;
    if (!told && !closed) events.lost(reason);
    told = true;
    if (closed) return;
    retry = setTimeout(() => {
      retry = null;
      dial(0, []);
    }, retryMs);
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

function describe(path: string, error: NodeJS.ErrnoException): string {
  if (error.code === 'EPROTOTYPE') return `${path} takes datagrams only, which Node.js cannot send`;
  return `${path}: ${error.code ?? error.message}`;
}
