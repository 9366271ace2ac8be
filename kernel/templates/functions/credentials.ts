import { createHmac, createPrivateKey, generateKeyPairSync, scryptSync, X509Certificate } from 'node:crypto';
import { createRequire } from 'node:module';
import { Failure } from '../budget.ts';
import { bounded, type Functions } from '../function.ts';
import type { Run } from '../run.ts';

/**
 * Functions for keys and passwords. They block the process for up to a second, so they are available only to templates
 * that are executed once, not for each request.
 */
export const credentialFunctions: Functions = {
  bcrypt: bounded('string', (run, password) => hashed(run, password)),
  htpasswd: bounded('string string', (run, user, password) => {
    if (user.includes(':')) throw new Failure('a user name must not contain a colon');
    return `${user}:${hashed(run, password)}`;
  }),
  genPrivateKey: bounded('string', (run, kind) => {
    takeTime(run);
    const make = keyMakers[kind];
    if (!make) throw new Failure(`cannot make a key of the kind "${kind}": use rsa, ecdsa or ed25519`);
    return make();
  }),
  derivePassword: bounded('int string string string string', (run, counter, kind, password, user, site) => {
    takeTime(run);
    return derived(counter, kind, password, user, site);
  }),
  buildCustomCert: bounded('string string', (_run, certificate, key) => {
    const [Cert, Key] = [certificate, key].map((text) => Buffer.from(text, 'base64').toString());
    try {
      if (!new X509Certificate(Cert!).checkPrivateKey(createPrivateKey(Key!)))
        throw new Error('the certificate and the private key do not match');
    } catch (error) {
      throw new Failure(
        `the arguments must be a certificate and a private key in PEM format, encoded in base64: ${(error as Error).message}`,
      );
    }
    return { Cert, Key };
  }),
};

/** The clock is checked first, because one of these functions takes longer than all steps between two checks. */
function takeTime(run: Run): void {
  run.budget.spend(1024);
}

const BCRYPT_COST = 10;

function hashed(run: Run, password: string): string {
  takeTime(run);
  const { hashSync, truncates } = createRequire(import.meta.url)('bcryptjs') as typeof import('bcryptjs');
  if (truncates(password)) throw new Failure('bcrypt does not support passwords of more than 72 bytes');
  return hashSync(password, BCRYPT_COST);
}

const rsa = () => {
  const privateKeyEncoding = { type: 'pkcs1', format: 'pem' } as const;
  return generateKeyPairSync('rsa', {
    modulusLength: 4096,
    privateKeyEncoding,
    publicKeyEncoding: { type: 'pkcs1', format: 'pem' },
  }).privateKey;
};

const keyMakers: Readonly<Record<string, () => string>> = {
  __proto__: null as never,
  '': rsa,
  rsa,
  ecdsa: () =>
    generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      privateKeyEncoding: { type: 'sec1', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    }).privateKey,
  ed25519: () =>
    generateKeyPairSync('ed25519', {
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    }).privateKey,
};

/** Password templates of the Master Password algorithm; each letter represents one of its characters. */
const FORMS: Readonly<Record<string, string>> = {
  __proto__: null as never,
  maximum: 'anoxxxxxxxxxxxxxxxxx axxxxxxxxxxxxxxxxxno',
  long:
    'CvcvnoCvcvCvcv CvcvCvcvnoCvcv CvcvCvcvCvcvno CvccnoCvcvCvcv CvccCvcvnoCvcv CvccCvcvCvcvno CvcvnoCvccCvcv ' +
    'CvcvCvccnoCvcv CvcvCvccCvcvno CvcvnoCvcvCvcc CvcvCvcvnoCvcc CvcvCvcvCvccno CvccnoCvccCvcv CvccCvccnoCvcv ' +
    'CvccCvccCvcvno CvcvnoCvccCvcc CvcvCvccnoCvcc CvcvCvccCvccno CvccnoCvcvCvcc CvccCvcvnoCvcc CvccCvcvCvccno',
  medium: 'CvcnoCvc CvcCvcno',
  short: 'Cvcn',
  basic: 'aaanaaan aannaaan aaannaaa',
  pin: 'nnnn',
};
const VOWELS = 'AEIOU';
const CONSONANTS = 'BCDFGHJKLMNPQRSTVWXYZ';
const LETTERS = VOWELS + VOWELS.toLowerCase() + CONSONANTS + CONSONANTS.toLowerCase();
const CHARACTERS: Readonly<Record<string, string>> = {
  V: VOWELS,
  C: CONSONANTS,
  v: VOWELS.toLowerCase(),
  c: CONSONANTS.toLowerCase(),
  a: LETTERS,
  n: '0123456789',
  o: "@&%?,=[]_:-+*$#!'^~;()/.",
  x: `${LETTERS}0123456789!@#$%^&*()`,
};

function derived(counter: number, kind: string, password: string, user: string, site: string): string {
  const forms = FORMS[kind]?.split(' ');
  if (!forms) throw new Failure(`unknown password type "${kind}"`);
  if (counter < 0 || counter > 0xffff_ffff) throw new Failure(`${counter} is not a valid counter`);
  const cost = { N: 32_768, r: 8, p: 2, maxmem: 64 * 1024 * 1024 };
  const key = scryptSync(password, seedOf(user), 64, cost);
  const digest = createHmac('sha256', key)
    .update(Buffer.concat([seedOf(site), number32(counter)]))
    .digest();
  const form = forms[digest[0]! % forms.length]!;
  return [...form]
    .map((sign, index) => {
      const characters = CHARACTERS[sign]!;
      return characters[digest[index + 1]! % characters.length]!;
    })
    .join('');
}

function seedOf(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from('com.lyndir.masterpassword'), number32(bytes.length), bytes]);
}

function number32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
