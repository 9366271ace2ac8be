import type { Attack, DataObject } from '#contract';

/** Timeouts for slow clients in the sandbox, as a duration, and the time that a slow client waits, in milliseconds. */
const [TIMEOUT, PATIENCE_MS] = ['200ms', 2_000];

export const slowRequest: Attack = {
  name: 'slow-request',
  severity: 'LOW',
  title: 'A client can hold a connection by sending its headers slowly',
  description:
    'Shortens the timeouts for receiving requests that are not disabled, sends half of the headers, and waits. A finding is a connection that the gateway does not close.',
  once: true,
  isolated: true,
  stage: shorten,
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

function shorten(document: DataObject): void {
  if (!isZero(document['read_header_timeout'])) document['read_header_timeout'] = TIMEOUT;
  if (document['read_timeout'] !== undefined && !isZero(document['read_timeout'])) document['read_timeout'] = TIMEOUT;
}

function isZero(duration: unknown): boolean {
  return duration !== undefined && Number.parseFloat(String(duration)) === 0;
}
