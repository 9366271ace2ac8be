import { deepEqual, equal, rejects } from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock } from 'node:test';
import { BackendError, HeaderBag, type PipeRequest, Reply } from '#contract';
import { CredentialChain, defaultRegion } from '../../../../plugins/clients/aws/credentials.ts';
import type { AwsCredentials } from '../../../../plugins/clients/aws/sigv4.ts';

type Answer = (request: PipeRequest) => [status: number, body: string] | null;

describe('AWS credentials', () => {
  let folder: string;
  let files: Record<string, string>;
  const requested: string[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-aws-'));
    files = {
      AWS_CONFIG_FILE: join(folder, 'config'),
      AWS_SHARED_CREDENTIALS_FILE: join(folder, 'credentials'),
      AWS_EC2_METADATA_DISABLED: 'true',
    };
    requested.length = 0;
    mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-01-01T00:00:00Z') });
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
    mock.timers.reset();
  });

  const pass = (ms: number) => mock.timers.setTime(Date.now() + ms);

  function chain(environment: Record<string, string>, answer: Answer = () => null): { get(): Promise<AwsCredentials> } {
    const credentials = new CredentialChain({ ...files, ...environment });
    const send = (request: PipeRequest) => {
      const { method, origin, target, headers } = request;
      requested.push(`${method} ${origin}${target} ${headers.list.join()}`);
      const given = answer(request);
      if (given === null) return Reply.failed(new BackendError('BACKEND_REFUSED', 'refused'));
      return Reply.raw(given[0], new HeaderBag(), Buffer.from(given[1]));
    };
    return { get: () => credentials.get(send) };
  }

  const handed = (id: string, end: string) =>
    JSON.stringify({ AccessKeyId: id, SecretAccessKey: 's', Token: 't', Expiration: end });

  it('are read from the environment first', async () => {
    const environment = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', AWS_SESSION_TOKEN: 'c' };
    deepEqual(await chain(environment).get(), { accessKeyId: 'a', secretAccessKey: 'b', sessionToken: 'c' });
  });

  it('are read from the shared files, with the profile of the environment', async () => {
    writeFileSync(
      join(folder, 'credentials'),
      '[default]\naws_access_key_id = d1\naws_secret_access_key=d2\n\n[dev]\naws_access_key_id=v1\naws_secret_access_key = a=b\n',
    );
    writeFileSync(
      join(folder, 'config'),
      '# comment\n[default]\nregion = eu-west-1\n[profile dev]\nregion=eu-west-2\naws_session_token = x\n',
    );
    deepEqual(await chain({}).get(), { accessKeyId: 'd1', secretAccessKey: 'd2' });
    const dev = { AWS_PROFILE: 'dev' };
    deepEqual(await chain(dev).get(), { accessKeyId: 'v1', secretAccessKey: 'a=b', sessionToken: 'x' });
    deepEqual(
      [
        await defaultRegion(files),
        await defaultRegion({ ...files, ...dev }),
        await defaultRegion({ ...files, AWS_REGION: 'r' }),
      ],
      ['eu-west-1', 'eu-west-2', 'r'],
    );
  });

  it('are requested from the container credentials endpoint with its token', async () => {
    const url = 'http://127.0.0.1:1/creds?a=1';
    const environment = { AWS_CONTAINER_CREDENTIALS_FULL_URI: url, AWS_CONTAINER_AUTHORIZATION_TOKEN: 'secret' };
    const { accessKeyId } = await chain(environment, () => [200, handed('k', '2026-01-01T01:00:00Z')]).get();
    deepEqual([accessKeyId, requested], ['k', [`GET ${url} Authorization,secret`]]);
    await chain({ AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/x' }, () => [200, handed('k', '')]).get();
    equal(requested[1], 'GET http://169.254.170.2/v2/x ');
  });

  it('are requested from the instance metadata service with a session token (IMDSv2)', async () => {
    const environment = { AWS_EC2_METADATA_DISABLED: '', AWS_EC2_METADATA_SERVICE_ENDPOINT: 'http://127.0.0.1:1/' };
    const answer: Answer = ({ method, target }) => {
      if (method === 'PUT') return [200, 'tok'];
      return target.endsWith('/role') ? [200, handed('m', '2026-01-01T06:00:00Z')] : [200, 'role\n'];
    };
    const { accessKeyId, sessionToken } = await chain(environment, answer).get();
    deepEqual([accessKeyId, sessionToken, requested.length], ['m', 't', 3]);
    equal(
      requested[2],
      'GET http://127.0.0.1:1/latest/meta-data/iam/security-credentials/role X-aws-ec2-metadata-token,tok',
    );
  });

  it('are requested once for concurrent users, and again five minutes before they expire', async () => {
    let turn = 0;
    const found = chain({ AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://127.0.0.1:1/' }, () => [
      200,
      handed(`k${++turn}`, new Date(Date.now() + 3_600_000).toISOString()),
    ]);
    const all = await Promise.all([found.get(), found.get(), found.get()]);
    deepEqual(new Set(all.map(({ accessKeyId }) => accessKeyId)), new Set(['k1']));
    pass(54 * 60_000);
    equal((await found.get()).accessKeyId, 'k1');
    pass(2 * 60_000);
    equal((await found.get()).accessKeyId, 'k2');
  });

  it('are used until they expire if they cannot be refreshed', async () => {
    let isDown = false;
    const end = Date.now() + 3_600_000;
    const found = chain({ AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://127.0.0.1:1/' }, () =>
      isDown ? null : [200, handed('k1', new Date(end).toISOString())],
    );
    await found.get();
    isDown = true;
    for (const minutes of [56, 3]) {
      pass(minutes * 60_000);
      equal((await found.get()).accessKeyId, 'k1');
    }
    pass(60_000);
    await rejects(found.get(), BackendError);
  });

  it('are requested over the connections of the component that needs them', async () => {
    const credentials = new CredentialChain({ ...files, AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://127.0.0.1:1/' });
    const senders: string[] = [];
    const sender = (name: string) => () => {
      senders.push(name);
      return Reply.raw(200, new HeaderBag(), Buffer.from(handed('k', new Date(Date.now()).toISOString())));
    };
    await credentials.get(sender('of a configuration that is gone'));
    pass(1001);
    await credentials.get(sender('of the one that serves'));
    deepEqual(senders, ['of a configuration that is gone', 'of the one that serves']);
  });

  it('are looked up again after a failure even if the clock was set back by an hour', async () => {
    const found = chain({});
    await rejects(found.get(), { code: 'AWS_CREDENTIALS' });
    writeFileSync(join(folder, 'credentials'), '[default]\naws_access_key_id=a\naws_secret_access_key=b\n');
    pass(-3_600_000);
    equal((await found.get()).accessKeyId, 'a');
  });

  it('and the region are reported as a failure, not as absent, if a shared file is temporarily unreadable', async () => {
    symlinkSync('config', join(folder, 'config'));
    const failure = { code: 'AWS_CREDENTIALS', message: /^cannot read .*config$/ };
    await rejects(chain({}).get(), failure);
    await rejects(defaultRegion(files), failure);
  });

  it('if absent, lead to an error with its own code, and are looked up again a second later', async () => {
    const found = chain({});
    await rejects(found.get(), { code: 'AWS_CREDENTIALS' });
    writeFileSync(join(folder, 'credentials'), '[default]\naws_access_key_id=a\naws_secret_access_key=b\n');
    await rejects(found.get(), { code: 'AWS_CREDENTIALS' });
    pass(1001);
    equal((await found.get()).accessKeyId, 'a');
  });

  for (const [what, given] of [
    ['responds with an error', [500, '']],
    ['responds with other data', [200, '<html>']],
    ['responds with null', [200, 'null']],
    ['does not respond', null],
  ] as const) {
    it(`fail if the service ${what}`, () =>
      rejects(
        chain({ AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://127.0.0.1:1/' }, () => given as never).get(),
        BackendError,
      ));
  }
});
