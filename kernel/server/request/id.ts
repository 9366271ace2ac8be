import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type AtService, type Call, HeaderBag, type Log, type RouterOptions, requestIdSlot } from '#contract';
import { peerMatcher } from '../../net/address-range.ts';
import { frozen } from '../../values/frozen.ts';
import { socketAddress } from './client-ip.ts';

/** Stores a request's ID on its call, and sets its header to that ID alone. */
export type Identify = (message: IncomingMessage, call: Call) => void;

/**
 * Pattern of valid IDs. IDs appear in log lines, headers and traces, so they contain no spaces, quotes or list
 * separators.
 */
const sound = /^[\w.~:/+=@-]{1,128}$/;

/** Part of the ID that differs between processes, so that workers never generate the same ID. */
const processPart = randomBytes(6).toString('hex');
let made = 0;

/** @returns null when request IDs are disabled. */
export function compileRequestId({ request_id: name, trusted_proxies: proxies }: RouterOptions): Identify | null {
  if (name === '') return null;
  const lower = name.toLowerCase();
  const isTrusted = peerMatcher(proxies);
  return (message, call) => {
    const { rawHeaders, headers } = message;
    const bag = new HeaderBag(rawHeaders);
    const given = bag.has(lower) && isTrusted(socketAddress(message)) ? bag.getAll(lower) : [];
    const [only = ''] = given;
    if (given.length === 1 && sound.test(only)) return call.set(requestIdSlot, only);
    const id = frozen()?.requestId ?? `${processPart}-${(++made).toString(36)}`;
    bag.set(name, id);
    headers[lower] = id;
    call.set(requestIdSlot, id);
  };
}

/** Returns a log that includes the request ID, if there is one. */
export function logOf(log: Log, call: Call): Log {
  const id = call.get(requestIdSlot);
  return id === undefined ? log : log.at(`[REQUEST: ${id}]`);
}

/** Sets the request ID header on every response. */
export function requestIdHead(name: string): NonNullable<AtService['head']> {
  return ({ headers }, _request, call) => headers.set(name, call.get(requestIdSlot)!);
}
