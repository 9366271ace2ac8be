import { atBackend, definePlugin, HeaderBag, Reply } from '#contract';
import { small } from './payloads.ts';

/** 1 KiB of JSON. */
export const body = Buffer.from(JSON.stringify(small));
/** A backend that responds at once, always with the same body. */
export const constant = definePlugin({
  name: 'backend/constant',
  contract: 1,
  description: 'Always responds immediately with the same data.',
  places: [
    atBackend({ type: 'object', properties: { body: { type: 'string', description: 'JSON.' } } }, ({ config }) => {
      const bytes = config.body === undefined ? body : Buffer.from(config.body);
      const head = ['Content-Type', 'application/json', 'Content-Length', String(bytes.length), 'ETag', '"fixed"'];
      return { protocol: { hostless: true, call: () => Reply.raw(200, new HeaderBag([...head]), bytes) } };
    }),
  ],
});
