import {
  type ConfigSource,
  definePlugin,
  isConfigName,
  SourceConflict,
  type SourceRevision,
  type SourceSite,
  type SourceWrite,
} from '#contract';
import { demandParameters, keyIn } from '../lib/address.ts';
import { fileNameOf, withMain } from '../lib/files.ts';
import { type RedisConnection, type RedisServer, withRedis } from './connection.ts';
import { READ, VERSION, WRITE } from './scripts.ts';

/** Interval at which the version is read if the server sends no notifications, in milliseconds. */
const POLL_MS = 5_000;

/**
 * Configurations in Redis: a string is the configuration, the fields of a hash are files. The version is a hash of the
 * content. Changes are noticed by keyspace notifications if the server sends them, and at an interval otherwise.
 */
export const plugin = definePlugin({
  name: 'source/redis',
  description:
    'Reads the configuration of the gateway from a string or a hash in Redis, and watches it: by keyspace notifications if the server sends them for the key, otherwise every 5 seconds.',
  configSources: {
    form: 'redis://HOST:6379/DATABASE/KEY, or rediss:// for TLS',
    open: (site) => new Redis(site),
  },
});

class Redis implements ConfigSource {
  readonly #server: RedisServer;
  readonly #key: string;
  /** Name of the file if the key is a string. */
  readonly #name: string;
  readonly #maxBytes: number;

  constructor({ address, access, maxBytes }: SourceSite) {
    const [, database, key] = /^(\d{1,6})\/(.+)$/s.exec(keyIn(address)) ?? [];
    if (database === undefined || key === undefined) {
      throw new Error('the address of Redis needs a database and a key: redis://HOST:6379/0/KEY');
    }
    demandParameters(address, []);
    this.#server = {
      host: address.hostname.replace(/^\[|\]$/g, ''),
      port: Number(address.port || 6379),
      database: Number(database),
      isSecure: address.protocol === 'rediss:',
      access,
    };
    this.#key = key;
    this.#name = fileNameOf(key.replaceAll(':', '/'));
    this.#maxBytes = maxBytes;
  }

  read(signal: AbortSignal): Promise<SourceRevision | null> {
    return withRedis(this.#server, signal, async (connection) => {
      const [version, kind, parts] = (await this.#run(connection, READ)) as [Buffer, Buffer, readonly Buffer[]];
      if (String(version) === '') return null;
      const files = this.#filesIn(String(kind), parts);
      return { version: String(version), order: null, files };
    });
  }

  async awaitChange(version: string | null, signal: AbortSignal): Promise<void> {
    const ended = new AbortController();
    const either = AbortSignal.any([signal, ended.signal]);
    let notified = Promise.withResolvers<void>();
    const notify = () => notified.resolve();
    const listening = withRedis(this.#server, either, (connection) => this.#listen(connection, notify));
    // A failure is reported by the query, which waits for it at the latest at its end.
    listening.catch(() => {});
    const timer = setInterval(notify, POLL_MS);
    try {
      await withRedis(this.#server, either, async (connection) => {
        for (;;) {
          // Notifications from here on may be of changes that the query does not see.
          notified = Promise.withResolvers();
          if (String(await this.#run(connection, VERSION)) !== (version ?? '')) return;
          await Promise.race([notified.promise, listening]);
        }
      });
    } finally {
      clearInterval(timer);
      ended.abort();
      await listening.catch(() => {});
    }
  }

  async write({ files, expected }: SourceWrite, signal: AbortSignal): Promise<string> {
    const isString = files.size === 1 && (isConfigName(this.#key) || files.has(this.#name));
    const content = [...files].flatMap(([name, text]) => [name, Buffer.from(text)]);
    const args = [expected ?? '', isString ? 'string' : 'hash', ...content];
    const written = await withRedis(this.#server, signal, (connection) => this.#run(connection, WRITE, args));
    const [isDone, version] = written as [number, Buffer];
    if (isDone !== 1) throw new SourceConflict(String(version) || null);
    return String(version);
  }

  async close(): Promise<void> {}

  #run(connection: RedisConnection, script: string, args: readonly (string | Buffer)[] = []): Promise<unknown> {
    return connection.send(['EVAL', script, '1', this.#key, String(this.#maxBytes), ...args]);
  }

  /** Receives the notifications for the key, until the connection is closed. */
  async #listen(connection: RedisConnection, notify: () => void): Promise<never> {
    const channel = `__keyspace@${this.#server.database}__:${this.#key}`;
    // The version is also read at an interval, so users do not need the permission to subscribe.
    await connection.subscribe(channel, notify).catch(demandDenial);
    // Changes before the subscription are found by another query.
    notify();
    return new Promise(() => {});
  }

  #filesIn(kind: string, parts: readonly Buffer[]): ReadonlyMap<string, Uint8Array> {
    if (kind === 'string') return new Map([[this.#name, parts[1]!]]);
    const files = new Map<string, Uint8Array>();
    for (let at = 0; at < parts.length; at += 2) files.set(String(parts[at]), parts[at + 1]!);
    return withMain(files, `the hash ${this.#key}`)!;
  }
}

/** @throws any error but that of a missing permission. */
function demandDenial(error: Error): void {
  if (!error.message.startsWith('NOPERM')) throw error;
}
