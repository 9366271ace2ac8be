import type { Attack } from '#contract';
import { PATIENCE_MS, shortenTimeouts } from '../slow-timeouts.ts';

export const slowHeaders: Attack = {
  name: 'slow-headers',
  severity: 'LOW',
  title: 'A client can hold a connection by sending its headers slowly',
  description:
    'Shortens the timeouts for receiving requests that are not disabled, sends half of the headers, and waits. A finding is a connection that the gateway does not close.',
  once: true,
  isolated: true,
  stage: shortenTimeouts,
  applies: () => true,
  async run({ baseline: { target }, write }) {
    const bytes = `GET ${target} HTTP/1.1\r\nHost: localhost\r\nX-Attack: a`;
    const { isClosed } = await write(bytes, PATIENCE_MS);
    if (isClosed) return [];
    return [
      {
        shown: 'The gateway kept a connection whose headers never end.',
        remedy: 'Set read_header_timeout to a few seconds (sluice audit 8.2.3).',
        pointer: '/read_header_timeout',
        requests: [bytes],
      },
    ];
  },
};
