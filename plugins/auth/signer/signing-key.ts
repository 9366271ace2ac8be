import type { KeyObject } from 'node:crypto';
import { type EndpointSite, findNear, type Log } from '#contract';
import { algorithm } from '../../clients/keys/algorithms.ts';
import { keySource } from '../../clients/keys/key-aggregator.ts';
import { localKeys } from '../../clients/keys/key-file.ts';
import { KeySet } from '../../clients/keys/key-set.ts';
import { delay } from '../lib/delay.ts';
import type { SignerConfig } from './schema.ts';

/** Delays between attempts to download a key, in milliseconds: the first one is doubled up to the maximum. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

/** Key for signing. */
export interface SigningKey {
  /** The key; null while it is not available. */
  readonly key: KeyObject | null;
}

/** Reason why the set has no usable key, and the field at fault. */
interface Unsuitable {
  readonly field: 'kid' | 'alg';
  readonly message: string;
  readonly hint?: string | undefined;
}

/**
 * Opens the signer's key: immediately from a file, or from a server as soon as it responds.
 * @throws ConfigError `SIGNER_KEY` and those of `localKeys` and `keyServer`. Warning `SIGNER_WEAK_KEY`.
 * @returns null if every request is rejected; `check` has warned of this.
 */
export function openSigningKey(site: EndpointSite<SignerConfig>, log: Log): SigningKey | null {
  const { config } = site;
  return config.jwk_local_path === undefined
    ? keyOfServer(site, config.jwk_url!, log)
    : keyOfFile(site, config.jwk_local_path);
}

function keyOfFile(site: EndpointSite<SignerConfig>, path: string): SigningKey {
  const { config } = site;
  const set = localKeys(site, path, config);
  const chosen = choose(set, config);
  if ('message' in chosen) {
    const { field, message, hint } = chosen;
    const options = { hint, related: [`${site.pointer}/jwk_local_path`] };
    throw site.fault('SIGNER_KEY', `/${field}`, `${path}: ${message}`, options);
  }
  const { kind, hashBytes } = algorithm(config.alg);
  if (kind === 'oct' && (chosen.symmetricKeySize ?? 0) < hashBytes) {
    site.warn('SIGNER_WEAK_KEY', '/kid', `the key is shorter than ${hashBytes} bytes`, {
      hint: `openssl rand ${hashBytes} | basenc --base64url`,
    });
  }
  return { key: chosen };
}

function keyOfServer(site: EndpointSite<SignerConfig>, url: string, log: Log): SigningKey | null {
  const { config } = site;
  const server = keySource(site, url, config);
  if (!server) return null;
  // Key of the previous configuration. It is used for signing until the new key is available, so that a reload does not
  // depend on the key server.
  const kept = site.keep(['key', server.identity, config.kid, config.alg], () => ({ key: null as KeyObject | null }));
  /** Key of this configuration; null if the server does not have it, undefined while that is unknown. */
  let own: KeyObject | null | undefined;
  const load = async (signal: AbortSignal) => {
    try {
      const chosen = choose(KeySet.parse((await server.fetch(signal)).text), config);
      own = 'message' in chosen ? null : chosen;
      if ('message' in chosen) throw new Error(chosen.message);
    } catch (error) {
      if (signal.aborted) return;
      const consequence = own === undefined && kept.key ? '; the previous key remains in use' : '';
      log.error(() => `Unable to create the signer: ${(error as Error).message}${consequence}`);
    }
  };
  if (site.role !== 'owner') {
    site.warm(async (signal) => {
      await load(signal);
      if (signal.aborted) log.error('Unable to create the signer: the key server does not respond in time');
    });
  }
  site.start(
    async (signal) => {
      // The key is stored only once the configuration is active, so that a rejected configuration does not replace the
      // key in use.
      const keep = () => {
        if (own !== undefined) kept.key = own;
      };
      keep();
      for (let pause = FIRST_PAUSE_MS; !own; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
        await delay(pause, signal);
        if (signal.aborted) return;
        await load(signal);
        keep();
      }
    },
    { in: 'each' },
  );
  return {
    get key() {
      return own === undefined ? kept.key : own;
    },
  };
}

function choose(set: KeySet, { kid, alg }: Pick<SignerConfig, 'kid' | 'alg'>): KeyObject | Unsuitable {
  const jwk = set.find('kid', kid);
  if (!jwk) {
    const near = findNear(
      kid,
      set.keys.map((one) => one.id('kid')),
    );
    return {
      field: 'kid',
      message: `the key set does not contain the key "${kid}"`,
      hint: near && `did you mean "${near.name}"?`,
    };
  }
  const { kind, sign, verify } = algorithm(alg);
  if (jwk.kind !== kind) {
    return { field: 'alg', message: `${alg} requires a key of type ${kind}, but "${kid}" is of type ${jwk.kind}` };
  }
  const { signing: key, verifying } = jwk;
  if (!key || !verifying) {
    return { field: 'kid', message: `the key "${kid}" cannot sign: the private part is missing or not valid` };
  }
  try {
    const probe = new Uint8Array(1);
    if (verify(probe, sign(probe, key), verifying)) return key;
    return { field: 'kid', message: `the private part of the key "${kid}" does not match the public part` };
  } catch {
    return { field: 'kid', message: `the key "${kid}" is too short for ${alg}` };
  }
}
