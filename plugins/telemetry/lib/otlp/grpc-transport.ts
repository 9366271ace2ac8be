import { createSecureContext } from 'node:tls';
import type { ExportResponse, IExporterTransport } from '@opentelemetry/otlp-exporter-base';
import { timerMs } from '#contract';
import { Channel } from '../../../clients/grpc/channels.ts';
import { Exchange, type Outgoing } from '../../../clients/grpc/exchange.ts';
import type { TlsClient } from '../../../clients/tls/client-tls.ts';
import { frameOf } from '../../../engines/grpc/frames.ts';
import type { GrpcError } from '../../../engines/grpc/status.ts';
import { formatTimeout } from '../../../engines/grpc/timeout.ts';
import { ExportError } from './export-error.ts';
import { authoritiesOf, type OtlpTarget } from './target.ts';

/** Longest response that is read, in bytes. */
const MAX_ANSWER_BYTES = 64 * 1024;
const KEEP_ALIVE_MS = 15_000;
const FALLBACK_DELAY_MS = 300;

/** gRPC codes after which the protocol allows the same request to be sent again. */
const transient: ReadonlySet<number> = new Set([1, 4, 8, 10, 11, 14, 15]);

/**
 * Sends requests of one kind over gRPC, one attempt each, within the request's total timeout. Must be shut down: it keeps a
 * connection open.
 * @param dialMs time limit for opening a connection.
 */
export function grpcTransport(target: OtlpTarget, path: string, dialMs: number): IExporterTransport {
  const { host, port, secure, userAgent } = target;
  const channel = new Channel(
    { host, port },
    {
      timeoutMs: dialMs,
      keepAliveMs: KEEP_ALIVE_MS,
      fallbackDelayMs: FALLBACK_DELAY_MS,
      tls: secure ? tlsFor(target) : null,
      denied: null,
      place: 'telemetry connection',
    },
  );
  const fixed = {
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    'user-agent': userAgent,
    'grpc-accept-encoding': 'identity',
  };
  const configured = Object.entries(target.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    send(body, timeoutMs) {
      return new Promise((resolve) => {
        let data: Uint8Array | undefined;
        const timer = setTimeout(() => {
          resolve(failure(`no response within ${timeoutMs} ms`, true));
          exchange.cancel(true);
        }, timerMs(timeoutMs));
        const exchange = new Exchange(channel, MAX_ANSWER_BYTES, 0, {
          message(bytes) {
            data = bytes;
          },
          ended(error) {
            clearTimeout(timer);
            resolve(error ? refusal(error) : { status: 'success', data });
          },
        });
        const headers: Outgoing['headers'] = Object.create(null);
        for (const [name, value] of configured) headers[name] = value;
        Object.assign(headers, fixed, { 'grpc-timeout': formatTimeout(timeoutMs) });
        exchange.send({ headers, frame: frameOf(body) });
      });
    },
    shutdown: () => channel.close(),
  };
}

function refusal({ message, status }: GrpcError): ExportResponse {
  return failure(message, transient.has(status));
}

function failure(reason: string, isTransient: boolean): ExportResponse {
  return { status: 'failure', error: new ExportError(reason, isTransient) };
}

/** TLS to a collector. Its trust store is read at the first connection. */
function tlsFor(target: OtlpTarget): () => TlsClient {
  let tls: TlsClient | undefined;
  return () =>
    (tls ??= { secureContext: createSecureContext({ ca: authoritiesOf(target) }), rejectUnauthorized: true });
}
