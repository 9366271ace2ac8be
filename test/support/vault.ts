import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Fields = Record<string, unknown>;

interface Token {
  readonly namespace: string;
  ttl: number;
  renewable: boolean;
  /** Paths that the token may not use. */
  readonly denied: readonly string[];
}

interface Result {
  readonly status: number;
  readonly body?: Fields;
}

const error = (status: number, ...errors: string[]): Result => ({ status, body: { errors } });
const denied = error(403, 'permission denied');

/**
 * A server that speaks the documented HTTP API of Vault: key/value engines of both versions, database credentials with
 * leases, AppRole and Kubernetes logins, tokens, namespaces, sealing, and standby servers that redirect.
 */
export class TestVault {
  readonly requests: {
    readonly method: string;
    readonly path: string;
    readonly headers: IncomingMessage['headers'];
  }[] = [];
  /** Data by path; `kv/` is an engine of version 2, `old/` one of version 1. */
  readonly secrets = new Map<string, Fields>();
  readonly tokens = new Map<string, Token>();
  readonly leases = new Map<string, { renewable: boolean }>();
  /** Namespace in which everything exists; empty for the root. */
  namespace = '';
  sealed = false;
  /** Address of the active server; set on a standby server. */
  active: string | null = null;
  /** Lifetimes that logins, renewals and leases get, in seconds. */
  tokenTtl = 3600;
  renewedTtl = 3600;
  leaseTtl = 3600;
  renewedLeaseTtl = 3600;
  isRenewable = true;
  /** Replaces every response. */
  respond: ((response: ServerResponse) => void) | null = null;
  /** Number of issued database users. */
  issued = 0;
  readonly #server: Server;

  constructor() {
    this.#server = createServer((message, response) => void this.#serve(message, response));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  start(): Promise<this> {
    return new Promise((resolve) => {
      this.#server.listen(0, '127.0.0.1', () => resolve(this));
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  issue(ttl = this.tokenTtl, more: Partial<Token> = {}): string {
    const token = `hvs.${randomUUID()}`;
    this.tokens.set(token, { namespace: this.namespace, ttl, renewable: this.isRenewable, denied: [], ...more });
    return token;
  }

  count(path: string): number {
    return this.requests.filter((request) => request.path === path).length;
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk as Buffer);
    const path = decodeURIComponent(message.url!.replace('/v1/', ''));
    this.requests.push({ method: message.method!, path, headers: message.headers });
    if (this.respond) return this.respond(response);
    if (this.active !== null) {
      response.writeHead(307, { Location: `${this.active}${message.url}` }).end();
      return;
    }
    const text = Buffer.concat(chunks).toString();
    const { status, body } = this.#answer(message, path, text === '' ? {} : (JSON.parse(text) as Fields));
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(body && JSON.stringify(body));
  }

  #answer({ method, headers }: IncomingMessage, path: string, body: Fields): Result {
    if (headers['x-vault-request'] !== 'true') return error(412, 'missing X-Vault-Request');
    if (this.sealed) return error(503, 'Vault is sealed');
    if ((headers['x-vault-namespace'] ?? '') !== this.namespace) return error(404, 'no handler for route');
    if (/^auth\/[\w-]+\/login$/.test(path)) return this.#login(path, body);
    const text = String(headers['x-vault-token']);
    const token = this.tokens.get(text);
    if (!token || token.denied.some((beginning) => path.startsWith(beginning))) return denied;
    // Treats PUT and POST alike, as the server does.
    const operation = `${method === 'PUT' ? 'POST' : method} ${path}`;
    if (operation === 'GET auth/token/lookup-self') {
      return { status: 200, body: { data: { id: text, ttl: token.ttl, renewable: token.renewable } } };
    }
    if (operation === 'POST auth/token/renew-self') return this.#renewSelf(text, token);
    if (operation === 'POST sys/leases/renew') return this.#renewLease(String(body['lease_id']));
    if (path.startsWith('sys/internal/ui/mounts/')) return mountAt(path.slice('sys/internal/ui/mounts/'.length));
    return method === 'GET' ? this.#read(path) : error(405, 'unsupported operation');
  }

  #login(path: string, body: Fields): Result {
    const isRole =
      path.startsWith('auth/approle/') && body['role_id'] === 'the-role' && body['secret_id'] === 'the-secret-id';
    const isPod =
      path.startsWith('auth/kubernetes') && body['role'] === 'gateway' && body['jwt'] === 'pod.token.signature';
    if (!isRole && !isPod) return error(400, 'invalid role or secret ID');
    const auth = { client_token: this.issue(), lease_duration: this.tokenTtl, renewable: this.isRenewable };
    return { status: 200, body: { auth } };
  }

  #renewSelf(text: string, token: Token): Result {
    if (!token.renewable) return error(400, 'lease is not renewable');
    token.ttl = this.renewedTtl;
    return { status: 200, body: { auth: { client_token: text, lease_duration: token.ttl, renewable: true } } };
  }

  #renewLease(id: string): Result {
    const lease = this.leases.get(id);
    if (!lease) return error(400, 'lease not found');
    if (!lease.renewable) return error(400, 'lease is not renewable');
    return { status: 200, body: { lease_id: id, lease_duration: this.renewedLeaseTtl, renewable: true } };
  }

  #read(path: string): Result {
    if (path.startsWith('database/creds/')) return this.#issueUser();
    const data = this.secrets.get(path.replace(/^kv\/data\//, 'kv/'));
    const isSecond = path.startsWith('kv/');
    if (!data || (isSecond && !path.startsWith('kv/data/'))) return { status: 404, body: { errors: [] } };
    const metadata = { version: 1, deletion_time: '' };
    const held = isSecond ? { data, metadata } : data;
    return {
      status: 200,
      body: { lease_id: '', lease_duration: isSecond ? 0 : 2_764_800, renewable: false, data: held },
    };
  }

  #issueUser(): Result {
    const id = `database/creds/app/${randomUUID()}`;
    this.leases.set(id, { renewable: true });
    const data = { username: `user-${++this.issued}`, password: `password-${this.issued}` };
    return { status: 200, body: { lease_id: id, lease_duration: this.leaseTtl, renewable: true, data } };
  }
}

function mountAt(path: string): Result {
  const mounts = [
    { path: 'kv/', type: 'kv', options: { version: '2' } },
    { path: 'old/', type: 'kv', options: { version: '1' } },
    { path: 'database/', type: 'database', options: null },
  ];
  const data = mounts.find((mount) => `${path}/`.startsWith(mount.path));
  return data ? { status: 200, body: { data } } : denied;
}
