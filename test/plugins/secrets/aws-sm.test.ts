// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in a configuration are written so.
import { deepEqual, doesNotMatch, equal, match, rejects } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { type AwsCredentials, signAws } from '../../../plugins/clients/aws/sigv4.ts';
import { until } from '../../support/conditions.ts';
import {
  openGateway,
  rememberingSinks,
  type SeenRequest,
  startBackend,
  type TestBackend,
} from '../../support/gateway.ts';

const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };

const ROLE = { accessKeyId: 'ASIAEXAMPLE', secretAccessKey: 'bPxRfiCYEXAMPLEKEYwJalrXUtnFEMI' };

/** True if the signature fits the request as it arrived. */
function isSigned({ method, target, headers, body }: SeenRequest, keys: AwsCredentials): boolean {
  const time = String(headers['x-amz-date']).replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
  const sent = ['content-type', 'x-amz-target'].map((name) => [name, String(headers[name])] as const);
  const request = { method, host: headers.host!, target, headers: sent, body };
  const scope = { region: 'eu-west-1', service: 'secretsmanager' };
  const token = headers['x-amz-security-token'];
  const used = { ...keys, ...(token !== undefined && { sessionToken: String(token) }) };
  return signAws(request, used, scope, Date.parse(time)).headers.at(-1)![1] === headers.authorization;
}

