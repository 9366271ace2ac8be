// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import { isUtf8 } from 'node:buffer';
import {
  type AtService,
  atService,
  BackendError,
  definePlugin,
  type Infer,
  type Schema,
  type Site,
  type StoredSecret,
} from '#contract';
import { CredentialChain, defaultRegion } from '../clients/aws/credentials.ts';
import { REGION_PATTERN, regionField, roleField } from '../clients/aws/region.ts';
import type { RenewedCredentials } from '../clients/aws/renewed-credentials.ts';
import { type AwsCredentials, signAws } from '../clients/aws/sigv4.ts';
import { assumedRole } from '../clients/aws/sts.ts';
import { httpUrl } from '../shared/calls/http-url.ts';
import { isLocal } from '../shared/calls/local-url.ts';
import { fetchJson, type StoreResponse, storeError } from './lib/fetch-json.ts';
import { storeFields } from './lib/fields.ts';

const schema = {
  type: 'object',
  title: 'AWS Secrets Manager',
  examples: [
    { region: 'eu-west-1', refresh_interval: '10m' },
    { assume_role_arn: 'arn:aws:iam::123456789012:role/reader' },
  ],
  properties: {
    region: { ...regionField, description: 'AWS region. Default: the region of the environment.' },
    endpoint: {
      type: 'string',
      minLength: 1,
      description: 'Endpoint URL that replaces the AWS endpoint, for VPC endpoints and emulators.',
      examples: ['http://127.0.0.1:4566'],
    },
    assume_role_arn: roleField,
    refresh_interval: {
      type: 'duration',
      description:
        'Interval at which secrets are fetched again. Shortened by a random part of up to 10 %. AWS charges for each fetch. 0s disables repeated fetches.',
      default: '5m',
    },
    ...storeFields,
  },
} as const satisfies Schema;

type Config = Infer<typeof schema>;

/** Codes of AWS for temporary failures. */
const temporary = /^(?:Throttling\w*|InternalService\w*|ServiceUnavailable\w*|RequestLimitExceeded)$/;

/**
 * Secrets in AWS Secrets Manager, with the credentials in the environment variables.
 * Errors: `SECRETS_MANAGER_ENDPOINT`; a warning `SECRETS_MANAGER_INSECURE`; of calls `SECRETS_MANAGER_REGION`, `SECRETS_MANAGER_STATUS`,
 * `SECRETS_MANAGER_SECRET` and `AWS_CREDENTIALS`.
 */
export const plugin = definePlugin({
  name: 'secrets/aws-sm',
  description:
    'Fetches secrets from AWS Secrets Manager: `${aws-sm:orders#password}` is a field of the secret named `orders`, whose text is JSON, and `${aws-sm:orders}` is the whole text. ARNs work, too. Secrets are fetched again at an interval, and a new value is applied like a change of the configuration.',
  independent: true,
  places: [atService(schema, attach)],
});

function attach(site: Site<Config>): AtService {
  const { config } = site;
  const endpoint = endpointOf(site);
  const calls = endpoint ? [{ address: endpoint.href, at: '/endpoint' }] : [];
  const send = site.http({ ofService: true, followsRedirects: false, calls });
  const credentials = credentialsOf(site);
  return {
    secrets: {
      refreshMs: config.refresh_interval,
      startupMs: config.startup_timeout,
      async fetch(name, signal) {
        const region = await regionOf(config);
        const url = endpoint ?? new URL(addressIn(region));
        const body = JSON.stringify({ SecretId: name });
        const current = await credentials.get(send);
        const headers = signedHeaders(current, region, url, body);
        const client = { send, log: site.log, timeoutMs: config.timeout };
        return secretIn(await fetchJson(client, { method: 'POST', url, headers, body }, signal), current);
      },
    },
  };
}

/** Endpoint of the configuration; null for that of AWS. @throws ConfigError SECRETS_MANAGER_ENDPOINT */
function endpointOf({ config, fault, warn }: Site<Config>): URL | null {
  const { endpoint } = config;
  if (endpoint === undefined) return null;
  const url = httpUrl(endpoint);
  const isPlain = url !== null && url.search === '' && url.hash === '';
  if (!isPlain) {
    throw fault('SECRETS_MANAGER_ENDPOINT', '/endpoint', `"${endpoint}" is not an http or https URL without a query`);
  }
  if (url.protocol === 'http:' && !isLocal(url)) {
    warn('SECRETS_MANAGER_INSECURE', '/endpoint', 'secrets are received without TLS', { hint: 'Use an https URL.' });
  }
  return url;
}

/** @throws BackendError SECRETS_MANAGER_REGION */
async function regionOf(config: Config): Promise<string> {
  const region = config.region ?? (await defaultRegion(process.env));
  if (region !== undefined && new RegExp(REGION_PATTERN).test(region)) return region;
  throw new BackendError('SECRETS_MANAGER_REGION', 'no valid AWS region: set "region" or AWS_REGION');
}

function addressIn(region: string): string {
  return `https://secretsmanager.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}/`;
}

function credentialsOf(site: Site<Config>): RenewedCredentials {
  const { assume_role_arn: arn, region = null } = site.config;
  const own = site.keep('credentials', () => new CredentialChain(process.env));
  if (arn === undefined) return own;
  const session = `sluice-${site.use('version').replace(/[^\w.-]/g, '')}`;
  const role = { arn, region: () => regionOf(site.config), session };
  return site.keep(['role', arn, region], () => assumedRole(role, process.env, own));
}

/** @returns headers as alternating names and values. */
function signedHeaders(credentials: AwsCredentials, region: string, url: URL, body: string): string[] {
  const headers: [string, string][] = [
    ['Content-Type', 'application/x-amz-json-1.1'],
    ['X-Amz-Target', 'secretsmanager.GetSecretValue'],
  ];
  const request = { method: 'POST', host: url.host, target: url.pathname, headers, body: Buffer.from(body) };
  const { headers: added } = signAws(request, credentials, { region, service: 'secretsmanager' }, Date.now());
  return [...headers, ...added].flat();
}

/** @throws BackendError SECRETS_MANAGER_STATUS with the code of AWS, SECRETS_MANAGER_SECRET */
function secretIn({ status, data }: StoreResponse, { sessionToken: token = '' }: AwsCredentials): StoredSecret {
  if (status !== 200) {
    const { __type: type, message, Message: reason = message } = data;
    const code = typeof type === 'string' ? type.split('#').at(-1)! : '';
    const text = `${code}${typeof reason === 'string' ? `: ${reason}` : ''}`;
    // Servers can repeat the signed headers in the reason.
    const masked = token === '' ? text : text.replaceAll(token, '***');
    throw storeError('SECRETS_MANAGER_STATUS', temporary.test(code) ? 503 : status, masked);
  }
  const { SecretString: text, SecretBinary: binary } = data;
  if (typeof text === 'string') return { content: text };
  if (typeof binary !== 'string') throw unusable('AWS returned no value');
  const bytes = Buffer.from(binary, 'base64');
  if (!isUtf8(bytes)) throw unusable('the secret is binary data that is not UTF-8');
  return { content: bytes.toString() };
}

/** The error of a secret that another attempt cannot use either. */
function unusable(message: string): BackendError {
  return new BackendError('SECRETS_MANAGER_SECRET', message, { upstreamStatus: 404 });
}
