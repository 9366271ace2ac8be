import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createPlainServer, request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { BackendError, ByteStream, HeaderBag, type HttpSigner, type PipeRequest, Reply } from '#contract';
import { type Harness, type HarnessOptions, openHarness, type TestRequest } from '../../../../kernel/testing/index.ts';
import { Clocks } from '../../../../plugins/auth/aws-sigv4/clocks.ts';
import { plugin } from '../../../../plugins/auth/aws-sigv4/index.ts';
import { signAws } from '../../../../plugins/clients/aws/sigv4.ts';
import { makeCertificates } from '../../../support/certificates.ts';
import { json, startBackend, startGateway } from '../../../support/gateway.ts';
import { rememberingLog } from '../../../support/log.ts';

const identity = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const scope = { region: 'us-east-1', service: 'execute-api' };
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('auth/aws-sigv4', () => {
  const names = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_EC2_METADATA_DISABLED'];
  names.push('AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE', 'AWS_WEB_IDENTITY_TOKEN_FILE', 'AWS_ROLE_ARN');
  const before_ = Object.fromEntries(names.map((name) => [name, process.env[name]]));
  const harnesses: Harness[] = [];
  let sent: PipeRequest[];
  let requested: { request: PipeRequest; form: URLSearchParams }[];
  let sts: () => Reply;
  let backend: () => Reply;

  const setEnvironment = (more: Record<string, string> = {}) => {
    for (const name of names) delete process.env[name];
    const none = { AWS_EC2_METADATA_DISABLED: 'true', AWS_CONFIG_FILE: '/none', AWS_SHARED_CREDENTIALS_FILE: '/none' };
    Object.assign(process.env, none, more);
  };
  const withKeys = {
    AWS_ACCESS_KEY_ID: identity.accessKeyId,
    AWS_SECRET_ACCESS_KEY: identity.secretAccessKey,
  };

  beforeEach(() => {
    sent = [];
    requested = [];
    setEnvironment(withKeys);
    backend = () => Reply.raw(200, new HeaderBag(), null);
    sts = () => Reply.raw(200, new HeaderBag(), Buffer.from(credentials('ASIA1', 3600)));
  });
  afterEach(async () => {
    for (const one of harnesses.splice(0)) deepEqual(await one.close(), { kept: 0, deferred: 0 });
  });
  after(() => {
    setEnvironment();
    for (const [name, value] of Object.entries(before_)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  function credentials(id: string, seconds: number): string {
    const end = new Date(Date.now() + seconds * 1000).toISOString();
    return `<R><Credentials><AccessKeyId>${id}</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>tok</SessionToken><Expiration>${end}</Expiration></Credentials></R>`;
  }

  const open = async (config: object = {}, options: HarnessOptions = {}) => {
    const gate = await openHarness(
      plugin,
      'backend',
      { ...scope, ...config },
      {
        next: async (request) => {
          if (request.origin.includes('sts.')) {
            const body = Buffer.from((await request.body?.bytes()) ?? []).toString();
            requested.push({ request, form: new URLSearchParams(body) });
            return sts();
          }
          sent.push(request);
          return backend();
        },
        ...options,
      },
    );
    harnesses.push(gate);
    return gate;
  };
  const send = async (gate: Harness, request: TestRequest = 'GET /') => gate.send(request);
  const headerOf = (name: string) => sent.at(-1)!.headers.getAll(name);

  /** The signature of the sent request, calculated for its date. */
  function expected(method: string, target: string, headers: [string, string][], body: string, who: object = identity) {
    const time = headerOf('x-amz-date')[0]!;
    const at = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
    const request = { method, host: 'backend.test', target, headers, body: Buffer.from(body) };
    return signAws(request, { ...identity, ...who }, scope, at).headers.at(-1)![1];
  }

  it('signs the host, date and content type of the request', async () => {
    await send(await open());
    deepEqual(headerOf('authorization'), [expected('GET', '', [], '')]);
    match(headerOf('authorization')[0]!, /SignedHeaders=host;x-amz-date, Signature=[0-9a-f]{64}$/);
  });

  it('signs the bytes of the body', async () => {
    const log = rememberingLog();
    const request = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' };
    await send(await open({ debug: true }, { services: { log } }), request);
    deepEqual(headerOf('authorization'), [expected('POST', '', [['Content-Type', 'application/json']], '{}')]);
    ok(
      log.lines.some((line) => line.includes(sha256('{}'))),
      log.lines.join('\n'),
    );
  });

  it('sends and signs the session token of temporary credentials, and never logs it', async () => {
    setEnvironment({ ...withKeys, AWS_SESSION_TOKEN: 'temporary-token' });
    const log = rememberingLog();
    await send(await open({ debug: true }, { services: { log } }));
    deepEqual(headerOf('x-amz-security-token'), ['temporary-token']);
    match(headerOf('authorization')[0]!, /SignedHeaders=host;x-amz-date;x-amz-security-token,/);
    deepEqual(headerOf('authorization'), [expected('GET', '', [], '', { sessionToken: 'temporary-token' })]);
    equal(log.lines.length, 2);
    for (const secret of ['temporary-token', identity.secretAccessKey]) ok(!log.lines.join().includes(secret));
  });

  it('replaces AWS headers of the client and signs headers set by other components', async () => {
    const wrapped = await open();
    const request = {
      headers: { Authorization: 'mine', 'X-Amz-Date': 'old', 'x-amz-target': 'evil', 'X-Amz-Security-Token': 'mine' },
    };
    await send(wrapped, request);
    match(headerOf('x-amz-date').join(), /^\d{8}T\d{6}Z$/);
    deepEqual(
      [headerOf('x-amz-target'), headerOf('x-amz-security-token'), headerOf('authorization').length],
      [[], [], 1],
    );
    const signer = wrapped.attached.offers![0]!.value as HttpSigner;
    const headers = new HeaderBag(['X-Amz-Target', 'Orders.Get', 'Accept', 'x', 'X-Forwarded-For', '::1']);
    await signer.sign(attempt({ headers }), callWithout());
    match(headers.get('authorization')!, /SignedHeaders=host;x-amz-date;x-amz-target,/);
  });

  const attempt = (more: object = {}) => ({
    method: 'GET',
    origin: 'https://backend.test',
    target: '/',
    host: 'backend.test',
    headers: new HeaderBag(),
    body: null,
    redirects: 0,
    ...more,
  });
  const callWithout = () => ({ get: () => undefined }) as never;

  it('signs every attempt separately, and does not sign requests to other hosts', async () => {
    const { attached } = await open();
    const signer = attached.offers![0]!.value as HttpSigner;
    const signing = { host: null };
    const call = { get: () => signing } as never;
    const headers = new HeaderBag();
    await signer.sign(attempt({ headers }), call);
    await signer.sign(attempt({ headers, redirects: 1, target: '/moved' }), call);
    deepEqual(headers.getAll('authorization').length, 1);
    await rejects(signer.sign(attempt({ redirects: 2, host: 'evil.test' }), call) as Promise<void>, {
      code: 'AWS_REDIRECT',
    });
  });

  it('does not call the backend without credentials, and looks them up again later', async () => {
    setEnvironment();
    const { status, errors } = await send(await open());
    deepEqual([status, errors[0]?.code, sent.length], [500, 'AWS_CREDENTIALS', 0]);
  });

  it('assumes its role once for many requests, signed with its own credentials', async () => {
    const gate = await open({ assume_role_arn: 'arn:aws:iam::1:role/r', sts_region: 'eu-west-1' });
    await Promise.all([send(gate), send(gate), send(gate)]);
    equal(requested.length, 1);
    const { request, form } = requested[0]!;
    equal(request.origin, 'https://sts.eu-west-1.amazonaws.com');
    match(request.headers.get('authorization')!, /Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/sts\/aws4_request/);
    deepEqual(
      [form.get('Action'), form.get('RoleArn'), form.get('RoleSessionName'), form.get('DurationSeconds')],
      ['AssumeRole', 'arn:aws:iam::1:role/r', 'sluice-0.0.0', '3600'],
    );
    for (const { headers } of sent) match(headers.get('authorization')!, /Credential=ASIA1\//);
    deepEqual(headerOf('x-amz-security-token'), ['tok']);
    await gate.reload({ ...scope, assume_role_arn: 'arn:aws:iam::1:role/r', sts_region: 'eu-west-1' });
    await send(gate);
    equal(requested.length, 1);
  });

  it('assumes its role again before the temporary credentials expire', async () => {
    sts = () => Reply.raw(200, new HeaderBag(), Buffer.from(credentials(`ASIA${requested.length}`, 299)));
    const gate = await open({ assume_role_arn: 'arn:aws:iam::1:role/r' });
    await send(gate);
    equal(requested[0]!.request.origin, 'https://sts.us-east-1.amazonaws.com');
    match(headerOf('authorization')[0]!, /Credential=ASIA1\//);
  });

  for (const [what, answer, text] of [
    [
      'refuses',
      () => raw(403, '<E><Code>AccessDenied</Code><Message>secret thing</Message></E>'),
      /403, AccessDenied$/,
    ],
    ['responds without credentials', () => raw(200, '<R/>'), /no credentials/],
    ['cannot be reached', () => Reply.failed(new BackendError('BACKEND_REFUSED', 'refused')), /refused/],
  ] as const) {
    it(`does not call the backend if STS ${what}, and logs the reason`, async () => {
      sts = answer;
      const { status, errors } = await send(await open({ assume_role_arn: 'arn:aws:iam::1:role/r' }));
      equal(status, 500);
      match(errors[0]!.message, text);
      equal(sent.length, 0);
    });
  }

  function raw(status: number, body: string): Reply {
    return Reply.raw(status, new HeaderBag(), Buffer.from(body));
  }

  it("assumes a role with the platform's web identity token", async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-aws-'));
    const file = join(folder, 'token');
    writeFileSync(file, 'web-token\n');
    setEnvironment({ AWS_WEB_IDENTITY_TOKEN_FILE: file, AWS_ROLE_ARN: 'arn:aws:iam::1:role/pod' });
    await send(await open());
    rmSync(folder, { recursive: true });
    const { request, form } = requested[0]!;
    deepEqual(
      [form.get('Action'), form.get('WebIdentityToken'), form.get('RoleArn')],
      ['AssumeRoleWithWebIdentity', 'web-token', 'arn:aws:iam::1:role/pod'],
    );
    equal(request.headers.get('authorization'), undefined);
    match(headerOf('authorization')[0]!, /Credential=ASIA1\//);
  });

  it('rejects a body larger than 10 MiB, with or without Content-Length', async () => {
    const body = new Uint8Array(10 * 1024 * 1024 + 1);
    const { status, errors } = await send(await open(), { method: 'POST', body });
    deepEqual([status, errors[0]?.code, sent.length], [500, 'AWS_BODY', 0]);
  });

  describe('clock skew', () => {
    const signedAt = (): number => {
      const [date] = headerOf('x-amz-date');
      return Date.parse(date!.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
    };
    const refusal = (seconds: number, headers: readonly string[] = [], body: string | null = null, status = 403) => {
      const date = new Date(Date.now() + seconds * 1000).toUTCString();
      const stream = body === null ? null : ByteStream.from(Readable.from([Buffer.from(body)]));
      return Reply.raw(status, new HeaderBag(['Date', date, ...headers]), stream);
    };
    const expired = ['X-Amzn-ErrorType', 'InvalidSignatureException'];

    it("is calculated from AWS's clock if it causes AWS to reject a signature, with one warning", async () => {
      const log = rememberingLog();
      backend = () => refusal(3600, expired);
      const gate = await open({}, { services: { log } });
      await send(gate);
      await send(gate);
      ok(Math.abs(signedAt() - Date.now() - 3_600_000) < 60_000);
      equal(log.lines.length, 1);
      match(log.lines[0]!, /WARNING \[AWSSigV4\] the local clock differs from AWS \(.+\) by 3(?:599|600) seconds/);
    });

    const xml = '<Error><Code>RequestTimeTooSkewed</Code></Error>';
    for (const [what, answer, aheadMs] of [
      ['is corrected for an XML error code', refusal(3600, ['Content-Type', 'application/xml'], xml), 3_600_000],
      ['is corrected for a JSON error code with status 400', refusal(-3600, expired, null, 400), -3_600_000],
      ['is not corrected for other error codes', refusal(-3600, ['X-Amzn-ErrorType', 'AccessDeniedException']), 0],
      ['is not corrected for an error without a code', refusal(-3600), 0],
      ['is not affected by a response that a proxy cached', refusal(-3600, [...expired, 'Age', '3600']), 0],
    ] as const) {
      it(what, async () => {
        backend = () => answer;
        const gate = await open();
        await send(gate);
        await send(gate);
        ok(Math.abs(signedAt() - Date.now() - aheadMs) < 60_000);
      });
    }

    it('does not consume the body of the response', async () => {
      backend = () => refusal(3600, ['Content-Type', 'application/xml'], xml);
      const { body } = await send(await open());
      equal(Buffer.from(body as Uint8Array).toString(), xml);
    });

    it('is kept separately for each host', () => {
      const clocks = new Clocks();
      clocks.set('a', 1000);
      deepEqual([clocks.skewOf('a'), clocks.skewOf('b')], [1000, 0]);
    });
  });

  for (const [what, config] of Object.entries({
    'no region': { region: undefined },
    'an empty service': { service: '' },
    'keys in the configuration': { access_key_id: 'a' },
  })) {
    it(`is rejected with ${what}`, () => rejects(open(config), { code: 'CONFIG_INVALID' }));
  }

  describe('in a gateway', () => {
    it('signs the final request after all other components, with a hash of the body for S3', async () => {
      const target = await startBackend(json({ ok: true }));
      const gateway = await startGateway({
        endpoints: [
          {
            endpoint: '/put',
            method: 'PUT',
            input_headers: ['*'],
            backend: [
              {
                host: [target.url],
                url_pattern: '/bucket/a%20b?x=1',
                extra_config: {
                  'auth/aws-sigv4': { region: 'us-east-1', service: 's3' },
                  'modifier/martian': {
                    'header.Modifier': { scope: ['request'], name: 'X-Amz-Acl', value: 'private' },
                  },
                },
              },
            ],
          },
        ],
      });
      const headers = { authorization: 'mine', 'content-type': 'text/plain' };
      const { statusCode } = await gateway.inject({ method: 'PUT', url: '/put', payload: 'hello', headers });
      await gateway.close();
      await target.close();
      equal(statusCode, 200);
      const seen = target.requests[0]!;
      equal(seen.headers['x-amz-content-sha256'], sha256('hello'));
      match(
        seen.headers.authorization!,
        /SignedHeaders=content-type;host;x-amz-acl;x-amz-content-sha256;x-amz-date, Signature=/,
      );
      equal(seen.headers['x-amz-acl'], 'private');
    });

    describe('with a body for S3', () => {
      const certificates = makeCertificates();
      const pair = certificates.issue('s3', certificates.authority('authority'));
      let seen: { hash: unknown; signed: string; bytes: number } | undefined;
      const server = createServer({ cert: pair.certificatePem, key: pair.privateKeyPem }, (message, response) => {
        buffer(message).then((bytes) => {
          const { 'x-amz-content-sha256': hash, authorization = '' } = message.headers;
          seen = { hash, signed: /SignedHeaders=([^,]*)/.exec(authorization)?.[1] ?? '', bytes: bytes.length };
          response.end('{}');
        });
      });
      const plain = createPlainServer((message, response) => server.emit('request', message, response));
      before(async () => {
        for (const each of [server, plain]) await once(each.listen(0, '127.0.0.1'), 'listening');
      });
      after(async () => {
        for (const each of [server, plain]) await once(each.close(), 'close');
        certificates.remove();
      });
      beforeEach(() => {
        seen = undefined;
      });

      const MAX = 10 * 1024 * 1024;
      for (const [title, secure, length, isSaid, hash] of [
        ['without Content-Length is streamed unsigned over TLS', true, 5, false, 'UNSIGNED-PAYLOAD'],
        ['larger than the signing limit is streamed unsigned over TLS', true, MAX + 1, true, 'UNSIGNED-PAYLOAD'],
        ['within the signing limit is signed, even over TLS', true, 5, true, sha256('aaaaa')],
        ['is signed without TLS, with or without Content-Length', false, 5, false, sha256('aaaaa')],
        ['larger than the signing limit is rejected without TLS', false, MAX + 1, true, null],
      ] as const) {
        it(title, async () => {
          const { port } = (secure ? server : plain).address() as AddressInfo;
          const gateway = await startGateway({
            client_tls: { ca_certs: [pair.certificate.replace('s3.pem', 'authority.pem')] },
            endpoints: [
              {
                endpoint: '/put',
                method: 'PUT',
                backend: [
                  {
                    host: [`${secure ? 'https' : 'http'}://127.0.0.1:${port}`],
                    url_pattern: '/bucket/key',
                    extra_config: { 'auth/aws-sigv4': { region: 'us-east-1', service: 's3' } },
                  },
                ],
              },
            ],
          });
          const own = await gateway.listen();
          const headers = isSaid ? { 'content-length': length } : { 'transfer-encoding': 'chunked' };
          const requested = request({
            port: own.port,
            host: '127.0.0.1',
            method: 'PUT',
            path: '/put',
            headers,
            agent: false,
          });
          requested.on('error', () => {});
          requested.end(Buffer.alloc(length, 'a'));
          const [{ statusCode }] = await once(requested, 'response');
          await gateway.close();
          if (hash === null) deepEqual([statusCode, seen], [500, undefined]);
          else {
            deepEqual(seen, { hash, signed: 'host;x-amz-content-sha256;x-amz-date', bytes: length });
            equal(statusCode, 200);
          }
        });
      }
    });
  });
});