describe('secrets/aws-sm', () => {
  let server: TestBackend;
  let gateway: Operations | undefined;
  let environment: NodeJS.ProcessEnv;
  let secrets: Record<string, object>;
  let keys: AwsCredentials;
  let failure: readonly [status: number, body: string] | null;

  beforeEach(async () => {
    environment = { ...process.env };
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: KEYS.accessKeyId, AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey });
    failure = null;
    keys = KEYS;
    secrets = { orders: { SecretString: '{"user":"app","password":"aws-secret"}' } };
    server = await startBackend((seen, response) => {
      const { SecretId: id } = JSON.parse(seen.body.toString()) as { SecretId: string };
      const isSound = isSigned(seen, keys) && seen.headers['x-amz-target'] === 'secretsmanager.GetSecretValue';
      const rejected = isSound
        ? '{"__type":"ResourceNotFoundException","Message":"Secrets Manager can\'t find the specified secret."}'
        : '{"__type":"InvalidSignatureException","message":"The signature does not match."}';
      const isFound = isSound && Object.hasOwn(secrets, id);
      const [status, body] = failure ?? (isFound ? [200, JSON.stringify(secrets[id])] : [400, rejected]);
      response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.1' }).end(body);
    });
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    process.env = environment;
    await server.close();
  });

  const start = async (value: string, settings: object = {}): Promise<void> => {
    const store = { region: 'eu-west-1', endpoint: server.url, startup_timeout: '0s', ...settings };
    const config = {
      version: 3,
      extra_config: { 'secrets/aws-sm': store },
      endpoints: [
        {
          endpoint: '/a',
          backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }],
          extra_config: { proxy: { static: { strategy: 'always', data: { value } } } },
        },
      ],
    };
    gateway = await openGateway(config as never, { port: 0, sinks: rememberingSinks() });
  };
  const value = async () => (JSON.parse((await gateway!.inject('/a')).payload) as { value: unknown }).value;

  it('fetches all fields of a secret with one signed request', async () => {
    await start('${aws-sm:orders#user}:${aws-sm:orders#password}');
    deepEqual([await value(), server.requests.length], ['app:aws-secret', 1]);
  });

  it('fetches a whole secret as text, and secrets by their ARN', async () => {
    const arn = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:api-key-a1b2c3';
    secrets = { [arn]: { SecretString: 'plain-secret' } };
    await start(`\${aws-sm:${arn}}`);
    equal(await value(), 'plain-secret');
  });

  it('decodes binary secrets', async () => {
    secrets['orders'] = { SecretBinary: Buffer.from('binary-secret').toString('base64') };
    await start('${aws-sm:orders}');
    equal(await value(), 'binary-secret');
  });

  it('rejects binary secrets that are not UTF-8, instead of replacing their bytes', async () => {
    secrets['orders'] = { SecretBinary: Buffer.from([0x61, 0xff, 0xfe]).toString('base64') };
    await rejects(start('${aws-sm:orders}'), /the secret is binary data that is not UTF-8/);
  });

  it('applies a rotated secret after the interval', async () => {
    await start('${aws-sm:orders#password}', { refresh_interval: '30ms' });
    secrets['orders'] = { SecretString: '{"password":"rotated-secret"}' };
    await until(async () => (await value()) === 'rotated-secret');
  });

  it('takes the region from the environment', async () => {
    process.env['AWS_REGION'] = 'eu-west-1';
    await start('${aws-sm:orders#user}', { region: undefined });
    equal(await value(), 'app');
  });

  describe('with a role', () => {
    let sts: TestBackend;
    beforeEach(async () => {
      const end = new Date(Date.now() + 3_600_000).toISOString();
      const issued = {
        AccessKeyId: ROLE.accessKeyId,
        SecretAccessKey: ROLE.secretAccessKey,
        SessionToken: 'role-token',
      };
      const fields = Object.entries({ ...issued, Expiration: end }).map(([name, text]) => `<${name}>${text}</${name}>`);
      sts = await startBackend((_seen, response) => void response.end(`<Credentials>${fields.join('')}</Credentials>`));
      process.env['AWS_ENDPOINT_URL_STS'] = sts.url;
      keys = ROLE;
    });
    afterEach(() => sts.close());

    it('fetches secrets with the credentials of the role, which is assumed in the region of the secrets', async () => {
      delete process.env['AWS_REGION'];
      process.env['AWS_DEFAULT_REGION'] = 'eu-west-1';
      await start('${aws-sm:orders#user}', { region: undefined, assume_role_arn: 'arn:aws:iam::123456789012:role/a' });
      equal(await value(), 'app');
      match(sts.requests[0]!.headers.authorization!, /AKIDEXAMPLE\/\d{8}\/eu-west-1\/sts\//);
      equal(server.requests[0]!.headers['x-amz-security-token'], 'role-token');
    });

    it('masks the token of the role in the reason of a rejection', async () => {
      failure = [400, '{"__type":"InvalidSignatureException","message":"x-amz-security-token:role-token"}'];
      const role = { assume_role_arn: 'arn:aws:iam::123456789012:role/a' };
      await rejects(start('${aws-sm:orders}', role), (error: Error) => {
        match(error.message, /InvalidSignatureException: x-amz-security-token:\*\*\*/);
        doesNotMatch(error.message, /role-token/);
        return true;
      });
    });
  });

  for (const [title, reference, response, message] of [
    ['a missing secret', '${aws-sm:none}', null, /status 400: ResourceNotFoundException: Secrets Manager can't find/],
    ['a response without a value', '${aws-sm:orders}', [200, '{}'], /AWS returned no value/],
    ['a response that is not JSON', '${aws-sm:orders}', [200, '<html>'], /AWS returned no value/],
    ['an error without a code', '${aws-sm:orders}', [500, ''], /status 500/],
    ['an error whose code is not a text', '${aws-sm:orders}', [400, '{"__type":{},"message":[]}'], /: status 400/],
    ['a redirect', '${aws-sm:orders}', [307, ''], /status 307/],
    ['a response larger than 4 MiB', '${aws-sm:orders}', [200, `"${'x'.repeat(5 * 1024 * 1024)}"`], /cannot fetch/],
    ['the name of an inherited property', '${aws-sm:orders#__proto__}', null, /has no field "__proto__"/],
    [
      'a throttled request',
      '${aws-sm:orders}',
      [400, '{"__type":"ThrottlingException"}'],
      /status 503: ThrottlingException/,
    ],
  ] as const) {
    it(`rejects ${title}`, async () => {
      failure = response;
      await rejects(start(reference), message);
    });
  }

  it('rejects a server that does not respond in time', async () => {
    const silent = await startBackend(() => {});
    await rejects(
      start('${aws-sm:orders}', { endpoint: silent.url, timeout: '100ms' }),
      /cannot fetch \$\{aws-sm:orders\}/,
    );
    await silent.close();
  });

  for (const endpoint of ['localhost', 'https://user:password@localhost', 'https://localhost/?a=b']) {
    it(`rejects the endpoint ${endpoint}`, async () => {
      await rejects(
        start('x', { endpoint }),
        /SECRETS_MANAGER_ENDPOINT .* is not an http or https URL without a query/,
      );
    });
  }

  it('warns of an endpoint on another machine without TLS', async () => {
    await start('x', { endpoint: 'http://secrets.example.test' });
    deepEqual(
      gateway!.status.warnings.map(({ code, pointer }) => [code, pointer]),
      [['SECRETS_MANAGER_INSECURE', '/extra_config/secrets~1aws-sm/endpoint']],
    );
  });

  it('rejects a start without a region or credentials', async () => {
    Object.assign(process.env, { AWS_EC2_METADATA_DISABLED: 'true', AWS_CONFIG_FILE: '/nowhere', HOME: '/nowhere' });
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_REGION', 'AWS_DEFAULT_REGION']) {
      delete process.env[name];
    }
    await rejects(start('${aws-sm:orders}', { region: undefined }), /no valid AWS region: set "region" or AWS_REGION/);
    await rejects(start('${aws-sm:orders}'), (error: Error) => {
      match(error.message, /no AWS credentials in the environment/);
      return true;
    });
  });
});
