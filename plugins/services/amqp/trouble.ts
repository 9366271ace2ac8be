import { BackendError } from '#contract';

/** Why something was not done by a broker. Code: `AMQP_FAILED`. No message has an address with its password. */
export class AmqpTrouble extends BackendError {
  constructor(message: string, cause?: unknown) {
    super('AMQP_FAILED', message, { cause });
  }
}

/** What a request is told while there is no connection. */
export const NOT_CONNECTED = 'connection not available, trying to reconnect';

/** What the client library says, in one line for people. */
export function reasonOf(error: unknown): string {
  const { message, code } = error as Error & { code?: string | number };
  if (/ACCESS_REFUSED - Login/.test(message)) return 'the broker refuses the user name or the password';
  if (/^Expected ConnectionOpenOk/.test(message)) return 'the broker refuses the virtual host';
  // Node joins what went wrong with each address of a name under an error without a text.
  return message || String(code ?? error);
}
