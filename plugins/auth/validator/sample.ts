import { type KeyObject, randomUUID } from 'node:crypto';
import type { CreateSample, DataObject } from '#contract';
import { type AlgorithmName, algorithm, algorithmNames } from '../../clients/keys/algorithms.ts';
import { newKey } from '../../clients/keys/new-key.ts';
import { requiredClaims } from '../../shared/sample-claims/required-claims.ts';

const KEY_ID = 'sample';

/** Lifetime of a token, in seconds. */
const LIFETIME_S = 24 * 60 * 60;

/** Address of the folder of key sets. Each endpoint has a key of its own. */
const KEY_SERVER = 'http://keys.sample.invalid';

/** Settings of a key server that do not apply to the keys of a sandbox. */
const unset = { jwk_local_path: null, jwk_fingerprints: null, jwk_local_ca: null, secret_url: null, cypher_key: null };

/** Sends a token with the required claims, signed with a new key that the sandbox serves. */
export const sampleToken: CreateSample = (config) => {
  const name = algorithmNames.find((each) => each === config['alg']);
  if (name === undefined) return {};
  const { privateKey, jwk } = newKey(name);
  const now = Math.floor(Date.now() / 1000);
  const claims = { sub: 'sample', jti: 'sample', iat: now, exp: now + LIFETIME_S, ...requiredClaims(config) };
  const token = signed(name, privateKey, claims);
  const { auth_header_name: header } = config;
  const address = `${KEY_SERVER}/${randomUUID()}.json`;
  const keys = { keys: [{ ...jwk, kid: KEY_ID, alg: name, use: 'sig', x5t: KEY_ID, 'x5t#S256': KEY_ID }] };
  return {
    headers: { [typeof header === 'string' && header !== '' ? header : 'Authorization']: `Bearer ${token}` },
    settings: { ...unset, jwk_url: address, disable_jwk_security: true },
    documents: { [address]: keys },
  };
};

function signed(name: AlgorithmName, key: KeyObject, claims: DataObject): string {
  const header = { alg: name, typ: 'JWT', kid: KEY_ID, x5t: KEY_ID, 'x5t#S256': KEY_ID };
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${text}.${algorithm(name).sign(Buffer.from(text), key).toString('base64url')}`;
}
