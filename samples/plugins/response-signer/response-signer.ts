import { createHmac } from 'node:crypto';
import type { Readable } from 'node:stream';
import { atService, definePlugin } from 'sluice/plugin';

/** Collects the bytes of a stream; null if there are more than `maxBytes`. Never holds more than that. */
async function collect(stream: Readable, maxBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Leaving the loop destroys the stream, and with it the connection that it comes from.
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export const plugin = definePlugin({
  name: 'acme/response-signer',
  contract: 1,
  description: 'Signs the bodies of responses: X-Signature is their HMAC-SHA256.',
  places: [
    atService(
      {
        type: 'object',
        examples: [{ key_env: 'ACME_SIGNING_KEY', max_bytes: 65536 }],
        required: ['key_env'],
        properties: {
          key_env: { type: 'string', minLength: 1, description: 'Variable of the environment that holds the key.' },
          max_bytes: {
            type: 'integer',
            minimum: 1,
            default: 1_048_576,
            description:
              'Maximum length of a body, in bytes. Responses with a longer body are replaced with 502, because no response is sent without a signature.',
          },
        },
      },
      ({ config, fault, log }) => {
        const key = process.env[config.key_env];
        if (!key) throw fault('RESPONSE_SIGNER_KEY', '/key_env', `the environment has no variable ${config.key_env}`);
        return {
          // Koa middleware, because it sees exactly the bytes that are written.
          readsReply: true,
          async middleware(context, next) {
            await next();
            const { body } = context;
            const bytes =
              typeof body === 'string' || Buffer.isBuffer(body)
                ? Buffer.from(body)
                : body
                  ? await collect(body as Readable, config.max_bytes)
                  : Buffer.alloc(0);
            if (!bytes || bytes.length > config.max_bytes) {
              log.error(`not signed: the response to ${context.path} is longer than ${config.max_bytes} bytes`);
              context.body = '';
              context.status = 502;
              return;
            }
            // A stream has become a buffer, which must have the type of the stream; other bodies keep their type.
            if (body !== null && typeof body === 'object') context.body = bytes;
            context.set('X-Signature', `sha256=${createHmac('sha256', key).update(bytes).digest('hex')}`);
          },
        };
      },
    ),
  ],
});
