import { gzipSync } from 'node:zlib';
import type { Attack } from '#contract';
import { takesBody, withHeader } from '../requests.ts';

/** Length of the decompressed body, in bytes. */
const LENGTH = 8 * 1024 * 1024;

export const compressionBomb: Attack = {
  name: 'compression-bomb',
  severity: 'MEDIUM',
  title: 'A small compressed body becomes a large one in the gateway',
  description:
    'Sends 8 KiB of gzip that decompress to 8 MiB, if the gateway decompresses request bodies. A finding is a backend that receives all of it.',
  once: true,
  applies: ({ config }, { router }) => Boolean(router.decompress_gzip) && takesBody(config),
  async run({ baseline, send }) {
    const body = gzipSync(Buffer.alloc(LENGTH));
    const request = {
      ...withHeader(baseline, 'Content-Encoding', 'gzip'),
      body,
      bodyCommand: `head -c ${LENGTH} /dev/zero | gzip`,
    };
    const { calls } = await send(request);
    if (!calls.some((call) => call.body.length >= LENGTH)) return [];
    return [
      {
        shown: `The backend received ${LENGTH} bytes for a body of ${body.length} bytes.`,
        remedy: 'Set router.max_payload, which also limits decompressed bodies, or remove decompress_gzip.',
        pointer: '/extra_config/router/decompress_gzip',
        requests: [request],
      },
    ];
  },
};
