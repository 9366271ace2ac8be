import type { Operations } from '#kernel';
import type { GatewayOptions } from '../../../../kernel/sluice.ts';
import {
  type Answering,
  rememberingSinks,
  startBackend,
  startGateway,
  type TestBackend,
} from '../../../support/gateway.ts';

/** Configuration of a server and its endpoint in addition to the defaults of all tests. */
export interface Written {
  readonly server?: object;
  readonly tool?: object;
  readonly workflow?: object;
  readonly backend?: object;
  /** Several backends instead of one, or their paths. */
  readonly backends?: readonly (string | object)[];
  readonly endpoint?: object;
  /** Components in addition to `ai/mcp`. */
  readonly extra?: object;
  readonly root?: object;
  readonly tools?: readonly object[];
  /** Endpoints in addition to the server's; their backends use the test host by default. */
  readonly endpoints?: readonly object[];
}

export const lookup = {
  name: 'lookup',
  title: 'Lookup',
  description: 'Looks a country up.',
  input_schema: { type: 'object', required: ['code'], properties: { code: { type: 'string', pattern: '^[A-Z]{2}$' } } },
};

/** One server, `countries`, with the tool `lookup`, at `/mcp`. */
export function configOf(host: string, written: Written = {}): object {
  const { server, tool, workflow, backend, endpoint, extra, root, tools = [], backends = ['/__t/{code}'] } = written;
  const { endpoints = [] } = written;
  const entry = (method: string) => ({
    endpoint: '/mcp',
    method,
    timeout: '20s',
    ...endpoint,
    extra_config: { 'ai/mcp': { server_name: 'countries' }, ...extra },
    backend: [{ url_pattern: '/never' }],
  });
  const isStateless = (server as { stateless?: boolean } | undefined)?.stateless === true;
  return {
    version: 3,
    ...(endpoints.length > 0 && { host: [host] }),
    ...root,
    extra_config: {
      'ai/mcp': {
        servers: [
          {
            name: 'countries',
            title: 'Countries',
            version: '1.2.0',
            tools: [
              {
                ...lookup,
                ...tool,
                workflow: {
                  endpoint: '/countries/{code}',
                  backend: backends.map((each) => ({
                    host: [host],
                    ...(typeof each === 'string' ? { url_pattern: each } : each),
                    ...backend,
                  })),
                  ...workflow,
                },
              },
              ...tools,
            ],
            ...server,
          },
        ],
      },
      ...(root as { extra_config?: object })?.extra_config,
    },
    endpoints: [...(isStateless ? ['POST'] : ['POST', 'GET', 'DELETE']).map(entry), ...endpoints],
  };
}

export interface Sent {
  readonly headers?: Record<string, string>;
  readonly method?: string;
  readonly path?: string;
  /** Request body; a string is sent unchanged. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** A response with its single message. */
export interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary members.
  readonly message: any;
}

/** A gateway in front of a backend, and a client that uses plain HTTP. */
export class Stage {
  gateway!: Operations;
  backend!: TestBackend;
  port = 0;
  lines: readonly string[] = [];

  async start(respond: Answering, written: Written = {}, options: GatewayOptions = {}): Promise<void> {
    this.backend = await startBackend(respond);
    const sinks = rememberingSinks();
    this.lines = sinks.lines;
    this.gateway = await startGateway(configOf(this.backend.url, written), { sinks, ...options });
    ({ port: this.port } = await this.gateway.listen());
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/mcp`;
  }

  async send({ headers, method = 'POST', path, body, signal }: Sent): Promise<Got> {
    const response = await fetch(path ? new URL(path, this.url) : this.url, {
      method,
      headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
    const text = await response.text();
    const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
    return {
      status: response.status,
      headers: response.headers,
      text,
      message: data.startsWith('{') ? JSON.parse(data) : null,
    };
  }

  /** Sends a JSON-RPC request. */
  ask(method: string, params?: object, headers?: Record<string, string>, signal?: AbortSignal): Promise<Got> {
    const body = { jsonrpc: '2.0', id: 1, method, ...(params && { params }) };
    return this.send({ body, ...(headers && { headers }), ...(signal && { signal }) });
  }

  call(args: unknown, headers?: Record<string, string>, name = 'lookup'): Promise<Got> {
    return this.ask('tools/call', { name, arguments: args }, headers);
  }

  /**
   * Initializes a session.
   * @returns headers of the session.
   */
  async initialize(version = '2025-11-25'): Promise<Record<string, string>> {
    const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const { headers } = await this.ask('initialize', params);
    return { 'Mcp-Session-Id': headers.get('mcp-session-id')! };
  }

  async close(): Promise<void> {
    await this.gateway?.close();
    await this.backend?.close();
  }
}

/** A request of the protocol revision without handshakes. */
export function modern(method: string, params: object = {}, changes: { version?: string; meta?: object } = {}): Sent {
  const { version = '2026-07-28', meta } = changes;
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': {},
    ...meta,
  };
  const { name } = params as { name?: string };
  return {
    headers: { 'MCP-Protocol-Version': version, 'Mcp-Method': method, ...(name !== undefined && { 'Mcp-Name': name }) },
    body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
  };
}
