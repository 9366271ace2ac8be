import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Operations } from '#kernel';
import type { RunningGateway } from '../../kernel/gateway/start-gateway.ts';
import { createGateway, type GatewayOptions } from '../../kernel/sluice.ts';
import { silentSinks } from '../../kernel/testing/index.ts';

/** A backend for tests: a real server on a free port that records its requests. */
export interface TestBackend {
  readonly url: string;
  readonly host: string;
  /** Requests so far, oldest first, with their bodies. */
  readonly requests: readonly SeenRequest[];
  close(): Promise<void>;
}

export interface SeenRequest {
  readonly method: string;
  readonly target: string;
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** Handler of a backend; `seen` is the request with its complete body. */
export type Answering = (seen: SeenRequest, response: ServerResponse) => void;

/** Starts a backend on a free port of the loopback address. */
export async function startBackend(respond: Answering): Promise<TestBackend> {
  const requests: SeenRequest[] = [];
  const server = createServer(async (message, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of message) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const { method, url, rawHeaders, headers } = message;
    const seen = { method: method!, target: url!, rawHeaders, headers, body: Buffer.concat(chunks) };
    requests.push(seen);
    respond(seen, response);
  });
  await listening(server);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listening(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
}

/** Answers every request with the same JSON. */
export function json(body: unknown, status = 200): Answering {
  return (_seen, response) => {
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  };
}

/** A gateway without logs that listens on a free port. `version` can be omitted. */
export function startGateway(config: object, options: GatewayOptions = {}): Promise<Operations> {
  return patiently((source) => openGateway(source, { port: 0, sinks: silentSinks, ...options }), config);
}

/**
 * Default timeout of requests. It is long, so that a busy or stalled machine does not change the result; tests that expect a timeout set their own.
 */
const PATIENCE = { version: 3, timeout: '20s' } as const;

/** Starts a gateway with a long timeout for requests, also after a reload. */
export async function patiently(
  start: (source: { version: 3 }) => Promise<Operations>,
  config: object,
): Promise<Operations> {
  const gateway = await start({ ...PATIENCE, ...config });
  const patient = <S>(source: S): S => (isPlain(source) ? { ...PATIENCE, ...source } : source);
  const { apply } = gateway;
  gateway.apply = (change) => apply.call(gateway, { ...change, source: patient(change.source) });
  return gateway;
}

function isPlain(source: unknown): boolean {
  return typeof source === 'object' && source !== null && Object.getPrototypeOf(source) === Object.prototype;
}

/** The parts behind a gateway, for tests of how they work together. */
export function partsOf(gateway: Operations): RunningGateway {
  return gateway as RunningGateway;
}

/** Like `createGateway`, with everything that the admin port needs. */
export function openGateway(...given: Parameters<typeof createGateway>): Promise<Operations> {
  return createGateway(...given) as Promise<Operations>;
}

/** Sinks that record every line, for tests of logs. */
export function rememberingSinks(): NonNullable<GatewayOptions['sinks']> & { readonly lines: string[] } {
  const lines: string[] = [];
  const sink = { terminal: false, lost: 0, write: (line: string) => void lines.push(line) };
  return { stdout: sink, stderr: sink, lost: 0, open: () => ({ ...sink, close() {} }), lines };
}
