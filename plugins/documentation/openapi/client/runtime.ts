/** The part of a generated client that is the same for every API. */
export const runtime = `/** Connection to the gateway. */
export interface ClientOptions {
  /** Base URL of the gateway, for example https://api.example.com. */
  readonly baseUrl: string;
  /** Headers of every request, for example Authorization. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Function that sends requests. Default: the global fetch. */
  readonly fetch?: Fetch;
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Options of a single request, for example a signal that aborts it. */
export type RequestOptions = Omit<RequestInit, 'body' | 'headers' | 'method'>;

export type QueryValue = string | number | boolean | readonly (string | number | boolean)[] | undefined;

/** A response with a status that the contract of the endpoint does not contain. */
export class UnexpectedResponse extends Error {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;

  constructor(operation: string, status: number, headers: Headers, body: string) {
    super(\`\${operation} returned the unexpected status \${status}\`);
    this.name = 'UnexpectedResponse';
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

/** An endpoint of the gateway. */
interface Operation {
  readonly method: string;
  readonly path: string;
  /** Statuses of the contract; null if every status is expected. */
  readonly statuses: readonly number[] | null;
  /** Media type of the request body. */
  readonly contentType: string | null;
}

/** Everything that a request can contain. */
interface Sent {
  readonly path?: Readonly<Record<string, string | number | boolean>>;
  readonly query?: Readonly<Record<string, QueryValue>>;
  readonly headers?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
}

async function send(client: ClientOptions, operation: Operation, sent: Sent, options: RequestOptions): Promise<unknown> {
  const { method, statuses, contentType } = operation;
  const headers = new Headers(client.headers);
  for (const [name, value] of Object.entries(sent.headers ?? {})) {
    if (value !== undefined) headers.set(name, String(value));
  }
  const isJson = contentType !== null && jsonType.test(contentType);
  if (sent.body !== undefined && contentType !== null && contentType !== '*/*') headers.set('Content-Type', contentType);
  const body = sent.body === undefined ? null : isJson ? JSON.stringify(sent.body) : (sent.body as BodyInit);
  const request = client.fetch ?? fetch;
  const response = await request(urlOf(client.baseUrl, operation, sent), { ...options, method, headers, body });
  if (statuses !== null && !statuses.includes(response.status)) {
    const text = await response.text();
    throw new UnexpectedResponse(\`\${method} \${operation.path}\`, response.status, response.headers, text);
  }
  return { status: response.status, headers: response.headers, body: await bodyOf(response) };
}

function urlOf(baseUrl: string, { path }: Operation, { path: parameters = {}, query = {} }: Sent): string {
  const filled = path.replace(/\\{([^{}]*)\\}/g, (_, name: string) => segmentOf(name, String(parameters[name.replace('*', '')])));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined) search.append(name, String(each));
    }
  }
  return baseUrl.replace(/\\/+$/, '') + filled + (search.size > 0 ? \`?\${search}\` : '');
}

/** Encodes a path parameter. A name that ends with an asterisk is that of a wildcard, which can contain slashes. */
function segmentOf(name: string, value: string): string {
  const segments = name.endsWith('*') ? value.split('/') : [value];
  // URLs without dot segments are equal, so such a value would reach another endpoint.
  if (segments.some((segment) => segment === '.' || segment === '..') || value === '') {
    throw new TypeError(\`"\${value}" cannot be the path parameter "\${name}"\`);
  }
  return segments.map(encodeURIComponent).join('/');
}

const jsonType = /^application\\/(?:[\\w.-]+\\+)?json(?:;|$)/i;

/** Streams of events are not read: their body is the stream. */
const streamType = /^(?:text\\/event-stream|application\\/x-ndjson)(?:;|$)/i;

const textType = /^(?:text\\/|application\\/(?:xml|yaml)|[\\w.-]+\\/[\\w.-]+\\+xml)/i;

async function bodyOf(response: Response): Promise<unknown> {
  const type = response.headers.get('Content-Type');
  if (type !== null && streamType.test(type)) return response.body;
  if (type !== null && !jsonType.test(type) && !textType.test(type)) return response.blob();
  const text = await response.text();
  if (text === '') return undefined;
  return type !== null && jsonType.test(type) ? JSON.parse(text) : text;
}
`;
