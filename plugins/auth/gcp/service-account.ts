import { createPrivateKey, type KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type DataObject, isObject, type Site } from '#contract';
import { httpUrl } from '../../shared/calls/http-url.ts';
import type { GcpConfig } from './schema.ts';

/** Service account that requests tokens. */
export interface ServiceAccount {
  readonly email: string;
  readonly key: KeyObject;
  readonly keyId: string | undefined;
  /** URL of the token endpoint. */
  readonly tokenUrl: URL;
}

const TOKEN_URL = 'https://oauth2.googleapis.com/token';

/** Credentials with their place in the configuration, and the name used for them in messages. */
interface Written {
  readonly document: unknown;
  readonly pointer: string;
  readonly where: string;
}

/**
 * Finds the service account: in the configuration, then in the file named by the environment, then in gcloud's default
 * file.
 * @returns null to use the metadata server.
 * @throws ConfigError GCP_FILE, GCP_CREDENTIALS.
 */
export function serviceAccountOf(site: Site<GcpConfig>): ServiceAccount | null {
  const written = find(site);
  return written && read(site, written);
}

function find(site: Site<GcpConfig>): Written | null {
  const { credentials_json: json, credentials_file: file } = site.config;
  if (json !== undefined) return { document: json, pointer: '/credentials_json', where: 'credentials_json' };
  if (file !== undefined) return fromFile(site, file, '/credentials_file');
  const named = process.env['GOOGLE_APPLICATION_CREDENTIALS'];
  if (named) return fromFile(site, named, '');
  const home = process.env['CLOUDSDK_CONFIG'] || join(process.env['HOME'] || homedir(), '.config/gcloud');
  const wellKnown = join(home, 'application_default_credentials.json');
  return existsSync(wellKnown) ? fromFile(site, wellKnown, '') : null;
}

function fromFile(site: Site<GcpConfig>, path: string, pointer: string): Written {
  let text: string;
  try {
    text = Buffer.from(site.read(path)).toString();
  } catch (cause) {
    throw site.fault('GCP_FILE', pointer, `cannot read ${path}: ${(cause as Error).message}`, { cause });
  }
  try {
    return { document: JSON.parse(text), pointer, where: path };
  } catch {
    // The message of the parser is not shown, because it could contain a part of the key.
    throw site.fault('GCP_CREDENTIALS', pointer, `${path} is not valid JSON`);
  }
}

function read(site: Site<GcpConfig>, { document, pointer, where }: Written): ServiceAccount {
  const fault = (message: string, hint?: string) =>
    site.fault('GCP_CREDENTIALS', pointer, `${where}: ${message}`, { hint });
  if (!isObject(document)) throw fault('no object');
  const type = textOf(document, 'type');
  if (type !== 'service_account') {
    const known = /^[a-z_]{1,40}$/.test(type) ? `"${type}"` : 'no type';
    throw fault(`${known}: identity tokens are only issued to a "service_account"`, 'a key file of a service account');
  }
  const email = textOf(document, 'client_email');
  if (email === '') throw fault('"client_email" is missing');
  const url = httpUrl(textOf(document, 'token_uri') || TOKEN_URL);
  if (!url) throw fault('"token_uri" is not an http or https URL');
  return { email, key: keyOf(document, fault), keyId: textOf(document, 'private_key_id') || undefined, tokenUrl: url };
}

function keyOf(document: DataObject, fault: (message: string) => Error): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(textOf(document, 'private_key'));
  } catch {
    throw fault('"private_key" is not a private key');
  }
  if (key.asymmetricKeyType !== 'rsa') throw fault('"private_key" is not an RSA key');
  return key;
}

function textOf(document: DataObject, name: string): string {
  const value = Object.hasOwn(document, name) ? document[name] : undefined;
  return typeof value === 'string' ? value : '';
}
