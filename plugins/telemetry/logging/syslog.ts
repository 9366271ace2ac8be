import { connect } from 'node:net';
import { hostname } from 'node:os';
import type { LogFormat, LogLevel } from '#contract';
import { syslogText } from './application.ts';
import { compileLayout } from './go-time.ts';
import { type ConnectionEvents, type LogConnection, openConnection } from './log-connection.ts';

/** Socket paths of the syslog daemon, tried in order. */
export const socketPaths: readonly string[] = ['/dev/log', '/var/run/syslog', '/var/run/log'];

/** Delay between two attempts to connect to the daemon, in milliseconds. */
const RETRY_MS = 30_000;

/** Syslog severities by level. */
export const severities: Readonly<Record<LogLevel, number>> = { DEBUG: 7, INFO: 6, WARNING: 4, ERROR: 3, CRITICAL: 2 };

/** Formats a line for the daemon: priority with the line's own severity, time, host, tag, text. */
export function syslogFormat(tag: string, facility: string): LogFormat {
  const base = (16 + Number(facility.slice('local'.length))) * 8;
  const text = syslogText();
  const stamp = compileLayout('Jan _2 15:04:05');
  const sender = `${hostname()} ${tag === '' ? 'sluice' : tag.replace(/[\s\x00-\x1f]/g, '_')}[${process.pid}]:`;
  return (line) => `<${base + severities[line.level]}>${stamp(line.time)} ${sender} ${text(line)}\n`;
}

/** Opens a connection to the daemon. Node.js does not support Unix datagram sockets. */
export function openSyslog(events: ConnectionEvents, paths = socketPaths, retryMs = RETRY_MS): LogConnection {
  const targets = paths.map((path) => ({
    connect: () => connect(path),
    describe: ({ code, message }: NodeJS.ErrnoException) =>
      code === 'EPROTOTYPE' ? `${path} takes datagrams only, which Node.js cannot send` : `${path}: ${code ?? message}`,
  }));
  return openConnection(targets, events, () => retryMs);
}
