import { HeaderBag, Reply } from '#contract';
import { escapeHtml } from '../../shared/values/html.ts';

/** A reply of the gateway's own, which no cache stores. @param cookies `Set-Cookie` lines. */
export function ownReply(status: number, headers: readonly string[], cookies: readonly string[], body = ''): Reply {
  const bag = new HeaderBag(['Cache-Control', 'no-store', ...headers]);
  for (const cookie of cookies) bag.append('Set-Cookie', cookie);
  const reply = Reply.raw(status, bag, Buffer.from(body));
  reply.complete = null;
  return reply;
}

/** @param status 302 keeps the method HEAD; 303 continues with GET. */
export function redirect(status: 302 | 303, url: string, cookies: readonly string[]): Reply {
  return ownReply(status, ['Location', url], cookies);
}

/** A text for the user. It never contains anything of the request. */
export function plainText(status: number, text: string, cookies: readonly string[] = []): Reply {
  return ownReply(status, ['Content-Type', 'text/plain; charset=utf-8'], cookies, `${text}\n`);
}

/**
 * A page that opens another one. Browsers add cookies with SameSite=Strict to its request, unlike to one that follows a
 * redirect from another site.
 */
export function openingPage(url: string, cookies: readonly string[]): Reply {
  const escaped = escapeHtml(url);
  const body = `<!doctype html><meta http-equiv="refresh" content="0;url=${escaped}"><a href="${escaped}">Continue</a>\n`;
  const headers = ['Content-Type', 'text/html; charset=utf-8', 'Content-Security-Policy', "default-src 'none'"];
  return ownReply(200, headers, cookies, body);
}
