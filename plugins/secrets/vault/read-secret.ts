import { BackendError, type DataObject, isObject, type SecretLease, type StoredSecret } from '#contract';
import { demandPath, type VaultServer } from './api.ts';
import type { Session } from './session.ts';

/** Maximum number of mounts that are remembered for a server. */
const MAX_MOUNTS = 100;

/**
 * Reads a secret of any engine. For a key/value engine of version 2, the path is written without `data/`.
 * @param version of the key/value engines; undefined to ask the server.
 * @throws BackendError VAULT_STATUS, VAULT_PATH, VAULT_SECRET
 */
export async function readVaultSecret(
  session: Session,
  server: VaultServer,
  path: string,
  version: number | undefined,
  signal: AbortSignal,
): Promise<StoredSecret> {
  const name = path.replace(/^\/+/, '');
  demandPath(name);
  const mount = await mountOf(session, server, name, version, signal);
  const isSecond = mount !== null && mount.version === 2;
  const at = isSecond ? `${mount.path}data/${name.slice(mount.path.length)}` : name;
  const body = await session.call(server, 'GET', at, signal);
  const data = isSecond && isObject(body['data']) ? body['data']['data'] : body['data'];
  if (!isObject(data)) throw new BackendError('VAULT_SECRET', 'the server returned no data', { upstreamStatus: 404 });
  const lease = leaseIn(body);
  return { content: data, ...(lease && { lease }) };
}

/** Prolongs a lease. @returns its lifetime in milliseconds. @throws BackendError VAULT_STATUS, VAULT_LOGIN. */
export async function renewVaultLease(
  session: Session,
  server: VaultServer,
  { id }: SecretLease,
  signal: AbortSignal,
): Promise<number> {
  const { lease_duration: seconds } = await session.call(server, 'PUT', 'sys/leases/renew', signal, { lease_id: id });
  return typeof seconds === 'number' ? seconds * 1000 : 0;
}

function leaseIn({ lease_id: id, lease_duration: seconds, renewable }: DataObject): SecretLease | null {
  if (typeof id !== 'string' || id === '' || typeof seconds !== 'number' || seconds <= 0) return null;
  return { id, lifeMs: seconds * 1000, isRenewable: renewable === true };
}

interface Mount {
  readonly path: string;
  readonly version: 1 | 2 | null;
}

/** Finds the mount of a path. Returns null if the token may not read mounts: the path is then used as it is written. */
async function mountOf(
  session: Session,
  server: VaultServer,
  name: string,
  version: number | undefined,
  signal: AbortSignal,
): Promise<Mount | null> {
  if (version !== undefined) return { path: name.slice(0, name.indexOf('/') + 1), version: version as 1 | 2 };
  const { mounts } = session;
  for (const [path, known] of mounts) if (name.startsWith(path)) return { path, version: known };
  const found = await findMount(session, server, name, signal);
  if (found && mounts.size < MAX_MOUNTS) mounts.set(found.path, found.version);
  return found;
}

async function findMount(
  session: Session,
  server: VaultServer,
  name: string,
  signal: AbortSignal,
): Promise<Mount | null> {
  try {
    const { data } = await session.call(server, 'GET', `sys/internal/ui/mounts/${name}`, signal);
    const { path, type, options } = isObject(data) ? data : {};
    if (typeof path !== 'string' || !path.endsWith('/') || !name.startsWith(path)) return null;
    const version = isObject(options) && options['version'] === '2' ? 2 : 1;
    return { path, version: type === 'kv' || type === 'generic' ? version : null };
  } catch (error) {
    // The error is ignored, because older servers cannot report their mounts, and policies can forbid it.
    const status = error instanceof BackendError ? error.upstreamStatus : undefined;
    if (status === 403 || status === 404) return null;
    throw error;
  }
}
