import { createHmac, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Attached } from './scenario.ts';

/** A request whose signature with HMAC covers its method and path. */
export function httpSignature(folder: string): Attached {
  const secret = randomBytes(32);
  const path = join(folder, 'signature-keys.json');
  writeFileSync(path, JSON.stringify({ keys: [{ kty: 'oct', kid: 'bench', k: secret.toString('base64url') }] }));
  const params = `("@method" "@path");created=${Math.floor(Date.now() / 1000)};keyid="bench"`;
  const base = `"@method": GET\n"@path": /bench/http-signature\n"@signature-params": ${params}`;
  const signature = createHmac('sha256', secret).update(base).digest('base64');
  return {
    endpoint: {
      'auth/http-signatures': {
        alg: 'HS256',
        jwk_local_path: path,
        required_components: ['@method', '@path'],
        max_age: '24h',
      },
    },
    headers: [{ 'signature-input': `sig=${params}`, signature: `sig=:${signature}:` }],
  };
}
