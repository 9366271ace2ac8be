import { small } from './payloads.ts';
import type { Scenario } from './scenario.ts';

const endpoint = { backend: [{ url_pattern: '/small' }] };

/** Eight customers, who differ in their number: 8 KiB. */
const answers = { customers: Array.from({ length: 8 }, (_, at) => ({ ...small, id: small.id + at })) };

/** Cost of compressing 8 KiB, compared with the same response uncompressed, and cost for clients that accept no compression. */
export const compressionScenarios: readonly Scenario[] = ['gzip', 'br', 'zstd', 'identity'].map((coding) => ({
  ...{ name: `compression-${coding}`, path: `/bench/compression-${coding}`, endpoint, expected: answers, answers },
  without: { service: { router: { disable_gzip: true } } },
  attach: () => ({ headers: [{ 'accept-encoding': coding }] }),
}));
