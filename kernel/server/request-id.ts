import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import {
  type AtService,
  addressMatcher,
  type Call,
  HeaderBag,
  type Log,
  type RouterOptions,
  requestIdSlot,
} from '#contract';
import { socketAddress } from './client-ip.ts';

/** Leaves the id of a request on its call; its header then holds that id and no other. */
export type Identify = (message: IncomingMessage, call: Call) => void;

/** Ids end up in log lines, headers and traces: no blanks, quotes or separators of lists. */
const sound = /^[\w.~:/+=@-]{1,128}$/;

/** Differs between processes, so that the ids of workers never meet. */
const processPart = randomBytes(6).toString('hex');
let made = 0;

/** @returns null where requests have no ids. */
export function compileRequestId({ request_id: name, trusted_proxies: proxies }: RouterOptions): Identify | null {
  if (name === '') return null;
  const lower = name.toLowerCase();
  const isTrusted = addressMatcher(proxies);
  return (message, call) => {
    const { rawHeaders, headers } = message;
    const bag = new HeaderBag(rawHeaders);
    const given = bag.has(lower) && isTrusted(socketAddress(message)) ? bag.getAll(lower) : [];
    const [only = ''] = given;
    if (given.length === 1 && sound.test(only)) return call.set(requestIdSlot, only);
    const id = `${processPart}-${(++made).toString(36)}`;
    bag.set(name, id);
    headers[lower] = id;
    call.set(requestIdSlot, id);
  };
}

/** A log that names the request, where it has an id. */
export function logOf(log: Log, call: Call): Log {
  const id = call.get(requestIdSlot);
  return id === undefined ? log : log.at(`[REQUEST: ${id}]`);
}

/** Puts the id of the request on every response. */
export function requestIdHead(name: string): NonNullable<AtService['head']> {
  return ({ headers }, _request, call) => headers.set(name, call.get(requestIdSlot)!);
}
