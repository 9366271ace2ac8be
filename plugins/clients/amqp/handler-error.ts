import { AmqpError } from './amqp-error.ts';

/**
 * Handles an error that the library has caught in one of its listeners. An error that the broker's messages did not
 * cause is a fault in the gateway: it becomes an uncaught error of its connection, which is logged and counted.
 */
export function reportHandlerError(error: unknown): void {
  if (!(error instanceof AmqpError)) void Promise.reject(error);
}
