import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * For a request with `Expect: 100-continue`: the client is told to go on when somebody first reads the body. An answer
 * given before that ends the connection, as nobody can tell whether the body will come.
 */
export function deferContinue(message: IncomingMessage, response: ServerResponse): void {
  const keepAlive = response.shouldKeepAlive;
  response.shouldKeepAlive = false;
  const read = message._read;
  message._read = (size) => {
    message._read = read;
    if (!response.headersSent) {
      response.shouldKeepAlive = keepAlive;
      response.writeContinue();
    }
    read.call(message, size);
  };
}
