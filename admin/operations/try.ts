import type { Operation } from '../operation.ts';
import { Problem } from '../problem.ts';
import { readSampleRequest, sampleRequestSchema } from '../sample-request.ts';
import { flag, jsonResponse, listOf, objectOf, text, whole } from '../schemas.ts';

/** Maximum size of the response body that is returned, in bytes. */
const MAX_BYTES = 1024 * 1024;

/** Time after which the request ends, in milliseconds: a stream may never end. */
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
  problems: ['bad-request', 'timeout'],
  async handle(ctx, admin) {
    const { method, path, headers, body } = await readSampleRequest(ctx, admin);
    const startedAt = performance.now();
    // Ends the request as a client that disconnects does, also when the client of the admin API disconnects.
    const ending = new AbortController();
    const end = () => ending.abort();
    const timer = setTimeout(end, MAX_MS);
    ctx.res.once('close', end);
    try {
      const request = { method: method as 'GET', url: path, headers: grouped(headers), payload: body };
      const response = await admin.gateway.inject({ ...request, payloadAsStream: true, signal: ending.signal });
      const { text: content, truncated } = await readLimited(response.stream());
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
    } catch (error) {
      throw ending.signal.aborted ? new Problem('timeout', `no response within ${MAX_MS / 1000} s`) : error;
    } finally {
      clearTimeout(timer);
      end();
    }
  },
};

function grouped(headers: readonly (readonly [string, string])[]): Record<string, string | string[]> {
  const groups = Map.groupBy(headers, ([name]) => name.toLowerCase());
  return Object.fromEntries(
    Array.from(groups, ([name, list]) => [name, list.length === 1 ? list[0]![1] : list.map(([, value]) => value)]),
  );
}

/** Reads a body as far as the limit allows, or until the gateway or the end of the request cuts it. */
async function readLimited(body: AsyncIterable<Buffer>): Promise<{ text: string; truncated: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  let isCut = false;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_BYTES) break;
    }
  } catch {
    isCut = true;
  }
  const text = Buffer.concat(chunks).subarray(0, MAX_BYTES).toString();
  return { text, truncated: isCut || size > MAX_BYTES };
}
