// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import {
  type AtService,
  atService,
  BackendError,
  definePlugin,
  type Infer,
  type PipeRequest,
  type Schema,
  type Site,
  type Step,
  type StoredSecret,
} from '#contract';
import { CredentialChain, defaultRegion } from '../clients/aws/credentials.ts';
import { REGION_PATTERN, regionField, roleField } from '../clients/aws/region.ts';
import type { RenewedCredentials } from '../clients/aws/renewed-credentials.ts';
import { signAws } from '../clients/aws/sigv4.ts';
import { assumedRole } from '../clients/aws/sts.ts';
import { httpUrl } from '../shared/calls/http-url.ts';
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
 * Errors: `SECRETS_MANAGER_ENDPOINT`; of calls `SECRETS_MANAGER_REGION`, `SECRETS_MANAGER_STATUS`,
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
  const endpoint = config.endpoint === undefined ? null : httpUrl(config.endpoint);
  if (config.endpoint !== undefined && !endpoint) {
    throw site.fault('SECRETS_MANAGER_ENDPOINT', '/endpoint', `"${config.endpoint}" is not an http or https URL`);
  }
  const send = site.http({ ofService: true, followsRedirects: false });
  const credentials = credentialsOf(site);
  return {
    secrets: {
      refreshMs: config.refresh_interval,
      startupMs: config.startup_timeout,
      async fetch(name, signal) {
        const region = config.region ?? (await defaultRegion(process.env));
        if (region === undefined || !new RegExp(REGION_PATTERN).test(region)) {
          throw new BackendError('SECRETS_MANAGER_REGION', 'no valid AWS region: set "region" or AWS_REGION');
        }
        const url = endpoint ?? new URL(addressIn(region));
        const body = JSON.stringify({ SecretId: name });
        const headers = await signedHeaders(credentials, send, region, url, body);
        const client = { send, log: site.log, timeoutMs: config.timeout };
        return secretIn(await fetchJson(client, { method: 'POST', url, headers, body }, signal));
      },
    },
  };
}

function addressIn(region: string): string {
  return `https://secretsmanager.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}/`;
}

function credentialsOf(site: Site<Config>): RenewedCredentials {
  const { assume_role_arn: arn, region = process.env['AWS_REGION'] || 'us-east-1' } = site.config;
  const own = site.keep('credentials', () => new CredentialChain(process.env));
  if (arn === undefined) return own;
  const role = { arn, region, session: `sluice-${site.use('version').replace(/[^\w.-]/g, '')}` };
  return site.keep(['role', arn, region], () => assumedRole(role, process.env, own));
}

/** @returns headers as alternating names and values. */
async function signedHeaders(
  credentials: RenewedCredentials,
  send: Step<PipeRequest>,
  region: string,
  url: URL,
  body: string,
): Promise<string[]> {
  const headers: [string, string][] = [
    ['Content-Type', 'application/x-amz-json-1.1'],
    ['X-Amz-Target', 'secretsmanager.GetSecretValue'],
  ];
  const request = { method: 'POST', host: url.host, target: url.pathname, headers, body: Buffer.from(body) };
  const scope = { region, service: 'secretsmanager' };
  const { headers: added } = signAws(request, await credentials.get(send), scope, Date.now());
  return [...headers, ...added].flat();
}

/** @throws BackendError SECRETS_MANAGER_STATUS with the code of AWS, SECRETS_MANAGER_SECRET */
function secretIn({ status, data }: StoreResponse): StoredSecret {
  if (status !== 200) {
    const { __type: type = '', message, Message: reason = message } = data;
    const code = String(type).split('#').at(-1)!;
    const isTemporary = temporary.test(code);
    throw storeError(
      'SECRETS_MANAGER_STATUS',
      isTemporary ? 503 : status,
      `${code}${typeof reason === 'string' ? `: ${reason}` : ''}`,
    );
  }
  const { SecretString: text, SecretBinary: bytes } = data;
  if (typeof text === 'string') return { content: text };
  if (typeof bytes === 'string') return { content: Buffer.from(bytes, 'base64').toString() };
  throw new BackendError('SECRETS_MANAGER_SECRET', 'AWS returned no value', { upstreamStatus: 404 });
}
