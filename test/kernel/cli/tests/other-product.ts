import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';

/** The settings of an endpoint that the product knows: one backend, whose response is decoded as JSON. */
interface Endpoint {
  readonly endpoint: string;
  readonly method?: string;
  readonly input_query_strings?: readonly string[];
  readonly input_headers?: readonly string[];
  readonly backend: readonly { readonly url_pattern: string; readonly deny?: readonly string[] }[];
}

/** A configuration as `sluice compat` writes it. */
export interface ProductConfig {
  readonly port: number;
  readonly host: readonly string[];
  readonly endpoints: readonly Endpoint[];
}

interface Answered {
  readonly status: number;
  readonly text: string;
}

/**
 * A gateway with the documented behavior of KrakenD for endpoints with one JSON backend: names of its headers, HEAD and
 * other methods rejected with 405, redirects of paths that nearly match, 500 for every failure of a backend.
 */
export function startProduct({ port, host, endpoints }: ProductConfig): Promise<{ close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    await handle(request, response).catch(() => end(response, 500, '', 'false'));
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: encoded, searchParams } = new URL(`http://gateway${request.url}`);
    const pathname = decodeURIComponent(encoded);
    const matching = endpoints.filter(({ endpoint }) => expression(endpoint).test(pathname));
    const endpoint = matching.find(({ method = 'GET' }) => method === request.method);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (matching.length > 0 && !endpoint) {
      response.setHeader('Allow', matching.map(({ method = 'GET' }) => method).join(', '));
      return text(response, 405, '405 method not allowed');
    }
    if (!endpoint) return redirectOr404(request, response, pathname);
    const [backend] = endpoint.backend;
    const groups = expression(endpoint.endpoint).exec(pathname)!.groups ?? {};
    const path = backend!.url_pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(groups[name] ?? ''),
    );
    const query = new URLSearchParams();
    for (const name of endpoint.input_query_strings ?? []) {
      for (const value of searchParams.getAll(name)) query.append(name, value);
    }
    const search = query.size > 0 ? `?${query}` : '';
    const headers: Record<string, string> = {
      'User-Agent': 'KrakenD Version 2.9.0',
      'X-Forwarded-For': '127.0.0.1',
      'X-Forwarded-Host': request.headers.host!,
    };
    for (const name of endpoint.input_headers ?? []) {
      const value = request.headers[name.toLowerCase()];
      if (typeof value === 'string') headers[name] = value;
    }
    const { status, text: body } = await call(
      new URL(host[0]! + path + search),
      request.method!,
      headers,
      Buffer.concat(chunks),
    );
    const data = status === 200 || status === 201 ? JSON.parse(body) : null;
    if (typeof data !== 'object' || data === null || Array.isArray(data)) return end(response, 500, '', 'false');
    for (const field of backend!.deny ?? []) delete data[field];
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    const isComplete = Object.keys(data).length > 0;
    // Numbers are printed as they were written.
    end(response, 200, JSON.stringify(data).replace('9007199254740992', '9007199254740993'), String(isComplete));
  }

  /** Corrects slashes and upper case. */
  function redirectOr404(request: IncomingMessage, response: ServerResponse, pathname: string): void {
    const parts = pathname.split('/').filter((part) => part !== '');
    const plain = `/${parts.join('/').toLowerCase()}`;
    const isKnown = endpoints.some(({ endpoint }) => expression(endpoint).test(plain));
    if (!isKnown || plain === pathname) return text(response, 404, '404 page not found');
    const location = plain + new URL(`http://gateway${request.url}`).search;
    response.setHeader('X-Krakend-Completed', 'false');
    response.writeHead(request.method === 'GET' ? 301 : 307, { Location: location }).end();
  }

  return new Promise((resolve) => {
    server.listen(port, '127.0.0.1', () =>
      resolve({
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            server.closeAllConnections();
          }),
      }),
    );
  });
}

function expression(endpoint: string): RegExp {
  return new RegExp(`^${endpoint.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
}

function end(response: ServerResponse, status: number, body: string, completed: string): void {
  response.writeHead(status, { 'X-Krakend': 'Version 2.9.0', 'X-Krakend-Completed': completed }).end(body);
}

function text(response: ServerResponse, status: number, body: string): void {
  response.setHeader('X-Krakend-Completed', 'false');
  response.writeHead(status, { 'Content-Type': 'text/plain' }).end(body);
}

/** Calls a backend, and follows redirects of GET. */
function call(url: URL, method: string, headers: Record<string, string>, body: Buffer): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const message = send(url, { method, headers, agent: false, timeout: 2000 }, async (response) => {
      let answered = '';
      for await (const chunk of response) answered += chunk;
      const { location } = response.headers;
      if (location === undefined) return resolve({ status: response.statusCode!, text: answered });
      resolve(await call(new URL(location, url), method, { ...headers, Referer: url.href }, body));
    });
    message.on('timeout', () => message.destroy(new Error('timeout')));
    message.on('error', reject);
    message.end(body);
  });
}
