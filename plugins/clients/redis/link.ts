import { isIP } from 'node:net';
import { RedisClient, RedisCluster } from '@redis/client';
import { boundToOwner } from '#contract';
import type { RedisAddress, RedisSettings, RedisUser } from './settings.ts';

/** An open connection; for a cluster, one to each of its servers. */
export interface Link {
  /** @param key key that selects the server of a cluster. @throws the server's error, or the loss of the connection. */
  send(key: string, command: readonly (string | Buffer)[]): Promise<unknown>;
  /** Closes the link; pending commands fail. */
  close(): void;
}

/** Maximum number of pending commands per server; one more fails immediately. */
const MAX_WAITING = 10_000;

/**
 * Identifies the library's class of clients, which takes 19 ms to make. The library keeps the last one, but `createClient`
 * would identify it by all options, such as the port.
 */
const COMMANDS = { RESP: 2 } as const;

/**
 * Connects.
 * @param onLost called once when an open connection is lost; never for a cluster, which manages its connections itself.
 * @throws the reason, after `connectMs` at the latest for each server that is tried.
 */
export function openLink(settings: RedisSettings, onLost: (error: Error) => void): Promise<Link> {
  if (settings.kind === 'cluster') return openCluster(settings);
  if (settings.kind === 'sentinel') return openMaster(settings, onLost);
  return openServer(settings, settings.addresses[0]!, settings, onLost);
}

async function openServer(
  settings: RedisSettings,
  { host, port }: RedisAddress,
  user: RedisUser,
  onLost: (error: Error) => void,
): Promise<Link> {
  const { socket, ...options } = clientOptions(settings, user);
  const client = RedisClient.factory(COMMANDS)({
    ...options,
    database: settings.database,
    socket: { ...socket, host, port, ...(settings.tls && isIP(host) === 0 && { servername: host }) },
  });
  let isOpen = false;
  const close = () => {
    isOpen = false;
    if (client.isOpen) client.destroy();
  };
  client.on('error', (error: Error) => {
    if (!isOpen) return;
    close();
    onLost(error);
  });
  const connected = client.connect().then(() => client.sendCommand(['PING']).catch(refusalOnly));
  await within(settings.connectMs, connected, close);
  isOpen = true;
  // The client writes the commands of many requests together, for the connection and not for the first of them.
  return {
    send: boundToOwner((_key: string, command: readonly (string | Buffer)[]) => client.sendCommand(command)),
    close,
  };
}

/** A server that denies the permission to ping has nevertheless responded. */
function refusalOnly(error: Error): void {
  if (!error.message.startsWith('NOPERM')) throw error;
}

async function openCluster(settings: RedisSettings): Promise<Link> {
  const { least, most } = settings.backoffMs;
  const { socket, ...options } = clientOptions(settings, settings);
  const reconnectStrategy = (retries: number) => Math.min(Math.max(least, 1) * 2 ** Math.min(retries, 20), most);
  const cluster = RedisCluster.factory(COMMANDS)(
    withCommonClass({
      rootNodes: settings.addresses.map(({ host, port }) => ({ socket: { host, port } })),
      defaults: { ...options, socket: { ...socket, reconnectStrategy } },
      maxCommandRedirections: settings.maxRedirects,
      // The topology of the cluster is read again, because an unreachable server may have been replaced.
      topologyRefreshOnReconnectionAttemptStrategy: 500,
    }),
  );
  // Without this listener, an error would end the process. Commands report the error as well.
  cluster.on('error', () => {});
  const close = () => {
    if (cluster.isOpen) cluster.destroy();
  };
  await within(settings.connectMs, cluster.connect(), close);
  return {
    send: boundToOwner((key: string, command: readonly (string | Buffer)[]) =>
      cluster.sendCommand(key, false, [...command]),
    ),
    close,
  };
}

/**
 * Makes a cluster use the same class of clients as single servers. The library identifies the class by the cluster's
 * options as JSON, so that each cluster would create a class of its own and displace the cached one.
 */
function withCommonClass<T extends object>(options: T): T {
  return Object.assign(options, { toJSON: () => COMMANDS });
}

/** Connects to the master named by the first sentinel that responds. */
async function openMaster(settings: RedisSettings, onLost: (error: Error) => void): Promise<Link> {
  let problem: unknown;
  for (const sentinel of settings.addresses) {
    try {
      const address = await askSentinel(settings, sentinel);
      const link = await openServer(settings, address, settings, onLost);
      const role = (await link.send('', ['ROLE']).catch((error) => [String(error)])) as readonly unknown[];
      if (role[0] === 'master') return link;
      link.close();
      throw new Error(`${address.host}:${address.port} is not a master yet: ${role[0]}`);
    } catch (error) {
      problem = error;
    }
  }
  throw problem;
}

async function askSentinel(settings: RedisSettings, sentinel: RedisAddress): Promise<RedisAddress> {
  const { name, user } = settings.master!;
  const link = await openServer({ ...settings, database: 0 }, sentinel, user, () => {});
  try {
    const requested = link.send('', ['SENTINEL', 'get-master-addr-by-name', name]);
    const address = (await within(settings.connectMs, requested, link.close)) as [string, string] | null;
    if (!address) throw new Error(`the sentinel does not know the master "${name}"`);
    return { host: address[0], port: Number(address[1]) };
  } finally {
    link.close();
  }
}

function clientOptions({ tls, connectMs, clientName }: RedisSettings, { username, password }: RedisUser) {
  return {
    ...COMMANDS,
    socket: {
      connectTimeout: connectMs,
      // Reconnection is disabled in the library, because the owner of the link reconnects.
      reconnectStrategy: false,
      ...(tls && { tls: true as const, ...tls }),
    },
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(clientName !== undefined && { name: clientName }),
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_WAITING,
    disableClientInfo: true,
    maintNotifications: 'disabled',
  } as const;
}

/** Resolves with the promise if it settles in time. @param giveUp makes it fail. @throws Error after that time. */
async function within<T>(ms: number, promise: Promise<T>, giveUp: () => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${ms}ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } catch (error) {
    giveUp();
    promise.catch(() => {});
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
