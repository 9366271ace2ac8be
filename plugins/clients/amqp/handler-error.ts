import { AmqpError } from './amqp-error.ts';

/**
 * Handles an error that the library has caught in one of its listeners. One that is not about the broker's messages is
 * a fault: it becomes an uncaught error of its connection, which is logged and counted.
 */
export function reportHandlerError(error: unknown): void {
  if (!(error instanceof AmqpError)) void Promise.reject(error);
}
