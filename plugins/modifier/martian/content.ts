import { discard, type Reply, RequestBody } from '#contract';
import { bytesOfBase64 } from '../../shared/values/base64.ts';
import { checkValue } from './fields.ts';
import { kind, type Place, scope, scopeOf } from './modifier.ts';
import { replyWithRange } from './range.ts';

export const bodyModifier = kind(
  {
    type: 'object',
    description: 'Replaces the body.',
    required: ['body'],
    properties: {
      body: { type: 'string', description: 'Base64-encoded body.', examples: ['eyJtIjoxfQ=='] },
      contentType: {
        type: 'string',
        description: 'Content-Type of the body. Default: the header is removed.',
        default: '',
      },
      scope,
    },
  },
  (config, place) => {
    const bytes = bytesOf(config.body, place);
    const contentType = checkValue(place, '/contentType', 'Content-Type', config.contentType);
    return {
      request(request) {
        describe(request.headers, contentType);
        request.body = RequestBody.of(bytes);
      },
      response(reply, request) {
        discard(reply.body);
        describe(reply.headers, contentType);
        reply.trailers = null;
        const range = request.headers.get('range');
        if (range !== undefined && isOfBody(reply)) replyWithRange(reply, range, bytes, contentType);
        else whole(reply, bytes);
        if (request.method === 'HEAD') reply.body = null;
      },
    };
  },
);

export const statusModifier = kind(
  {
    type: 'object',
    description: 'Replaces the status of the backend response before the body is decoded.',
    required: ['statusCode'],
    properties: {
      statusCode: { type: 'integer', minimum: 200, maximum: 599, description: 'HTTP status code.', examples: [200] },
      scope: scopeOf('response'),
    },
  },
  ({ statusCode }) => ({
    request: null,
    response(reply) {
      reply.status = statusCode;
    },
  }),
);

/** Whether ranges apply to a response. Failures are sent completely. */
function isOfBody({ status }: Reply): boolean {
  return status === 200 || status === 206 || status === 416;
}

function describe(headers: Reply['headers'], contentType: string): void {
  if (contentType === '') headers.delete('content-type');
  else headers.set('Content-Type', contentType);
  headers.delete('content-encoding');
}

function whole(reply: Reply, bytes: Uint8Array): void {
  reply.body = bytes;
  reply.headers.set('Content-Length', String(bytes.length));
}

/** @throws ConfigError for invalid base64. */
function bytesOf(text: string, place: Place): Uint8Array {
  const bytes = bytesOfBase64(text.replace(/[\r\n]/g, ''));
  if (bytes) return bytes;
  throw place.fault('/body', 'the body is not valid base64', { hint: 'the output of `base64`, with its padding' });
}
