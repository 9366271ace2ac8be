import { request as sendHttp } from 'node:http';
import { request as sendHttps } from 'node:https';
import { GatewayError } from '../contract/internal.ts';
import { headersOf } from './checks/calls.ts';
import type { TestRequest, TestResponse } from './test.ts';

/** Maximum size of a response, in bytes. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/**
 * Sends a request of a test to a running gateway.
 * @param address such as `http://host:8080`, whose path precedes the request's. @param limit of the response, in bytes.
 */
export function sendTo(
  address: URL,
  request: TestRequest,
  signal: AbortSignal,
  limit = MAX_BODY_BYTES,
): Promise<TestResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<TestResponse>();
  const { method, path, headers, body } = request;
  const send = address.protocol === 'https:' ? sendHttps : sendHttp;
  const startedAt = performance.now();
  const length = body ? { 'Content-Length': String(body.length) } : {};
  const options = {
    method,
    path: address.pathname.replace(/\/$/, '') + path,
    headers: { ...headers, ...length },
    signal,
  };
  const message = send(address, options, (response) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) response.destroy(tooLong(limit));
      else chunks.push(chunk);
    });
    response.on('error', reject);
    response.on('end', () => {
      const { statusCode: status = 0, rawHeaders } = response;
      const ms = performance.now() - startedAt;
      resolve({ status, headers: headersOf(rawHeaders), body: Buffer.concat(chunks), ms });
    });
  });
  message.on('error', reject);
  message.end(body ?? undefined);
  return promise;
}

function tooLong(limit: number): GatewayError {
  return new GatewayError('TEST_RESPONSE', `the response exceeds ${limit / 1024 / 1024} MiB`);
}
