import { createHmac, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CompactSign, exportJWK, type JWK } from 'jose';
import { type PipeRequest, Reply } from '#contract';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { type Harness, type HarnessOptions, openHarness } from '../../../kernel/testing/index.ts';
import { plugin } from '../../../plugins/auth/validator/index.ts';
import { startBackend, type TestBackend } from '../../support/gateway.ts';

/** A key with its private part and its public form in the key set. */
export interface Signer {
  readonly alg: string;
  readonly kid: string;
  readonly key: KeyObject | Uint8Array;
  readonly jwk: JWK;
}

/** A new key for an algorithm. Its ID defaults to the algorithm. */
export async function makeSigner(alg: string, kid = alg): Promise<Signer> {
  if (alg.startsWith('HS')) {
    const key = new Uint8Array(randomBytes(64));
    return { alg, kid, key, jwk: { kty: 'oct', kid, k: Buffer.from(key).toString('base64url') } };
  }
  const pair = pairFor(alg);
  return { alg, kid, key: pair.privateKey, jwk: { ...(await exportJWK(pair.publicKey)), kid } };
}

function pairFor(alg: string) {
  if (alg === 'EdDSA') return generateKeyPairSync('ed25519');
  if (!alg.startsWith('ES')) return generateKeyPairSync('rsa', { modulusLength: 2048 });
  const namedCurve = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }[alg]!;
  return generateKeyPairSync('ec', { namedCurve });
}

/** A token issued by another implementation than the gateway's. */
export async function issue(
  { alg, kid, key }: Signer,
  claims: object | string = {},
  header: object = {},
): Promise<string> {
  const payload = typeof claims === 'string' ? claims : JSON.stringify(claims);
  return new CompactSign(Buffer.from(payload)).setProtectedHeader({ alg, kid, ...header }).sign(key);
}

/** A token of arbitrary parts, signed with HMAC. */
export function forge(header: object | string, payload: object | string, secret: Uint8Array | string): string {
  const encode = (segment: object | string) =>
    Buffer.from(typeof segment === 'string' ? segment : JSON.stringify(segment)).toString('base64url');
  const signed = `${encode(header)}.${encode(payload)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

/** Key files in a directory of their own. */
export function makeKeyFiles() {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-keys-'));
  let count = 0;
  return {
    write(content: object | Uint8Array): string {
      const path = join(directory, `${count++}.json`);
      writeFileSync(path, content instanceof Uint8Array ? content : JSON.stringify(content));
      return path;
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** A key server that counts downloads. */
export interface KeyServer extends TestBackend {
  readonly downloads: number;
  keys: readonly object[];
  /** Response to send instead of its keys. */
  answer: ((response: ServerResponse) => void) | null;
}

export async function startKeyServer(...keys: readonly object[]): Promise<KeyServer> {
  const backend = await startBackend((_seen, response) => {
    if (server.answer) return server.answer(response);
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ keys: server.keys }));
  });
  const server: KeyServer = Object.assign(Object.create(backend), {
    keys,
    answer: null,
  });
  Object.defineProperty(server, 'downloads', { get: () => backend.requests.length });
  return server;
}

/** The validator at an endpoint, and the requests that passed it. */
export interface Gate extends Harness {
  readonly passed: readonly PipeRequest[];
  /** The status of a request with this bearer token, or without a token. */
  status(token?: string, headers?: Record<string, string>): Promise<number>;
}

export async function openGate(config: object, options: HarnessOptions = {}): Promise<Gate> {
  const passed: PipeRequest[] = [];
  const harness = await openHarness(plugin, 'endpoint', config, {
    ...options,
    next: (request, call) => {
      passed.push(request);
      return options.next ? options.next(request, call) : Reply.data({ ok: true });
    },
  });
  return Object.assign(Object.create(harness, Object.getOwnPropertyDescriptors(harness)), {
    passed,
    async status(token?: string, headers: Record<string, string> = {}) {
      const all = { ...(token !== undefined && { Authorization: `Bearer ${token}` }), ...headers };
      return (await harness.send({ headers: all })).status;
    },
  }) as Gate;
}

/** A key as stored by a signer, including its private part. */
export async function privateJwk({ alg, kid, key, jwk }: Signer): Promise<JWK> {
  return alg.startsWith('HS') ? jwk : { ...(await exportJWK(key)), kid };
}

/** Errors of a configuration: code and pointer of each finding. */
export async function findingsOf(opening: Promise<unknown>): Promise<string[]> {
  const error: unknown = await opening.then(
    () => null,
    (thrown) => thrown,
  );
  if (!(error instanceof ConfigErrors)) throw new Error('it was not refused', { cause: error });
  return error.errors.map(({ code, pointer }) => `${code} ${pointer}`);
}
