import { HeaderBag, Reply } from '#contract';

/** JSON response of the gateway itself, without a completeness header. */
export function jsonReply(body: unknown, status = 200): Reply {
  const headers = new HeaderBag(['Content-Type', 'application/json; charset=utf-8']);
  const reply = Reply.raw(status, headers, Buffer.from(JSON.stringify(body)));
  reply.complete = null;
  return reply;
}
