import { isIP } from 'node:net';
import { RESP_TYPES, RedisClient } from '@redis/client';
import { connectionOwner, runOwned, type SourceAccess } from '#contract';
import { OwnSockets } from '../../clients/broker/own-sockets.ts';
import { within } from '../../shared/calls/during.ts';

/** Time limit of a connection and of a response, in milliseconds. */
const RESPONSE_MS = 10_000;

/** Identifies the library's class of clients, which takes 19 ms to make: the same as for other connections to Redis. */
const COMMANDS = { RESP: 2 } as const;

/** A server with the data of a configuration. */
export interface RedisServer {
  readonly host: string;
  readonly port: number;
  readonly database: number;
  readonly isSecure: boolean;
  readonly access: SourceAccess;
}

/** An open connection. */
export interface RedisConnection {
  /** @returns the response, with texts as buffers. @throws the server's error, or Error without a response in time. */
  send(command: readonly (string | Buffer)[]): Promise<unknown>;
  /** Receives the messages of a channel. The connection no longer accepts commands. */
  subscribe(channel: string, receive: () => void): Promise<void>;
}

/**
 * Connects, uses the connection, and closes it.
 * @param signal ends the use. @throws the error of the connection if it is lost, also while it is used.
 */
export function withRedis<T>(
  server: RedisServer,
  signal: AbortSignal,
  use: (connection: RedisConnection) => Promise<T>,
): Promise<T> {
  const name = `${server.host}:${server.port}`;
  const { promise: lost, reject: end } = Promise.withResolvers<never>();
  lost.catch(() => {});
  const run = async (): Promise<T> => {
    signal.throwIfAborted();
    // The library leaves the socket of a connection open that is closed while it is made.
    const sockets = new OwnSockets({ has: () => false });
    const client = RedisClient.factory(COMMANDS)(optionsOf(server));
    client.on('error', end);
    const abort = () => end(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    const connection: RedisConnection = {
      send: (command) => within(RESPONSE_MS, client.sendCommand(command, { typeMapping: buffers })),
      subscribe: (channel, receive) => within(RESPONSE_MS, client.subscribe(channel, receive)),
    };
    try {
      await Promise.race([sockets.connect(RESPONSE_MS, signal, () => client.connect()), lost]);
      return await Promise.race([use(connection), lost]);
    } catch (error) {
      throw reworded(error as NodeJS.ErrnoException, name);
    } finally {
      signal.removeEventListener('abort', abort);
      if (client.isOpen) client.destroy();
      sockets.destroy();
    }
  };
  return runOwned(connectionOwner('configuration source', name, end), run);
}

const buffers = { [RESP_TYPES.BLOB_STRING]: Buffer } as const;

function optionsOf({ host, port, database, isSecure, access }: RedisServer) {
  const { username, token, password = token, tls } = access;
  const secured = { tls: true as const, ...tls, ...(isIP(host) === 0 && { servername: host }) };
  return {
    ...COMMANDS,
    database,
    socket: {
      host,
      port,
      connectTimeout: RESPONSE_MS,
      // The mirror of the source connects again.
      reconnectStrategy: false,
      ...(isSecure && secured),
    },
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
  } as const;
}

/** Errors of several addresses of one host have a code, but no message. */
function reworded(error: NodeJS.ErrnoException, name: string): Error {
  return error.message ? error : new Error(`${name} did not respond: ${error.code}`, { cause: error });
}
