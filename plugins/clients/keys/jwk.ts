import { createPrivateKey, createPublicKey, createSecretKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { type DataObject, getKey } from '#contract';
import type { KeyKind } from './algorithms.ts';
import { decodeBase64Url } from './base64url.ts';

/** Strategies to identify the key of a token: the fields compared between the token's header and the key. */
export const identifyStrategies = ['kid', 'x5t', 'x5t#S256', 'kid_x5t'] as const;

export type IdentifyStrategy = (typeof identifyStrategies)[number];

/** A key of a set; derived values are created at first use. */
export class Jwk {
  /** Declared key type; undefined if not supported. */
  readonly kind: KeyKind | undefined;
  readonly #members: DataObject;
  #verifying: KeyObject | null | undefined;

  constructor(members: DataObject) {
    this.#members = members;
    const type = this.#text('kty');
    this.kind = kinds.get(type === 'EC' || type === 'OKP' ? `${type} ${this.#text('crv')}` : type);
  }

  /** Length of a symmetric key, in bytes. */
  get secretBytes(): number {
    return decodeBase64Url(this.#text('k'))?.length ?? 0;
  }

  /** Key identifier according to a strategy. */
  id(strategy: IdentifyStrategy): string {
    if (strategy === 'kid') return this.#text('kid');
    if (strategy === 'kid_x5t') return this.#text('kid') + thumbprint(this.#text('x5t'));
    return thumbprint(this.#text(strategy));
  }

  /** The public or symmetric key, derived from a private key if necessary; null for an invalid key. */
  get verifying(): KeyObject | null {
    if (this.#verifying === undefined) {
      this.#verifying = this.#made(() => createPublicKey({ key: this.#publicMembers(), format: 'jwk' }));
    }
    return this.#verifying;
  }

  /** The private or symmetric key; null if absent. */
  get signing(): KeyObject | null {
    if (this.kind !== 'oct' && this.#text('d') === '') return null;
    return this.#made(() => createPrivateKey({ key: this.#members as JsonWebKey, format: 'jwk' }));
  }

  #made(make: () => KeyObject): KeyObject | null {
    const { kind } = this;
    if (kind === undefined || (kind === 'Ed25519' && hasSmallOrder(this.#text('x')))) return null;
    try {
      if (kind !== 'oct') return make();
      const secret = decodeBase64Url(this.#text('k'));
      return secret && secret.length > 0 ? createSecretKey(secret) : null;
    } catch {
      return null;
    }
  }

  #publicMembers(): JsonWebKey {
    const picked: JsonWebKey = {};
    for (const name of ['kty', 'crv', 'x', 'y', 'n', 'e']) {
      const value = this.#text(name);
      if (value !== '') picked[name] = value;
    }
    return picked;
  }

  #text(name: string): string {
    const value = getKey(this.#members, name);
    return typeof value === 'string' ? value : '';
  }
}

const kinds: ReadonlyMap<string, KeyKind> = new Map([
  ['oct', 'oct'],
  ['RSA', 'RSA'],
  ['EC P-256', 'P-256'],
  ['EC P-384', 'P-384'],
  ['EC P-521', 'P-521'],
  ['OKP Ed25519', 'Ed25519'],
]);

/** Normalizes a thumbprint to base64url without padding; hexadecimal is accepted too. */
function thumbprint(written: string): string {
  const isHex = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(written);
  return isHex ? Buffer.from(written, 'hex').toString('base64url') : written.replace(/(?<!=)=+$/, '');
}

/**
 * The y coordinates, little-endian, of the small-order points on the Ed25519 curve, including encodings beyond the
 * modulus: with such a public key, any message has a valid signature.
 */
const smallOrder = new Set([
  `00${'00'.repeat(31)}`,
  `01${'00'.repeat(31)}`,
  `ec${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
]);

function hasSmallOrder(x: string): boolean {
  const point = Buffer.from(x, 'base64url');
  if (point.length !== 32) return true;
  point[31]! &= 0x7f;
  return smallOrder.has(point.toString('hex'));
}
