import { deepEqual, equal, match } from 'node:assert/strict';
import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';
import { signAws } from '../../../../plugins/clients/aws/sigv4.ts';

const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const scope = { region: 'us-east-1', service: 'service' };
const at = Date.parse('2015-08-30T12:36:00Z');
const plain = { method: 'GET', host: 'example.amazonaws.com', target: '/', headers: [], body: null };

type Signed = Parameters<typeof signAws>[0];

function signatureOf(request: Partial<Signed>, given: object = {}, where = scope): string {
  const { headers } = signAws({ ...plain, ...request }, { ...credentials, ...given }, where, at);
  return headers.at(-1)![1];
}

/** The signature that the AWS SDK calculates. */
async function expected(request: Partial<Signed>, given: object = {}, where = scope): Promise<string> {
  const { method, host, target, headers, body } = { ...plain, ...request };
  const url = new URL(target, `https://${host}`);
  const query: Record<string, string[]> = {};
  for (const name of url.searchParams.keys()) query[name] = url.searchParams.getAll(name);
  const signer = new SignatureV4({
    ...where,
    credentials: { ...credentials, ...given },
    sha256: Sha256,
    uriEscapePath: where.service !== 's3',
    applyChecksum: where.service === 's3',
  });
  const signed = await signer.sign(
    {
      method,
      protocol: 'https:',
      hostname: host,
      path: target.split('?')[0]!,
      query,
      headers: { host, ...Object.fromEntries(headers) },
      body: body ?? undefined,
    },
    { signingDate: new Date(at) },
  );
  return signed.headers['authorization']!;
}

describe('AWS signatures', () => {
  it('match the published vector get-vanilla', () => {
    const { canonicalRequest, stringToSign, headers } = signAws(plain, credentials, scope, at);
    equal(
      canonicalRequest,
      'GET\n/\n\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\nhost;x-amz-date\n' +
        'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    );
    equal(
      stringToSign,
      'AWS4-HMAC-SHA256\n20150830T123600Z\n20150830/us-east-1/service/aws4_request\n' +
        'bb579772317eb040ac9ed261061d46c1f17a8133879d6129b6e1c25292927e63',
    );
    deepEqual(headers, [
      ['X-Amz-Date', '20150830T123600Z'],
      [
        'Authorization',
        'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, ' +
          'Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
      ],
    ]);
  });

  for (const [what, request, given, where] of [
    ['a path with encoded characters', { target: '/functions/arn%3Aaws%3Af/a%20b/~x' }],
    ['a path with a trailing slash', { target: '/a/b/' }],
    ['unsorted parameters', { target: '/?b=2&a=1&a=0&A=3&c' }],
    ['encoded parameters', { target: '/?q=a%20b%2Fc&%C3%BC=1' }],
    ['headers with white space', { headers: [['X-Amz-Meta', '  a   b  ']] as const }],
    [
      'headers in any order and case',
      {
        headers: [
          ['Content-Type', 'text/plain'],
          ['x-amz-a', '1'],
        ] as const,
      },
    ],
    ['a body', { method: 'POST', body: Buffer.from('{}') }],
    ['temporary credentials', {}, { sessionToken: 'token==' }],
    ['another region and service', { target: '/x' }, {}, { region: 'eu-west-1', service: 'lambda' }],
    ['S3, with an unmodified path', { target: '/a%20b/c%2Bd' }, {}, { region: 'eu-west-1', service: 's3' }],
  ] as const) {
    it(`match the AWS SDK for ${what}`, async () => {
      equal(signatureOf(request, given, where), await expected(request, given, where));
    });
  }

  it('contain the hash of exactly the bytes that are sent', () => {
    const { canonicalRequest } = signAws({ ...plain, method: 'POST', body: Buffer.from('{}') }, credentials, scope, at);
    match(canonicalRequest, /\n44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a$/);
  });

  it('join repeated headers, and treat + in a query as a space', () => {
    const headers = [
      ['X-Amz-A', '1'],
      ['x-amz-a', '2'],
    ] as const;
    match(signAws({ ...plain, headers }, credentials, scope, at).canonicalRequest, /\nx-amz-a:1,2\n/);
    const spaced = (target: string) => signAws({ ...plain, target }, credentials, scope, at).canonicalRequest;
    equal(spaced('/?a=b+c'), spaced('/?a=b%20c'));
  });

  it('use a separate signing key for each day and each set of credentials', () => {
    const first = signatureOf({});
    signAws(plain, { ...credentials, secretAccessKey: 'other' }, scope, at);
    equal(signatureOf({}), first);
    const later = signAws(plain, credentials, scope, at + 86_400_000).headers.at(-1)![1];
    match(later, /20150831/);
  });
});
