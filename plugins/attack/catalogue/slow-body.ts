import type { Attack } from '#contract';
import { takesBody } from '../requests.ts';
import { PATIENCE_MS, shortenTimeouts } from '../slow-timeouts.ts';

/** Length that the client announces, in bytes: more than it ever sends. */
const LENGTH = 100_000;

export const slowBody: Attack = {
  name: 'slow-body',
  severity: 'LOW',
  title: 'A client can hold a connection by sending a body slowly',
  description:
    'Shortens the timeouts that are not disabled, announces a body of 100,000 bytes, and sends one byte every 50 ms. A finding is a connection that the gateway does not close.',
  once: true,
  isolated: true,
  stage: shortenTimeouts,
  applies: ({ config }) => takesBody(config),
  async run({ baseline, write }) {
    const headers = [...baseline.headers, ['Content-Length', LENGTH]];
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const host = headers.some(([name]) => name === 'Host') ? '' : 'Host: localhost\r\n';
    const bytes = `${baseline.method} ${baseline.target} HTTP/1.1\r\n${host}${lines}\r\n`;
    const { isClosed } = await write(bytes, PATIENCE_MS, ' ');
    if (isClosed) return [];
    return [
      {
        shown: 'The gateway kept a connection whose body never ends.',
        remedy: 'Set idle_timeout, or read_timeout to the time that the largest body needs (sluice audit 8.2.4).',
        pointer: '/idle_timeout',
        requests: [bytes],
      },
    ];
  },
};
