import { mkdtempSync, rmSync } from 'node:fs';
import { type IncomingHttpHeaders, type RequestOptions, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Operations, RunningAdmin, StartAdminOptions } from '#kernel';
import { startAdmin } from '../../admin/index.ts';
import type { GatewayOptions } from '../../kernel/sluice.ts';
import { openGateway, rememberingSinks } from '../support/gateway.ts';

/** Token of every test gateway, with every scope. */
export const TOKEN = 'the-token-of-tests';

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Body of the request; an object is sent as JSON. */
  readonly body?: string | Buffer | object;
  /** Default: the token of all tests; null for none. */
  readonly token?: string | null;
  /** Address of the request. Default: the admin port. */
  readonly address?: string;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body, when it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests know what they were told.
  readonly body: any;
}

/** A gateway with an admin port on a free port. */
export interface TestAdmin {
  readonly gateway: Operations;
  readonly admin: RunningAdmin;
  readonly stateDirectory: string;
  /** Lines of the application log so far. */
  readonly lines: readonly string[];
  /** Sends a request to the admin port. */
  ask(path: string, ask?: Ask): Promise<Answered>;
  close(): Promise<void>;
}

export interface TestAdminOptions extends Partial<StartAdminOptions> {
  readonly gateway?: GatewayOptions;
}

/** A configuration that serves an endpoint without a network. */
export const config = (...endpoints: string[]) => ({
  version: 3,
  endpoints: (endpoints.length === 0 ? ['/a'] : endpoints).map((endpoint) => ({
    endpoint,
    backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }],
  })),
});

/** @param source a path, or the configuration itself. */
export async function openAdmin(
  source: string | object = config(),
  options: TestAdminOptions = {},
): Promise<TestAdmin> {
  const { gateway: gatewayOptions, ...adminOptions } = options;
  const stateDirectory = mkdtempSync(join(tmpdir(), 'sluice-admin-'));
  const sinks = rememberingSinks();
  const giveBack = () => rmSync(stateDirectory, { recursive: true, force: true });
  const gateway = await openGateway(source as string, { port: 0, sinks, ...gatewayOptions });
  try {
    await gateway.listen();
    const given = { listen: '127.0.0.1:0', token: TOKEN, stateDirectory, stop() {}, ...adminOptions };
    const admin = await startAdmin(gateway, given);
    return {
      gateway,
      admin,
      stateDirectory: given.stateDirectory,
      lines: sinks.lines,
      ask: (path, { address = admin.address!, ...asked } = {}) => askAt(address, path, asked),
      async close() {
        await admin.close();
        await gateway.close();
        giveBack();
      },
    };
  } catch (error) {
    await gateway.close();
    giveBack();
    throw error;
  }
}

/** Sends a request. @param address `host:port` or `unix:/path`. */
export async function askAt(address: string, path: string, asked: Ask = {}): Promise<Answered> {
  const { method = 'GET', headers = {}, body, token = TOKEN } = asked;
  const isPlain = typeof body === 'string' || Buffer.isBuffer(body);
  const bytes = body === undefined || isPlain ? body : JSON.stringify(body);
  const { promise, resolve, reject } = Promise.withResolvers<Answered>();
  const sent = request({
    ...whereIs(address),
    method,
    path,
    agent: false,
    headers: {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(bytes !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(bytes) }),
      ...headers,
    },
  });
  sent.once('error', reject);
  sent.once('response', async (response) => {
    const content = await text(response);
    const isJson = /\bjson\b/.test(response.headers['content-type'] ?? '') && content !== '';
    const { statusCode = 0, headers: responses } = response;
    resolve({ status: statusCode, headers: responses, text: content, body: isJson ? JSON.parse(content) : undefined });
  });
  sent.end(bytes);
  return promise;
}

function whereIs(address: string): RequestOptions {
  if (address.startsWith('unix:')) return { socketPath: address.slice('unix:'.length) };
  const { hostname, port } = new URL(`http://${address}`);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port };
}
