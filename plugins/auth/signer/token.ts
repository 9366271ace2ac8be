import type { KeyObject } from 'node:crypto';
import { type Data, type DataObject, isObject } from '#contract';
import { algorithm } from '../../clients/keys/algorithms.ts';
import type { SignerConfig } from './schema.ts';

/** Builds a token with the claims of an object and no others. @throws Error if it cannot be serialized or signed. */
export type MakeToken = (claims: DataObject, key: KeyObject) => string;

export function tokenMaker({ alg, kid, typ, full }: Pick<SignerConfig, 'alg' | 'kid' | 'typ' | 'full'>): MakeToken {
  const { sign } = algorithm(alg);
  const header = encoded({ alg, kid, typ });
  return (claims, key) => {
    const payload = encoded(claims);
    const signature = sign(Buffer.from(`${header}.${payload}`, 'latin1'), key).toString('base64url');
    return full ? JSON.stringify({ payload, protected: header, signature }) : `${header}.${payload}.${signature}`;
  };
}

function encoded(value: DataObject): string {
  return Buffer.from(canonicalJson(value)).toString('base64url');
}

/** Canonical JSON: sorted keys, no spaces, and escaped characters that could end a script element. */
function canonicalJson(value: Data): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isObject(value)) return text(value);
  // The members are written one by one, because in a sorted copy integer keys would still precede all others.
  const members = Object.keys(value).sort();
  return `{${members.map((key) => `${text(key)}:${canonicalJson(value[key]!)}`).join(',')}}`;
}

const escapes: Readonly<Record<string, string>> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026' };

function text(value: Data): string {
  return JSON.stringify(value).replace(/[<>&]/g, (character) => escapes[character]!);
}
