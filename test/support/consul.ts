import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';

/** A server for tests that speaks the HTTP API of Consul's key/value store: reads, blocking queries, and transactions. */
export interface TestConsul {
  /** Host and port for clients. */
  readonly host: string;
  /** Requests so far, as method and target. */
  readonly requests: readonly string[];
  /** Number of blocking queries that wait. */
  readonly waiting: number;
  /** Token that requests must have; null accepts all. */
  token: string | null;
  put(key: string, value: string): void;
  remove(key: string): void;
  /** Replaces all data, as when an older snapshot is restored. */
  restore(data: Readonly<Record<string, string>>, index: number): void;
  /** Closes all connections and the port. */
  stop(): Promise<void>;
  /** Restarts at the same port with the same data. */
  start(): Promise<void>;
}

interface Entry {
  readonly value: Buffer;
  readonly created: number;
  readonly modified: number;
}

interface Operation {
  readonly Verb: string;
  readonly Key: string;
  readonly Value?: string;
  readonly Index: number;
}

/** @param tls for a server with TLS. */
export async function startConsul(tls?: ServerOptions): Promise<TestConsul> {
  let entries = new Map<string, Entry>();
  let removed = new Map<string, number>();
  let index = 10;
  let server: Server;
  let port = 0;
  const requests: string[] = [];
  const waiting = new Set<() => void>();

  const set = (key: string, value: Buffer) =>
    entries.set(key, { value, created: entries.get(key)?.created ?? index, modified: index });
  const wake = () => {
    for (const each of [...waiting]) each();
  };

  const self: TestConsul = {
    get host() {
      return `127.0.0.1:${port}`;
    },
    requests,
    get waiting() {
      return waiting.size;
    },
    token: null,
    put(key, value) {
      index++;
      set(key, Buffer.from(value));
      wake();
    },
    remove(key) {
      removed.set(key, ++index);
      entries.delete(key);
      wake();
    },
    restore(data, at) {
      index = at;
      removed = new Map();
      entries = new Map();
      for (const [key, value] of Object.entries(data)) set(key, Buffer.from(value));
      wake();
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
    async start() {
      server = tls ? (createSecureServer(tls, respond) as unknown as Server) : createServer(respond);
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      ({ port } = server.address() as AddressInfo);
    },
  };

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests.push(`${request.method} ${request.url}`);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (self.token !== null && request.headers['x-consul-token'] !== self.token) {
      response.writeHead(403).end('Permission denied: token lacks permission');
      return;
    }
    const url = new URL(request.url!, 'http://consul');
    if (url.pathname === '/v1/txn') commit(JSON.parse(Buffer.concat(chunks).toString()), response);
    else if (url.pathname.startsWith('/v1/kv/')) await list(url, response);
    else response.writeHead(404).end();
  }

  async function list({ pathname, searchParams }: URL, response: ServerResponse): Promise<void> {
    const key = decodeURIComponent(pathname.slice('/v1/kv/'.length));
    const matches = (each: string) => (searchParams.has('recurse') ? each.startsWith(key) : each === key);
    const current = () => {
      const found = [...entries].filter(([each]) => matches(each)).sort(([a], [b]) => (a < b ? -1 : 1));
      const written = found.map(([, { modified }]) => modified);
      const deleted = [...removed].filter(([each]) => matches(each)).map(([, at]) => at);
      const highest = Math.max(0, ...written, ...(searchParams.has('recurse') ? deleted : []));
      return { found, at: highest || index };
    };
    const given = Number(searchParams.get('index') ?? 0);
    // As Consul does, a query waits while the index is at most the given one.
    while (given > 0 && current().at === given && !response.destroyed) {
      await new Promise<void>((resolve) => {
        const done = () => {
          waiting.delete(done);
          resolve();
        };
        waiting.add(done);
        response.once('close', done);
      });
    }
    const { found, at } = current();
    response.setHeader('X-Consul-Index', String(at));
    if (found.length === 0) {
      response.writeHead(404).end();
      return;
    }
    const body = found.map(([Key, { value, created, modified }]) => ({
      LockIndex: 0,
      Key,
      Flags: 0,
      Value: value.length === 0 ? null : value.toString('base64'),
      CreateIndex: created,
      ModifyIndex: modified,
    }));
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body));
  }

  function commit(operations: readonly { readonly KV: Operation }[], response: ServerResponse): void {
    const errors = operations.flatMap(({ KV: { Verb, Key, Index } }, at) => {
      const modified = entries.get(Key)?.modified ?? 0;
      const name = Verb === 'cas' ? 'set' : 'delete';
      return modified === Index ? [] : [{ OpIndex: at, What: `failed to ${name} key "${Key}", index is stale` }];
    });
    if (errors.length > 0) {
      response.writeHead(409).end(JSON.stringify({ Results: null, Errors: errors }));
      return;
    }
    index++;
    for (const { KV } of operations) {
      if (KV.Verb === 'cas') set(KV.Key, Buffer.from(KV.Value ?? '', 'base64'));
      else {
        entries.delete(KV.Key);
        removed.set(KV.Key, index);
      }
    }
    const written = operations.filter(({ KV }) => KV.Verb === 'cas');
    const results = written.map(({ KV: { Key } }) => ({ KV: { Key, CreateIndex: index, ModifyIndex: index } }));
    response.end(JSON.stringify({ Results: results, Errors: null }));
    wake();
  }

  await self.start();
  return self;
}
