import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * For a request with `Expect: 100-continue`: the client is told to go on when somebody first reads the body. An answer
 * given before that ends the connection, as nobody can tell whether the body will come.
 */
export function deferContinue(message: IncomingMessage, response: ServerResponse): void {
  const keepAlive = response.shouldKeepAlive;
  response.shouldKeepAlive = false;
  message._read = (size) => {
    forgoContinue(message);
    if (!response.headersSent) {
      response.shouldKeepAlive = keepAlive;
      response.writeContinue();
    }
    message._read(size);
  };
}

/** The answer is decided on: nobody is told to go on any more, whoever reads the body. */
export function forgoContinue(message: IncomingMessage): void {
  Reflect.deleteProperty(message, '_read');
}
