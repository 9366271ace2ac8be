import { createHmac, createSecretKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Attached } from './scenario.ts';

type Algorithm = 'HS256' | 'RS256' | 'ES256';

/** A token validator with one key, and a number of different tokens. Each has six claims and is valid for an hour. */
export function tokens(folder: string, alg: Algorithm, count: number): Attached {
  const { verifying, signing } = keysOf(alg);
  const keys = join(folder, `keys-${alg}.json`);
  writeFileSync(keys, JSON.stringify({ keys: [{ ...verifying.export({ format: 'jwk' }), kid: 'bench', alg }] }));
  const expiry = Math.floor(Date.now() / 1000) + 3600;
  const headers = Array.from({ length: count }, (_, index) => ({
    authorization: `Bearer ${token(alg, signing, { sub: `user-${index}`, exp: expiry })}`,
  }));
  return {
    endpoint: {
      'auth/validator': {
        alg,
        jwk_local_path: keys,
        issuer: 'https://id.example.com',
        audience: ['bench'],
        roles: ['reader'],
      },
    },
    headers,
  };
}

function keysOf(alg: Algorithm): { readonly verifying: KeyObject; readonly signing: KeyObject } {
  if (alg === 'HS256') {
    const key = createSecretKey(randomBytes(32));
    return { verifying: key, signing: key };
  }
  const { publicKey, privateKey } =
    alg === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { verifying: publicKey, signing: privateKey };
}

function token(alg: Algorithm, key: KeyObject, claims: object): string {
  const text = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const payload = { iss: 'https://id.example.com', aud: ['bench'], roles: ['reader'], name: 'Ada Lovelace', ...claims };
  const signed = `${text({ alg, kid: 'bench', typ: 'JWT' })}.${text(payload)}`;
  return `${signed}.${signature(alg, key, signed).toString('base64url')}`;
}

function signature(alg: Algorithm, key: KeyObject, text: string): Buffer {
  if (alg === 'HS256') return createHmac('sha256', key).update(text).digest();
  return sign('sha256', Buffer.from(text), alg === 'ES256' ? { key, dsaEncoding: 'ieee-p1363' } : key);
}
