import { BackendError, type DataObject } from '#contract';
import { fetchJson, type StoreClient, storeError } from '../lib/fetch-json.ts';

/** A server that speaks the HTTP API of Vault. */
export interface VaultServer extends StoreClient {
  readonly address: URL;
  readonly namespace: string | undefined;
}

/** A valid segment of an API path: not empty, not relative, and without special characters. */
const SEGMENT = /^(?!\.{1,2}$)[^?#%\\\0-\x1f\x7f]+$/;

/**
 * Calls an operation of the API.
 * @param path below `/v1/`, not encoded. @param token null for a login.
 * @returns the body of the response. @throws BackendError VAULT_STATUS, VAULT_REDIRECT
 */
export async function callVault(
  server: VaultServer,
  method: 'GET' | 'PUT' | 'POST',
  path: string,
  token: string | null,
  signal: AbortSignal,
  body?: DataObject,
): Promise<DataObject> {
  const { address, namespace } = server;
  const base = address.pathname.replace(/\/+$/, '');
  const url = new URL(`${base}/v1/${encodePath(path)}`, address);
  const headers = ['X-Vault-Request', 'true', 'Accept', 'application/json'];
  if (token !== null) headers.push('X-Vault-Token', token);
  if (namespace !== undefined) headers.push('X-Vault-Namespace', namespace);
  if (body) headers.push('Content-Type', 'application/json');
  const request = { method, headers, body: body && JSON.stringify(body) };
  const first = await fetchJson(server, { ...request, url }, signal);
  const moved = first.status === 307 ? redirected(url, first.headers.get('location')) : null;
  const { status, data } = moved ? await fetchJson(server, { ...request, url: moved }, signal) : first;
  if (status >= 200 && status < 300) return data;
  const reason = reasonOf(status, data);
  throw storeError('VAULT_STATUS', status, token === null ? reason : reason.replaceAll(token, '***'));
}

function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** @throws BackendError VAULT_PATH for a path that the API does not have. */
export function demandPath(path: string): void {
  if (path.split('/').every((segment) => SEGMENT.test(segment))) return;
  throw new BackendError('VAULT_PATH', `"${path}" is not a valid path`, { upstreamStatus: 400 });
}

/** Standby servers redirect to the active one. The token is not sent without TLS if the first request used TLS. */
function redirected(from: URL, location = ''): URL {
  const to = URL.parse(location, from.href);
  const isSafe = to && (to.protocol === 'https:' || to.protocol === from.protocol) && to.pathname === from.pathname;
  if (!isSafe) throw new BackendError('VAULT_REDIRECT', 'the server redirects to an address that is not accepted');
  return to;
}

function reasonOf(status: number, { errors }: DataObject): string {
  const texts = Array.isArray(errors) ? errors.filter((each) => typeof each === 'string') : [];
  if (texts.length > 0) return texts.join('; ');
  return status === 404 ? 'no such secret' : '';
}
