import { setTimeout as delay } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import type { MsgHdrs } from '@nats-io/transport-node';
import {
  type ConfigSource,
  connectionOwner,
  definePlugin,
  isObject,
  runOwned,
  SourceConflict,
  type SourceRevision,
  type SourceSite,
  type SourceWrite,
} from '#contract';
import type { NatsSettings } from '../clients/nats/address.ts';
import { type NatsLink, openNats } from '../clients/nats/connection.ts';
import { loadNats } from '../clients/nats/library.ts';
import { within } from '../shared/calls/during.ts';
import { demandParameters, keyIn } from './lib/address.ts';
import { fileNameOf, withMain } from './lib/files.ts';
import { jsonIn } from './lib/http.ts';

/** Time limit of a response, in milliseconds. */
const RESPONSE_MS = 10_000;

/** Interval at which the version is read in case a message was lost, in milliseconds. */
const CHECK_MS = 30_000;

/** Interval after a message at which the version is read until the message is stored, in milliseconds, and the number of times. */
const STORED_MS = 100;
const STORED_TIMES = 20;

/** Maximum number of files, and of keys of the bucket. */
const MAX_FILES = 1_000;
const MAX_KEYS = 10_000;

/** Number of attempts to read several files while they change. */
const ATTEMPTS = 5;

/** Error codes of JetStream. */
const NO_MESSAGE = 10037;
const NO_STREAM = 10059;
const WRONG_SEQUENCE = 10071;

/**
 * Configurations in a key/value bucket of NATS JetStream. A key whose name ends like a configuration file is the
 * configuration; any other is a prefix, below which keys are files, and so is the bucket without a key. Messages of the
 * bucket report changes.
 */
export const plugin = definePlugin({
  name: 'source/nats',
  description: 'Reads the configuration of the gateway from a key/value bucket of NATS JetStream, and watches it.',
  configSources: {
    form: 'nats://HOST:4222/BUCKET/KEY, or tls:// to require TLS',
    open: (site) => new Nats(site),
  },
});

/** The last message of a key. */
interface Entry {
  readonly key: string;
  /** Null for a key that was removed. */
  readonly content: Uint8Array | null;
  readonly sequence: number;
}

/** The keys of the configuration, also those that were removed. */
interface Listing {
  readonly entries: readonly Entry[];
  /** Sequence number of the last change; null without a file. */
  readonly version: string | null;
}

class Nats implements ConfigSource {
  readonly #settings: NatsSettings;
  readonly #bucket: string;
  readonly #key: string;
  readonly #isFile: boolean;
  readonly #maxBytes: number;

