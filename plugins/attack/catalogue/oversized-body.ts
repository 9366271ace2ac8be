import type { Attack } from '#contract';
import { takesBody } from '../requests.ts';

/** Length of a body that no limit permits, in bytes: 1 TiB. */
const HUGE = 2 ** 40;

/** Time limit for the response to a body that is only announced, in milliseconds. */
const DECISION_MS = 2_000;

export const oversizedBody: Attack = {
  name: 'oversized-body',
  severity: 'LOW',
  title: 'The gateway accepts bodies of any size',
  description:
    'Announces a body that is longer than max_payload, or of 1 TiB if max_payload is 0. A finding is a body that the gateway requests with 100 Continue. Without max_payload, only bodies that components parse are limited.',
  once: true,
  applies: ({ config }, { router }) => router.max_payload !== undefined && takesBody(config),
  async run({ baseline, service: { router }, write }) {
    const length = router.max_payload ? router.max_payload + 1 : HUGE;
    const lines = [['Host', 'localhost'], ...baseline.headers, ['Content-Length', length], ['Expect', '100-continue']];
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const bytes = `${baseline.method} ${baseline.target} HTTP/1.1\r\n${head}\r\n`;
    const { responses } = await write(bytes, DECISION_MS);
    if (responses[0]?.status !== 100) return [];
    return [
      {
        shown: `The gateway requested a body of ${length} bytes.`,
        remedy: 'Set router.max_payload above 0 (sluice audit 8.2.5).',
        pointer: '/extra_config/router/max_payload',
        requests: [bytes],
      },
    ];
  },
};
