import { isIP } from 'node:net';
import type { BaseOptions, ConnectionPool, SASLOptions } from '@platformatic/kafka';
import { FirstUse } from '#contract';
import { guard } from './guard.ts';
import { prepareReading, readFetches } from './record-sets.ts';
import type { KafkaSettings, KafkaUser } from './settings.ts';

const library = new FirstUse(async () => {
  const kafka = await import('@platformatic/kafka');
  prepareReading(kafka);
  return kafka;
});

/** Loads the library at first use. */
export function loadKafka(): Promise<typeof import('@platformatic/kafka')> {
  return library.get();
}

/** Options shared by all clients. */
export function clientOptions(settings: KafkaSettings): BaseOptions {
  const { brokers, tls, user } = settings;
  const hosts = brokers.map((broker) => broker.replace(/:\d+$/, '').replace(/^\[|\]$/g, ''));
  return {
    clientId: settings.clientId,
    bootstrapBrokers: brokers.map((broker, index) => ({ host: hosts[index]!, port: Number(/\d+$/.exec(broker)?.[0]) })),
    connectTimeout: settings.connectMs,
    requestTimeout: settings.responseMs,
    retries: settings.metadataRetries,
    retryDelay: settings.metadataBackoffMs,
    strict: true,
    ...(settings.rack !== '' && { clientRack: settings.rack }),
    // The server name is sent only if the host is a name, because TLS does not allow IP addresses there.
    ...(tls && { tls: { ...tls }, tlsServerName: hosts.every((host) => isIP(host) === 0) }),
    ...(user && { sasl: saslOptions(user) }),
  };
}

function saslOptions({ mechanism, user, password, authorizationId }: KafkaUser): SASLOptions {
  if (mechanism === 'OAUTHBEARER') return { mechanism, token: password };
  const plain: SASLOptions = { mechanism, username: user, password };
  if (authorizationId === '') return plain;
  return {
    ...plain,
    authenticate(_mechanism, connection, send, _user, _password, _token, callback) {
      send(connection, Buffer.from([authorizationId, user, password].join('\0')), callback);
    },
  };
}

/** Records why brokers cannot be reached, which the library's errors do not say. */
export class KafkaProblems {
  /** Connections that have started but not completed authentication. */
  #authenticating = 0;
  /** Error for invalid data sent by a broker instead of a response. */
  #refused: Error | null = null;

  /**
   * Observes the connections of a client, and attaches error listeners to them.
   * @param requestedBytes limit of record bytes requested in one response. @param lost called when the client might
   * wait for a response that never arrives.
   */
  follow(pool: ConnectionPool, requestedBytes: number, lost: (error: Error) => void): void {
    this.#authenticating = 0;
    this.#refused = null;
    pool.on('connecting', ({ broker, connection }) => {
      connection.on('error', () => {});
      readFetches(connection);
      guard(connection, `${broker.host}:${broker.port}`, requestedBytes, (error) => {
        this.#refused = error;
        lost(error);
      });
      connection.once('sasl:handshake', () => {
        this.#authenticating++;
      });
      connection.once('sasl:authentication', () => {
        this.#authenticating--;
      });
    });
  }

  /** Formats a failure as one readable line. */
  reasonOf(error: unknown): string {
    const known = [...errorsIn(this.#refused ?? error)];
    const authentication = known.find(({ code }) => code === 'PLT_KFK_AUTHENTICATION');
    const protocol = known.find(({ apiId }) => apiId !== undefined);
    if (protocol?.apiId === 'UNSUPPORTED_SASL_MECHANISM') return 'the broker does not support this SASL mechanism';
    const isClosed = known.some(({ message }) => /Connection closed/.test(message));
    if (authentication || protocol?.apiId === 'SASL_AUTHENTICATION_FAILED' || (isClosed && this.#authenticating > 0)) {
      return 'the broker rejects the user name or the password';
    }
    if (protocol) return `${protocol.message} (${protocol.apiId})`;
    const deepest = known.findLast(({ message }) => message !== '');
    if (deepest?.message.startsWith('Connection closed')) {
      return 'the broker closed the connection: it may require TLS or SASL';
    }
    return deepest?.message ?? String(error);
  }
}

interface KafkaError extends Error {
  readonly code?: string;
  /** Name of the error in a broker's response. */
  readonly apiId?: string;
}

/** Whether a request failed because the broker did not support it when the client connected. */
export function isUnsupported(error: unknown): boolean {
  return [...errorsIn(error)].some(({ code }) => code === 'PLT_KFK_UNSUPPORTED_API');
}

/** Yields an error and its causes, outermost first, up to a readable number. */
export function* errorsIn(error: unknown, depth = 0): Generator<KafkaError> {
  if (!(error instanceof Error) || depth > 8) return;
  yield error;
  for (const part of error instanceof AggregateError ? error.errors.slice(0, 8) : []) yield* errorsIn(part, depth + 1);
  yield* errorsIn(error.cause, depth + 1);
}
