import { BackendError } from '#contract';

/** Failure of an operation on a broker. Code: `AMQP_FAILED`. Messages never contain an address with its password. */
export class AmqpError extends BackendError {
  constructor(message: string, cause?: unknown) {
    super('AMQP_FAILED', message, { cause });
  }
}

/** Error message for requests without a connection. */
export const NOT_CONNECTED = 'connection not available, trying to reconnect';

/** Error message of the client library, on one line. */
export function reasonOf(error: unknown): string {
  const { message, code } = error as Error & { code?: string | number };
  if (/ACCESS_REFUSED - Login/.test(message)) return 'the broker rejects the user name or the password';
  if (/^Expected ConnectionOpenOk/.test(message)) return 'the broker rejects the virtual host';
  // When every address of a host name fails, Node wraps the errors in one that has no message.
  return message || String(code ?? error);
}