  constructor({ address, access, maxBytes }: SourceSite) {
    const [, bucket, , key = ''] = /^([\w-]+)(\/(.+))?$/s.exec(keyIn(address)) ?? [];
    if (bucket === undefined) throw new Error('the address of NATS needs a bucket: nats://HOST:4222/BUCKET/KEY');
    if (key !== '' && !isKey(key)) throw new Error(`${JSON.stringify(key)} is not a valid key of a bucket`);
    demandParameters(address, []);
    const { tls, username: user, password, token } = access;
    const hasTls = Object.keys(tls).length > 0;
    this.#settings = {
      servers: [`${address.hostname}:${address.port || 4222}`],
      user,
      password,
      token,
      needsTls: address.protocol === 'tls:' || hasTls,
      tls: { secureContext: createSecureContext(tls), rejectUnauthorized: true },
      denied: { has: () => false },
    };
    this.#bucket = bucket;
    this.#key = key;
    this.#isFile = key !== '' && fileNameOf(key) === key.split('/').at(-1);
    this.#maxBytes = maxBytes;
  }

  read(signal: AbortSignal): Promise<SourceRevision | null> {
    return this.#connected(signal, async (link) => {
      const { entries, version } = await this.#list(link);
      if (version === null) return null;
      const start = this.#isFile ? this.#key.lastIndexOf('/') + 1 : this.#prefix.length;
      const named = new Map(entries.flatMap(({ key, content }) => (content ? [[key.slice(start), content]] : [])));
      const files = this.#isFile ? named : withMain(named, `the prefix ${this.#prefix}`)!;
      return { version, order: Number(version), files };
    });
  }

  async awaitChange(version: string | null, signal: AbortSignal): Promise<void> {
    let notified = Promise.withResolvers<boolean>();
    const timer = setInterval(() => notified.resolve(false), CHECK_MS);
    try {
      await this.#connected(signal, async (link) => {
        const hasChanged = async () => (await this.#list(link)).version !== version;
        const subject = this.#isFile ? this.#subjectOf(this.#key) : this.#subjectOf('>');
        const callback = (error: Error | null, message: { readonly subject: string }) => {
          if (error) notified.reject(error);
          else if (message.subject.startsWith(this.#subjectOf(this.#prefix))) notified.resolve(true);
        };
        link.client.subscribe(subject, { callback });
        await within(RESPONSE_MS, link.confirm());
        for (;;) {
          // Messages from here on may be of changes that the listing does not have.
          notified = Promise.withResolvers();
          notified.promise.catch(() => {});
          if (await hasChanged()) return;
          // Subscribers can receive a message before it is stored.
          for (let times = (await notified.promise) ? STORED_TIMES : 0; times > 0; times--) {
            if (await hasChanged()) return;
            await delay(STORED_MS, undefined, { signal });
          }
        }
      });
    } finally {
      clearInterval(timer);
    }
  }

  async write({ files, expected }: SourceWrite, signal: AbortSignal): Promise<string> {
    const [[path, content], ...others] = [...files] as [[string, Uint8Array], ...unknown[]];
    if (others.length > 0) throw new Error(SEVERAL);
    const key = this.#isFile ? this.#key : `${this.#prefix}${path}`;
    if (!isKey(key)) throw new Error(`${JSON.stringify(key)} is not a valid key of a bucket`);
    const { headers } = await loadNats();
    return this.#connected(signal, async (link) => {
      const { entries, version } = await this.#list(link);
      if (version !== expected) throw new SourceConflict(version);
      if (entries.some((entry) => entry.content !== null && entry.key !== key)) throw new Error(SEVERAL);
      const conditions = headers();
      // The marker of a key that was removed counts as well.
      const last = entries.find((entry) => entry.key === key)?.sequence ?? 0;
      conditions.set('Nats-Expected-Last-Subject-Sequence', String(last));
      const response = await request(link, this.#subjectOf(key), content, conditions);
      if (response.code === WRONG_SEQUENCE) throw new SourceConflict(null);
      const { seq } = accepted(response, this.#bucket);
      return String(seq);
    });
  }

  async close(): Promise<void> {}

  /** Beginning of the keys of files. The key itself if that is the file. */
  get #prefix(): string {
    return this.#isFile || this.#key === '' ? this.#key : `${this.#key}/`;
  }

  #subjectOf(key: string): string {
    return `$KV.${this.#bucket}.${key}`;
  }

  /** Connects, uses the connection, and closes it. @throws the error of the connection if it is lost, also while it is used. */
  #connected<T>(signal: AbortSignal, use: (link: NatsLink) => Promise<T>): Promise<T> {
    const { promise: lost, reject: end } = Promise.withResolvers<never>();
    lost.catch(() => {});
    const abort = () => end(signal.reason as Error);
    const name = this.#settings.servers[0]!;
    return runOwned(connectionOwner('configuration source', name, end), async () => {
      signal.throwIfAborted();
      const link = await openNats(this.#settings, end, signal);
      signal.addEventListener('abort', abort, { once: true });
      if (signal.aborted) abort();
      try {
        return await Promise.race([use(link), lost]);
      } finally {
        signal.removeEventListener('abort', abort);
        await link.close();
      }
    });
  }

  /** Reads the keys of the configuration, as they are at one time. */
  async #list(link: NatsLink): Promise<Listing> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { keys, last } = this.#isFile
        ? { keys: [this.#key], last: Number.POSITIVE_INFINITY }
        : await this.#keys(link);
      const entries: Entry[] = [];
      let bytes = 0;
      for (const key of keys) {
        const entry = await this.#entry(link, key);
        bytes += entry?.content?.length ?? 0;
        if (bytes > this.#maxBytes) throw new Error(`the configuration is larger than ${this.#maxBytes} bytes`);
        if (entry !== null) entries.push(entry);
      }
      const sequence = entries.reduce((most, entry) => Math.max(most, entry.sequence), 0);
      // Otherwise, keys that were read before can have changed as well.
      if (sequence > last) continue;
      const isAbsent = entries.every(({ content }) => content === null);
      return { entries, version: isAbsent ? null : String(sequence) };
    }
    throw new Error('the keys changed while they were read');
  }

  /** Names of the keys below the prefix, and the last sequence number of the bucket. */
  async #keys(link: NatsLink): Promise<{ readonly keys: readonly string[]; readonly last: number }> {
    const payload = JSON.stringify({ subjects_filter: this.#subjectOf('>') });
    const info = accepted(await request(link, `$JS.API.STREAM.INFO.KV_${this.#bucket}`, payload), this.#bucket);
    const state = isObject(info['state']) ? info['state'] : {};
    const subjects = isObject(state['subjects']) ? Object.keys(state['subjects']) : [];
    if (subjects.length > MAX_KEYS) throw new Error(`the bucket has more than ${MAX_KEYS} keys`);
    const start = this.#subjectOf(this.#prefix);
    const names = subjects.filter((subject) => subject.startsWith(start));
    if (names.length > MAX_FILES) throw new Error(`there are more than ${MAX_FILES} keys below the prefix`);
    return {
      keys: names.map((subject) => subject.slice(this.#subjectOf('').length)).sort(),
      last: Number(state['last_seq']),
    };
  }

  async #entry(link: NatsLink, key: string): Promise<Entry | null> {
    const payload = JSON.stringify({ last_by_subj: this.#subjectOf(key) });
    const response = await request(link, `$JS.API.STREAM.MSG.GET.KV_${this.#bucket}`, payload);
    if (response.code === NO_MESSAGE) return null;
    const { message } = accepted(response, this.#bucket);
    const { seq, hdrs = '', data = '' } = isObject(message) ? message : {};
    if (typeof seq !== 'number') throw new Error('the response of the server is not a message');
    const isRemoved = removal.test(Buffer.from(String(hdrs), 'base64').toString('latin1'));
    return { key, sequence: seq, content: isRemoved ? null : Buffer.from(String(data), 'base64') };
  }
}

/** Header of the marker that replaces a key. */
const removal = /^KV-Operation: *(?:DEL|PURGE)/im;

const SEVERAL = 'NATS cannot replace several files in one step: write each key by itself';

/** A response of JetStream. */
interface JetStreamResponse {
  readonly data: Readonly<Record<string, unknown>>;
  /** Error code; null for a success. */
  readonly code: number | null;
}

async function request(
  link: NatsLink,
  subject: string,
  payload: string | Uint8Array,
  headers?: MsgHdrs,
): Promise<JetStreamResponse> {
  let text: string;
  try {
    const options = { timeout: RESPONSE_MS, ...(headers && { headers }) };
    text = (await link.client.request(subject, payload, options)).string();
  } catch (error) {
    const { name, message } = error as Error;
    const isMissing = name === 'NoRespondersError' || /no responders/i.test(message);
    throw new Error(isMissing ? 'the bucket or JetStream is not available at the server' : message, { cause: error });
  }
  const data = jsonIn({ body: Buffer.from(text) });
  const error = isObject(data['error']) ? data['error'] : null;
  return { data, code: error && Number(error['err_code']) };
}

/** @throws Error with the reason of the server. */
function accepted({ data, code }: JetStreamResponse, bucket: string): Readonly<Record<string, unknown>> {
  if (code === null) return data;
  if (code === NO_STREAM) throw new Error(`the bucket ${bucket} does not exist`);
  const { description } = data['error'] as { readonly description?: unknown };
  throw new Error(`JetStream: ${String(description).slice(0, 200)}`);
}

/** True for a key that buckets accept. */
function isKey(key: string): boolean {
  return /^[-/_=.a-zA-Z0-9]+$/.test(key) && !/^\.|\.\.|\.$/.test(key);
}
