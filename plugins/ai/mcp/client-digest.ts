import { hash } from 'node:crypto';
import { type Call, type ClientRequest, claimsSlot, type Data, type DataObject, getKey } from '#contract';
import { apiKeySlot } from '../../shared/callers/api-key.ts';
import { basicUserSlot } from '../../shared/callers/basic-user.ts';

/** Claims that differ between tokens of the same client, which the digest excludes. */
const ofOneToken = new Set(['exp', 'iat', 'nbf', 'jti', 'auth_time', 'nonce', 'at_hash', 'c_hash', 'sid']);

/**
 * Returns a digest that identifies the client and separates its state from that of other clients. It covers the subject
 * and issuer of the token, the API key, the user and the certificate. Empty at endpoints without authentication.
 * Different tokens of one client give the same digest.
 */
export function clientDigest({ certificate }: ClientRequest, call: Call): string {
  const claims = call.get(claimsSlot);
  const known = [
    claims ? identityOf(claims) : null,
    call.get(apiKeySlot) ?? null,
    call.get(basicUserSlot) ?? null,
    certificate?.fingerprint256 ?? null,
  ];
  return known.every((part) => part === null) ? '' : hash('sha256', JSON.stringify(known));
}

function identityOf(claims: Readonly<DataObject>): Data {
  const client = getKey(claims, 'client_id') ?? getKey(claims, 'azp');
  const subject = getKey(claims, 'sub');
  if (subject !== undefined || client !== undefined)
    return [getKey(claims, 'iss') ?? null, subject ?? null, client ?? null];
  return Object.entries(claims).filter(([name]) => !ofOneToken.has(name));
}
