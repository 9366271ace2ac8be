import { createSecretKey, generateKeyPairSync, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import { type CreateSample, type Data, type DataObject, setKey } from '#contract';
import { type AlgorithmName, algorithm, algorithmNames, type KeyKind } from '../../clients/keys/algorithms.ts';

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
  const token = signed(name, privateKey, claimsFor(config));
  const { auth_header_name: header } = config;
  const address = `${KEY_SERVER}/${randomUUID()}.json`;
  const keys = { keys: [{ ...jwk, kid: KEY_ID, alg: name, use: 'sig', x5t: KEY_ID, 'x5t#S256': KEY_ID }] };
  return {
    headers: { [typeof header === 'string' && header !== '' ? header : 'Authorization']: `Bearer ${token}` },
    settings: { ...unset, jwk_url: address, disable_jwk_security: true },
    documents: { [address]: keys },
  };
};

/** Creates a key for an algorithm. */
function newKey(name: AlgorithmName): { readonly privateKey: KeyObject; readonly jwk: DataObject } {
  const { kind, hashBytes } = algorithm(name);
  if (kind === 'oct') {
    const secret = randomBytes(hashBytes);
    return { privateKey: createSecretKey(secret), jwk: { kty: 'oct', k: secret.toString('base64url') } };
  }
  const { privateKey, publicKey } = pairs[kind]();
  return { privateKey, jwk: publicKey.export({ format: 'jwk' }) as DataObject };
}

const pairs: Readonly<
  Record<Exclude<KeyKind, 'oct'>, () => { readonly privateKey: KeyObject; readonly publicKey: KeyObject }>
> = {
  RSA: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  Ed25519: () => generateKeyPairSync('ed25519'),
  'P-256': () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  'P-384': () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  'P-521': () => generateKeyPairSync('ec', { namedCurve: 'P-521' }),
};

function signed(name: AlgorithmName, key: KeyObject, claims: DataObject): string {
  const header = { alg: name, typ: 'JWT', kid: KEY_ID, x5t: KEY_ID, 'x5t#S256': KEY_ID };
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${text}.${algorithm(name).sign(Buffer.from(text), key).toString('base64url')}`;
}

/** Claims that the configuration requires, with all listed roles and scopes. */
function claimsFor(config: Readonly<DataObject>): DataObject {
  const { issuer, audience, roles, roles_key: rolesKey, roles_key_is_nested: isNested } = config;
  const { scopes, scopes_key: scopesKey } = config;
  const now = Math.floor(Date.now() / 1000);
  const claims: DataObject = { sub: 'sample', jti: 'sample', iat: now, exp: now + LIFETIME_S };
  if (typeof issuer === 'string' && issuer !== '') setKey(claims, 'iss', issuer);
  if (Array.isArray(audience) && audience.length > 0) setKey(claims, 'aud', audience);
  if (Array.isArray(roles) && roles.length > 0) put(claims, rolesKey ?? 'roles', isNested === true, roles);
  if (Array.isArray(scopes) && scopes.length > 0) put(claims, scopesKey ?? '', true, scopes.join(' '));
  return claims;
}

/** Sets a claim. Dots access nested objects, unless the name starts with http. */
function put(claims: DataObject, key: Data, isNested: boolean, value: Data): void {
  if (typeof key !== 'string' || key === '') return;
  const steps = isNested && !key.startsWith('http') ? key.split('.') : [key];
  const last = steps.pop()!;
  let inner = claims;
  for (const step of steps) {
    const next: DataObject = {};
    setKey(inner, step, next);
    inner = next;
  }
  setKey(inner, last, value);
}
