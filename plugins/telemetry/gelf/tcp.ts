import { connect } from 'node:net';
import type { DeniedAddresses } from '#contract';
import { type ConnectionEvents, type LogConnection, openConnection } from '../logging/log-connection.ts';
import type { Address } from './address.ts';

/** Delay before reconnecting, in milliseconds: starts at the first value and doubles up to the longest. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
/** Connection timeout, and idle time before a keep-alive probe, in milliseconds. */
const CONNECT_MS = 10_000;
const PROBE_MS = 30_000;

const LINE_BREAK = 0x0a;

/** GELF over TCP: messages end with a NUL byte. */
export function openTcp(
  { host, port }: Address,
  denied: DeniedAddresses,
  events: ConnectionEvents,
  firstPauseMs = FIRST_PAUSE_MS,
): LogConnection {
  const target = {
    connect() {
      const socket = connect({ host, port, keepAlive: true, keepAliveInitialDelay: PROBE_MS });
      const timer = setTimeout(() => socket.destroy(new Error(`not connected within ${CONNECT_MS} ms`)), CONNECT_MS);
      socket.prependOnceListener('connect', () => {
        if (denied.has(socket.remoteAddress ?? '', port)) socket.destroy(new Error("the gateway's own admin port"));
      });
      socket.once('connect', () => clearTimeout(timer));
      socket.once('close', () => clearTimeout(timer));
      // Received data is discarded, because a GELF server sends no response.
      socket.resume();
      return socket;
    },
    describe: ({ code, message }: NodeJS.ErrnoException) => `${host}:${port}: ${code ?? message}`,
  };
  const pauseOf = (failures: number) => Math.min(firstPauseMs * 2 ** (failures - 1), LONGEST_PAUSE_MS);
  const connection = openConnection([target], events, pauseOf);
  return {
    ...connection,
    write(lines, done) {
      const messages = Buffer.from(lines);
      // GELF ends messages with a zero byte. Each line break is the end of a message, because JSON escapes line breaks
      // in texts.
      for (let at = messages.indexOf(LINE_BREAK); at >= 0; at = messages.indexOf(LINE_BREAK, at)) messages[at] = 0;
      connection.write(messages, done);
    },
  };
}
