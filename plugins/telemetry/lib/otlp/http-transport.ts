import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { ExportResponse, IExporterTransport } from '@opentelemetry/otlp-exporter-base';
import { openOwned } from '#contract';
import { ExportError } from './export-error.ts';
import { authoritiesOf, type OtlpTarget } from './target.ts';

/** Longest response that is read, in bytes. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** Statuses after which the protocol allows the same request to be sent again. */
const transient: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * Sends requests of one kind over HTTP, one attempt each, within the request's total timeout. Must be shut down: it
 * keeps a connection open.
 */
export function httpTransport(target: OtlpTarget, path: string): IExporterTransport {
  const { host, port, secure, headers, userAgent } = target;
  const options = { keepAlive: true, maxSockets: 2 };
  const agent = secure ? new HttpsAgent({ ...options, ca: authoritiesOf(target) }) : new HttpAgent(options);
  const open = secure ? httpsRequest : httpRequest;
  return {
    send(body, timeoutMs) {
      return new Promise((resolve) => {
        const signal = AbortSignal.timeout(timeoutMs);
        const failed = (error: Error): void => {
          const reason = signal.aborted ? `no response within ${timeoutMs} ms` : error.message;
          resolve({ status: 'failure', error: new ExportError(reason, true) });
        };
        const message = openOwned('telemetry connection', host, () =>
          open({
            agent,
            signal,
            host,
            port,
            path,
            method: 'POST',
            headers: {
              ...headers,
              'Content-Type': 'application/x-protobuf',
              'Content-Length': body.length,
              'User-Agent': userAgent,
            },
          }),
        );
        message.on('error', failed);
        message.on('response', (response) => {
          const chunks: Buffer[] = [];
          let length = 0;
          response.on('error', failed);
          response.on('data', (chunk: Buffer) => {
            length += chunk.length;
            if (length <= MAX_ANSWER_BYTES) chunks.push(chunk);
            else message.destroy(new Error(`response of more than ${MAX_ANSWER_BYTES} bytes`));
          });
          response.on('end', () => resolve(outcome(response.statusCode!, Buffer.concat(chunks))));
        });
        message.end(body);
      });
    },
    shutdown: () => agent.destroy(),
  };
}

function outcome(status: number, data: Buffer): ExportResponse {
  if (status >= 200 && status <= 299) return { status: 'success', data };
  return { status: 'failure', error: new ExportError(`status ${status}`, transient.has(status)) };
}
