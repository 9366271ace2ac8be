import type { Attack } from '#contract';
import { addHeader, isServed } from '../requests.ts';

/** Length of the headers, in bytes: a tenth more than the default of max_header_bytes. */
const LENGTH = 1_100_000;

export const oversizedHeaders: Attack = {
  name: 'oversized-headers',
  severity: 'LOW',
  title: 'The gateway accepts headers of more than a megabyte',
  description:
    'Sends a header of 1.1 MB, a tenth more than the default of max_header_bytes. A finding is a request that is served.',
  once: true,
  applies: ({ config }) => config.backend.length > 0,
  async run({ baseline, send }) {
    const request = addHeader(baseline, 'X-Attack', 'a'.repeat(LENGTH));
    if (!isServed(await send(request))) return [];
    return [
      {
        shown: `The endpoint served a request with headers of ${LENGTH} bytes.`,
        remedy: 'Set max_header_bytes to the length that clients need.',
        pointer: '/max_header_bytes',
        requests: [request],
      },
    ];
  },
};
