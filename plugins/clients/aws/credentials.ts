import { readFile } from 'node:fs/promises';
import { BackendError, type PipeRequest, type Step } from '#contract';
import { fetchText } from './fetch-text.ts';
import { type Environment, readProfile } from './profiles.ts';
import { type IssuedCredentials, RenewedCredentials } from './renewed-credentials.ts';
import { roleOfToken } from './sts.ts';

/**
 * The credentials of the process, from any source AWS supports: the environment, the shared files, a token of the
 * platform, the container or the machine.
 */
export class CredentialChain extends RenewedCredentials {
  constructor(environment: Environment) {
    super((send) => look(environment, send));
  }
}

async function look(environment: Environment, send: Step<PipeRequest>): Promise<IssuedCredentials> {
  for (const source of [fromEnvironment, fromFiles, fromToken, fromContainer, fromMachine]) {
    const found = await source(environment, send);
    if (found !== null) return found;
  }
  throw new BackendError(
    'AWS_CREDENTIALS',
    'no AWS credentials in the environment, the shared files, the container or the machine',
  );
}

/** The region from the environment, otherwise from the shared files; undefined if neither sets one. */
export async function defaultRegion(environment: Environment): Promise<string | undefined> {
  const named = environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION'];
  return named || (await readProfile(environment)).get('region');
}

async function fromEnvironment(environment: Environment): Promise<IssuedCredentials | null> {
  return pair(environment['AWS_ACCESS_KEY_ID'], environment['AWS_SECRET_ACCESS_KEY'], environment['AWS_SESSION_TOKEN']);
}

async function fromFiles(environment: Environment): Promise<IssuedCredentials | null> {
  const profile = await readProfile(environment);
  return pair(profile.get('aws_access_key_id'), profile.get('aws_secret_access_key'), profile.get('aws_session_token'));
}

/** Kubernetes pods have a file with a token that can be exchanged for a role. */
async function fromToken(environment: Environment, send: Step<PipeRequest>): Promise<IssuedCredentials | null> {
  const { AWS_WEB_IDENTITY_TOKEN_FILE: file, AWS_ROLE_ARN: role } = environment;
  if (!file || !role) return null;
  let token: string;
  try {
    token = (await readFile(file, 'utf8')).trim();
  } catch (cause) {
    throw new BackendError('AWS_CREDENTIALS', 'AWS_WEB_IDENTITY_TOKEN_FILE cannot be read', { cause });
  }
  return roleOfToken(role, token, environment)(send);
}

/** Containers receive the address of their credentials in the environment. */
async function fromContainer(environment: Environment, send: Step<PipeRequest>): Promise<IssuedCredentials | null> {
  const relative = environment['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI'];
  const url = relative ? `http://169.254.170.2${relative}` : environment['AWS_CONTAINER_CREDENTIALS_FULL_URI'];
  if (!url) return null;
  const file = environment['AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE'];
  const token = file ? (await readFile(file, 'utf8')).trim() : environment['AWS_CONTAINER_AUTHORIZATION_TOKEN'];
  const text = await fetchText(send, { method: 'GET', url, headers: token ? ['Authorization', token] : [] });
  return handedOut(text);
}

/** Virtual machines fetch credentials from a link-local address, with a token that proves that the request is not proxied. */
async function fromMachine(environment: Environment, send: Step<PipeRequest>): Promise<IssuedCredentials | null> {
  if (/^true$/i.test(environment['AWS_EC2_METADATA_DISABLED'] ?? '')) return null;
  const base = (environment['AWS_EC2_METADATA_SERVICE_ENDPOINT'] || 'http://169.254.169.254').replace(/\/$/, '');
  const roles = `${base}/latest/meta-data/iam/security-credentials/`;
  try {
    const ttl = ['X-aws-ec2-metadata-token-ttl-seconds', '21600'];
    const token = await fetchText(send, { method: 'PUT', url: `${base}/latest/api/token`, headers: ttl });
    const proof = ['X-aws-ec2-metadata-token', token.trim()];
    const [role = ''] = (await fetchText(send, { method: 'GET', url: roles, headers: proof })).trim().split('\n');
    return handedOut(
      await fetchText(send, { method: 'GET', url: roles + encodeURIComponent(role.trim()), headers: proof }),
    );
  } catch {
    // A failed connection is not an error: most machines do not run on AWS, so the metadata address does not respond.
    return null;
  }
}

function pair(id: string | undefined, secret: string | undefined, token: string | undefined): IssuedCredentials | null {
  if (!id || !secret) return null;
  return { accessKeyId: id, secretAccessKey: secret, ...(token && { sessionToken: token }) };
}

/** @throws BackendError AWS_CREDENTIALS when the text contains no credentials. */
function handedOut(text: string): IssuedCredentials {
  let held: Record<string, unknown> = {};
  try {
    held = Object(JSON.parse(text));
  } catch {}
  const { AccessKeyId: id, SecretAccessKey: secret, Token: token, Expiration: end } = held;
  if (typeof id !== 'string' || typeof secret !== 'string') {
    throw new BackendError('AWS_CREDENTIALS', 'the AWS credentials service returned no credentials');
  }
  const expiresAt = typeof end === 'string' ? Date.parse(end) : Number.NaN;
  return {
    accessKeyId: id,
    secretAccessKey: secret,
    ...(typeof token === 'string' && { sessionToken: token }),
    ...(!Number.isNaN(expiresAt) && { expiresAt }),
  };
}
