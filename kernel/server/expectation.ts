import type { IncomingMessage, ServerResponse } from 'node:http';
import { beforeFirstRead, forgetFirstRead } from './internals.ts';

/**
 * For a request with `Expect: 100-continue`: the client is told to go on when somebody first reads the body. An answer
 * given before that ends the connection, as nobody can tell whether the body will come.
 */
export function deferContinue(message: IncomingMessage, response: ServerResponse): void {
  const keepAlive = response.shouldKeepAlive;
  response.shouldKeepAlive = false;
  beforeFirstRead(message, () => {
    if (response.headersSent) return;
    response.shouldKeepAlive = keepAlive;
    response.writeContinue();
  });
}

/** The answer is decided on: nobody is told to go on any more, whoever reads the body. */
export function forgoContinue(message: IncomingMessage): void {
  forgetFirstRead(message);
}
