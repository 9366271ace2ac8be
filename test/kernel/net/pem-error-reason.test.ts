import { equal } from 'node:assert/strict';
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { pemErrorReason } from '#contract';

const file = (name: string) => readFileSync(new URL(`../../corpus/files/${name}`, import.meta.url), 'utf8');

function problem(pem: string, use: (pem: string) => unknown): string {
  try {
    use(pem);
  } catch (cause) {
    return pemErrorReason(pem, cause);
  }
  throw new Error('was accepted');
}

const asCertificate = (pem: string) => new X509Certificate(pem);
const block = (label: string) => `-----BEGIN ${label}-----\nAAAA\n-----END ${label}-----\n`;

function encrypted(type: 'pkcs1' | 'pkcs8'): string {
  return generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type, format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' },
  }).privateKey;
}

describe('errors of a PEM file are explained in plain words', () => {
  for (const [title, pem, use, words] of [
    ['a text where a certificate should be', 'nothing', asCertificate, 'it is not PEM'],
    ['nothing where a certificate should be', '', asCertificate, 'it is not PEM'],
    ['a text where a key should be', 'nothing', createPrivateKey, 'it is not PEM'],
    ['a key where a certificate should be', block('EC PRIVATE KEY'), asCertificate, 'it contains a private key'],
    ['a certificate where a key should be', block('CERTIFICATE'), createPrivateKey, 'it contains a certificate'],
    ['a public key where a private one should be', block('PUBLIC KEY'), createPrivateKey, 'it contains a public key'],
    ['a damaged certificate', block('CERTIFICATE'), asCertificate, 'it is damaged'],
    ['a damaged key', block('PRIVATE KEY'), createPrivateKey, 'it is damaged'],
    ['a truncated certificate', block('CERTIFICATE').slice(0, -10), asCertificate, 'it is damaged'],
  ] as const) {
    it(`for ${title}`, () => equal(problem(pem, use), words));
  }
  for (const type of ['pkcs1', 'pkcs8'] as const) {
    it(`for an encrypted key in ${type}`, () => {
      const pem = encrypted(type);
      equal(problem(pem, createPrivateKey), 'the key is encrypted: store it without a passphrase');
      equal(
        problem(pem, (key) => createSecureContext({ key })),
        'the key is encrypted: store it without a passphrase',
      );
    });
  }
  it('for a key of another certificate', () => {
    const key = file('other.key');
    equal(
      problem(key, () => createSecureContext({ cert: file('shop.pem'), key })),
      'the key does not match the certificate',
    );
  });
  it('and with the original message if it is unknown', () =>
    equal(pemErrorReason('', new Error('something else')), 'something else'));
});
