import { readFile } from 'node:fs/promises';
import {
  BackendError,
  Call,
  discard,
  HeaderBag,
  makeRequest,
  PipeRequest,
  Query,
  type Reply,
  type Step,
} from '#contract';
import { type Environment, readProfile } from './profiles.ts';
import type { AwsCredentials } from './sigv4.ts';

/** Credentials that may end. */
interface Found extends AwsCredentials {
  /** Milliseconds since 1970; undefined for those that do not end. */
  readonly expiresAt?: number | undefined;
}

/** How long before their end credentials are fetched anew, in milliseconds. */
const EARLY_MS = 5 * 60_000;
/** How long those without an end are used before they are looked up again: files are changed. */
const LOOKED_UP_MS = 5 * 60_000;
/** How long it is remembered that there are none, in milliseconds. */
const FAILED_MS = 1000;
/** Longest wait for the services that hand out credentials, in milliseconds. */
const FETCH_MS = 2_000;
const MAX_BYTES = 64 * 1024;

/**
 * The credentials of the process, from wherever AWS lets them be: the environment, the shared files, the container or the
 * machine. Looked for at first use, once for all who ask at the same time, and again five minutes before they end.
 */
export class CredentialChain {
  readonly #environment: Environment;
  #found: Promise<Found> | null = null;
  #last: Found | null = null;
  #goodUntil = 0;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** @param send the HTTP client of whoever asks. @throws BackendError AWS_CREDENTIALS */
  get(send: Step<PipeRequest>): Promise<AwsCredentials> {
    const now = Date.now();
    if (this.#found !== null && now < this.#goodUntil) return this.#found;
    this.#goodUntil = Number.POSITIVE_INFINITY;
    this.#found = this.#renew(send);
    return this.#found;
  }

  /** Those there are stay where no others can be had, until they end. */
  async #renew(send: Step<PipeRequest>): Promise<Found> {
    try {
      const found = await this.#look(send);
      const { expiresAt } = found;
      const late = expiresAt === undefined ? Date.now() + LOOKED_UP_MS : expiresAt - EARLY_MS;
      this.#goodUntil = Math.max(late, Date.now() + FAILED_MS);
      this.#last = found;
      return found;
    } catch (error) {
      this.#goodUntil = Date.now() + FAILED_MS;
      if (Date.now() < (this.#last?.expiresAt ?? 0)) return this.#last!;
      throw error;
    }
  }

  async #look(send: Step<PipeRequest>): Promise<Found> {
    const sources = [fromEnvironment, fromFiles, fromContainer, fromMachine];
    for (const source of sources) {
      const found = await source(this.#environment, send);
      if (found !== null) return found;
    }
    throw new BackendError(
      'AWS_CREDENTIALS',
      'no AWS credentials in the environment, the shared files, the container or the machine',
    );
  }
}

/** The region: of the environment, else of the shared files; undefined for none. */
export async function defaultRegion(environment: Environment): Promise<string | undefined> {
  const named = environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION'];
  return named || (await readProfile(environment)).get('region');
}

async function fromEnvironment(environment: Environment): Promise<Found | null> {
  return pair(environment['AWS_ACCESS_KEY_ID'], environment['AWS_SECRET_ACCESS_KEY'], environment['AWS_SESSION_TOKEN']);
}

async function fromFiles(environment: Environment): Promise<Found | null> {
  const profile = await readProfile(environment);
  return pair(profile.get('aws_access_key_id'), profile.get('aws_secret_access_key'), profile.get('aws_session_token'));
}

/** Containers are told where theirs are. */
async function fromContainer(environment: Environment, send: Step<PipeRequest>): Promise<Found | null> {
  const relative = environment['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI'];
  const url = relative ? `http://169.254.170.2${relative}` : environment['AWS_CONTAINER_CREDENTIALS_FULL_URI'];
  if (!url) return null;
  const file = environment['AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE'];
  const token = file ? (await readFile(file, 'utf8')).trim() : environment['AWS_CONTAINER_AUTHORIZATION_TOKEN'];
  const text = await fetchText(send, 'GET', url, token ? ['Authorization', token] : []);
  return handedOut(text);
}

/** Virtual machines ask an address of their own, with a token that proves that they are no one's proxy. */
async function fromMachine(environment: Environment, send: Step<PipeRequest>): Promise<Found | null> {
  if (/^true$/i.test(environment['AWS_EC2_METADATA_DISABLED'] ?? '')) return null;
  const base = (environment['AWS_EC2_METADATA_SERVICE_ENDPOINT'] || 'http://169.254.169.254').replace(/\/$/, '');
  const roles = `${base}/latest/meta-data/iam/security-credentials/`;
  try {
    const ttl = ['X-aws-ec2-metadata-token-ttl-seconds', '21600'];
    const token = await fetchText(send, 'PUT', `${base}/latest/api/token`, ttl);
    const proof = ['X-aws-ec2-metadata-token', token.trim()];
    const [role = ''] = (await fetchText(send, 'GET', roles, proof)).trim().split('\n');
    return handedOut(await fetchText(send, 'GET', roles + encodeURIComponent(role.trim()), proof));
  } catch {
    // Most machines are none of AWS's.
    return null;
  }
}

function pair(id: string | undefined, secret: string | undefined, token: string | undefined): Found | null {
  if (!id || !secret) return null;
  return { accessKeyId: id, secretAccessKey: secret, ...(token && { sessionToken: token }) };
}

/** @throws BackendError AWS_CREDENTIALS for what holds none. */
function handedOut(text: string): Found {
  let held: Record<string, unknown> = {};
  try {
    held = Object(JSON.parse(text));
  } catch {}
  const { AccessKeyId: id, SecretAccessKey: secret, Token: token, Expiration: end } = held;
  if (typeof id !== 'string' || typeof secret !== 'string') {
    throw new BackendError('AWS_CREDENTIALS', 'the service that hands out AWS credentials has handed out none');
  }
  const expiresAt = typeof end === 'string' ? Date.parse(end) : Number.NaN;
  return {
    accessKeyId: id,
    secretAccessKey: secret,
    ...(typeof token === 'string' && { sessionToken: token }),
    ...(!Number.isNaN(expiresAt) && { expiresAt }),
  };
}

async function fetchText(send: Step<PipeRequest>, method: string, url: string, headers: string[]): Promise<string> {
  const { origin, pathname, search } = new URL(url);
  const request = new PipeRequest(makeRequest({}), {}, new Query(), new HeaderBag(headers), null);
  Object.assign(request, { method, origin, target: pathname + search });
  const call = new Call(undefined, FETCH_MS);
  try {
    return await textOf(await send(request, call));
  } finally {
    call.finish();
  }
}

async function textOf(reply: Reply): Promise<string> {
  if (reply.errors.length > 0) throw reply.errors[0]!;
  if (reply.status !== 200) {
    discard(reply.body);
    throw new BackendError('AWS_CREDENTIALS', `the service that hands out AWS credentials answered ${reply.status}`);
  }
  const { body } = reply;
  const bytes = body instanceof Uint8Array ? body : await body?.collect(MAX_BYTES);
  return Buffer.from(bytes ?? []).toString();
}
