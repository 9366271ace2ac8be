import { BackendError } from '#contract';
import { fetchText } from './fetch-text.ts';
import type { Environment } from './profiles.ts';
import { type IssuedCredentials, type LookUp, RenewedCredentials } from './renewed-credentials.ts';
import { signAws } from './sigv4.ts';

/** Longest wait for STS, in milliseconds. */
const STS_MS = 10_000;
const HOUR_S = 3600;
const VERSION = '2011-06-15';
const FORM = ['Content-Type', 'application/x-www-form-urlencoded'];

/** A role to assume. */
export interface Role {
  readonly arn: string;
  /** Region of the STS endpoint, or a function that finds it when the role is assumed. */
  readonly region: string | (() => Promise<string>);
  /** Role session name, which identifies the caller to AWS. */
  readonly session: string;
}

/**
 * Obtains the credentials of a role, for an hour at a time.
 * @param environment may set another STS address in `AWS_ENDPOINT_URL_STS`, as for AWS clients.
 * @param own credentials that assume the role.
 */
export function assumedRole(role: Role, environment: Environment, own: RenewedCredentials): RenewedCredentials {
  return new RenewedCredentials(async (send) => {
    const credentials = await own.get(send);
    const region = typeof role.region === 'string' ? role.region : await role.region();
    const url = new URL(stsAddress(region, environment));
    const body = formOf('AssumeRole', role);
    const request = { method: 'POST', host: url.host, target: '/', headers: [FORM as [string, string]] };
    const signature = signAws(
      { ...request, body: Buffer.from(body) },
      credentials,
      { region, service: 'sts' },
      Date.now(),
    );
    const headers = [...FORM, ...signature.headers.flat()];
    return issued(await fetchText(send, { method: 'POST', url: `${url.origin}/`, headers, body, timeoutMs: STS_MS }));
  });
}

/** Assumes a role with a web identity token of the platform, for example of a Kubernetes pod. */
export function roleOfToken(arn: string, token: string, environment: Environment): LookUp {
  const region = environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION'] || 'us-east-1';
  const session = environment['AWS_ROLE_SESSION_NAME'] || 'sluice';
  const body = formOf('AssumeRoleWithWebIdentity', { arn, session }, { WebIdentityToken: token });
  const url = `${new URL(stsAddress(region, environment)).origin}/`;
  return async (send) =>
    issued(await fetchText(send, { method: 'POST', url, headers: [...FORM], body, timeoutMs: STS_MS }));
}

function stsAddress(region: string, environment: Environment): string {
  return (
    environment['AWS_ENDPOINT_URL_STS'] || `https://sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
  );
}

function formOf(action: string, { arn, session }: Omit<Role, 'region'>, more: Record<string, string> = {}): string {
  const fields = { Action: action, Version: VERSION, RoleArn: arn, RoleSessionName: session };
  return new URLSearchParams({ ...fields, DurationSeconds: String(HOUR_S), ...more }).toString();
}

/** @throws BackendError AWS_CREDENTIALS for a response without credentials. */
function issued(xml: string): IssuedCredentials {
  const field = (name: string): string => new RegExp(`<${name}>\\s*([^<\\s]+)\\s*</${name}>`).exec(xml)?.[1] ?? '';
  const expiresAt = Date.parse(field('Expiration'));
  const credentials = {
    accessKeyId: field('AccessKeyId'),
    secretAccessKey: field('SecretAccessKey'),
    sessionToken: field('SessionToken'),
  };
  if (Object.values(credentials).includes('') || Number.isNaN(expiresAt)) {
    throw new BackendError('AWS_CREDENTIALS', 'STS returned no credentials');
  }
  return { ...credentials, expiresAt };
}
