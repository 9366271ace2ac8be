import { readFile } from 'node:fs/promises';
import type { SourceAccess } from '#contract';
import { maskQuery } from '../contract/masked-query.ts';

/** A scheme and two slashes. A path of a file never begins like this. */
const scheme = /^([a-z][a-z\d+.-]*):\/\//i;

/** Scheme of the address of a source, in lower case; null for the path of a file. */
export function schemeOf(text: string): string | null {
  return scheme.exec(text)?.[1]?.toLowerCase() ?? null;
}

/** The parts of an address. */
export interface SourceAddress {
  /** Without username and password. */
  readonly url: URL;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** The address for messages, without credentials. */
  readonly shown: string;
}

/** @throws Error if the address is not a valid URL. Its message does not contain the address, which may contain a password. */
export function parseAddress(text: string): SourceAddress {
  if (!URL.canParse(text)) throw new Error('the address of the configuration is not a valid URL');
  const url = new URL(text);
  const [username, password] = [url.username, url.password].map((part) => (part === '' ? undefined : decoded(part)));
  url.username = '';
  url.password = '';
  const query = maskQuery(url.search.slice(1));
  const shown = `${url.href.slice(0, url.href.length - url.search.length - url.hash.length)}${query && `?${query}`}${url.hash}`;
  return { url, username, password, shown };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Environment variables with the credentials of a source. */
export const sourceVariables = {
  GATEWAY_SOURCE_USERNAME: 'User name for the store of the configuration. Default: the one in its address.',
  GATEWAY_SOURCE_PASSWORD: 'Password for the store of the configuration. Default: the one in its address.',
  GATEWAY_SOURCE_TOKEN: 'Token for the store of the configuration.',
  GATEWAY_SOURCE_CA: 'PEM file with the CA certificates to trust for the store of the configuration.',
  GATEWAY_SOURCE_CERT: 'PEM file with the client certificate for the store of the configuration.',
  GATEWAY_SOURCE_KEY: 'PEM file with the key of the client certificate.',
  GATEWAY_SOURCE_PUBLIC_KEY:
    'PEM file with an Ed25519 key. The file with the extension .sig at the address must be a signature of the configuration by it. For https only.',
} as const;

/** Reads the credentials of a source. @throws Error if a file cannot be read. */
export async function accessOf(
  { username, password }: SourceAddress,
  env: Readonly<NodeJS.ProcessEnv>,
): Promise<SourceAccess> {
  const set = (name: keyof typeof sourceVariables): string | undefined => env[name] || undefined;
  const pem = async (name: keyof typeof sourceVariables, field: 'ca' | 'cert' | 'key') => {
    const path = set(name);
    return path === undefined ? {} : { [field]: await readFile(path, 'utf8') };
  };
  const parts = await Promise.all([
    pem('GATEWAY_SOURCE_CA', 'ca'),
    pem('GATEWAY_SOURCE_CERT', 'cert'),
    pem('GATEWAY_SOURCE_KEY', 'key'),
  ]);
  return {
    username: set('GATEWAY_SOURCE_USERNAME') ?? username,
    password: set('GATEWAY_SOURCE_PASSWORD') ?? password,
    token: set('GATEWAY_SOURCE_TOKEN'),
    tls: Object.assign({}, ...parts) as SourceAccess['tls'],
  };
}
