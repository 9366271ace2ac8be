import type { IncomingMessage, ServerResponse } from 'node:http';
import { beforeFirstRead, forgetFirstRead } from '../port/internals.ts';

/**
 * For a request with `Expect: 100-continue`: sends `100 Continue` when the body is first read. A response sent before
 * that closes the connection, as it is unknown whether the client will send the body.
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

/** Stops sending `100 Continue`, even if the body is read: the final response is decided. */
export function forgoContinue(message: IncomingMessage): void {
  forgetFirstRead(message);
}
