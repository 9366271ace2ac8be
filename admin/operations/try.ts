import type { Operation } from '../operation.ts';
import { readSampleRequest, sampleRequestSchema } from '../sample-request.ts';
import { flag, jsonResponse, listOf, objectOf, text, whole } from '../schemas.ts';

/** Maximum size of the response body that is returned, in bytes. */
const MAX_BYTES = 1024 * 1024;

/** Time after which the response is cut, in milliseconds: a stream may never end. */
const MAX_MS = 10_000;

export const tryRequest: Operation = {
  method: 'POST',
  path: '/v1/try',
  scope: 'ops',
  summary: 'Send a request through the gateway as a client would, and return its response.',
  accepts: ['application/json'],
  body: sampleRequestSchema,
  responses: {
    200: jsonResponse(
      'The response. The body is cut after 1 MiB, or after 10 seconds.',
      objectOf('TriedResponse', {
        status: whole,
        headers: listOf(listOf(text)),
        body: text,
        truncated: flag,
        durationMs: whole,
      }),
    ),
  },
  problems: ['bad-request'],
  async handle(ctx, admin) {
    const { method, path, headers, body } = await readSampleRequest(ctx, admin);
    const startedAt = performance.now();
    const request = { method, url: path, headers: grouped(headers), payload: body, payloadAsStream: true };
    const response = await admin.gateway.inject(request as Parameters<typeof admin.gateway.inject>[0]);
    const { text: content, truncated } = await readLimited(response.stream());
    // As when a client disconnects: the gateway stops a response that was cut.
    response.raw.res.destroy();
    ctx.body = {
      status: response.statusCode,
      headers: Object.entries(response.headers).flatMap(([name, values]) =>
        [values].flat().map((value) => [name, String(value)]),
      ),
      body: content,
      truncated,
      durationMs: Math.round(performance.now() - startedAt),
    };
  },
};

function grouped(headers: readonly (readonly [string, string])[]): Record<string, string | string[]> {
  const groups = Map.groupBy(headers, ([name]) => name.toLowerCase());
  return Object.fromEntries(
    Array.from(groups, ([name, list]) => [name, list.length === 1 ? list[0]![1] : list.map(([, value]) => value)]),
  );
}

/** Reads a body as far as the limits allow. */
async function readLimited(body: NodeJS.ReadableStream): Promise<{ text: string; truncated: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  const stream = body as NodeJS.ReadableStream & { destroy(): void };
  const timer = setTimeout(() => stream.destroy(), MAX_MS);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_BYTES) break;
    }
  } catch {
    // The stream was cut, by this function or by the gateway.
    return { text: Buffer.concat(chunks).toString(), truncated: true };
  } finally {
    clearTimeout(timer);
  }
  return { text: Buffer.concat(chunks).subarray(0, MAX_BYTES).toString(), truncated: size > MAX_BYTES };
}
