import { type IncomingMessage, METHODS, type ServerResponse } from 'node:http';
import type { DispatchFunc, InjectOptions, Response } from 'light-my-request';
import { GatewayError } from '../contract/internal.ts';
import type { Generations } from '../control/generations.ts';

/** Changes the messages of a request without a socket before it is handled. */
export type Complete = (message: IncomingMessage, response: ServerResponse) => void;

/** Handles a request without a socket. @throws GatewayError INJECT_OPTIONS for a request that is not valid. */
export async function injectInto(
  serve: Generations['serve'],
  request: InjectOptions | string,
  complete: Complete = () => {},
): Promise<Response> {
  demandRequest(request);
  // Loaded on first use, because a gateway that listens on a port never needs this library.
  const { inject } = await import('light-my-request');
  const dispatch: Generations['serve'] = (message, response) => {
    complete(message, response);
    serve(message, response);
  };
  return new Promise((resolve, reject) => {
    try {
      inject(dispatch as DispatchFunc, request, (error, response) => (response ? resolve(response) : reject(error)));
    } catch (error) {
      // An exception comes from reading the options, because `serve` never throws.
      reject(refused(`inject(): ${(error as Error).message}`, error));
    }
  });
}

/** Checks of options for which light-my-request has no readable error message. */
const rules: Readonly<Record<string, readonly [is: (value: unknown) => boolean, rule: string]>> = {
  url: [isTarget, 'a string such as "/users/1"'],
  path: [isTarget, 'a string such as "/users/1"'],
  method: [(value) => METHODS.includes(String(value).toUpperCase()), 'an HTTP method'],
  headers: [isRecord, 'an object'],
};

function demandRequest(request: unknown): void {
  if (typeof request === 'string') return;
  if (!isRecord(request)) {
    throw refused(`inject() takes a path such as "/users/1" or an object with "url", not ${String(request)}`);
  }
  for (const [name, [is, rule]] of Object.entries(rules)) {
    const value = request[name];
    if (value !== undefined && !is(value)) throw refused(`"${name}" of inject() must be ${rule}, not ${String(value)}`);
  }
  if ((request['url'] === undefined) === (request['path'] === undefined)) {
    throw refused('inject() needs either "url" or "path"');
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for a URL, as a string or an object of its parts. */
function isTarget(value: unknown): boolean {
  return typeof value === 'string' || (isRecord(value) && typeof value['pathname'] === 'string');
}

function refused(message: string, cause?: unknown): GatewayError {
  return new GatewayError('INJECT_OPTIONS', message, cause);
}
