import type { Call, ClientRequest, Log, Reply } from '#contract';
import { takeCookies } from './cookies.ts';
import { asUndecided } from './exchange.ts';
import type { Provider } from './provider.ts';
import { plainText, redirect } from './replies.ts';

/**
 * Ends the session of a browser, and redirects it to the provider to log out there. Requests must come from pages of
 * the gateway's own origin, or from users who enter the address, so that other sites cannot log users out.
 */
export async function logOut(provider: Provider, request: ClientRequest, call: Call, log: Log): Promise<Reply> {
  const { jar, sessions, base, config } = provider;
  const cookies = takeCookies(request.headers, jar.prefix);
  if (!isOwnRequest(request, new URL(base).origin)) return plainText(403, 'A page of another site cannot log you out.');
  const handle = jar.session(cookies);
  const after = `${base}${config.post_logout_path}`;
  const lines = jar.clear(cookies);
  if (handle === '') return redirect(303, after, lines);
  const session = await sessions.find(handle, call);
  await sessions.delete(handle, call);
  return redirect(303, session ? await pageAfter(session) : after, lines);

  /**
   * Ends the session at the provider, and returns the page to open. The local session has ended already, even if the
   * provider is unreachable.
   */
  async function pageAfter(ended: NonNullable<typeof session>): Promise<string> {
    try {
      return (await provider.exchange.end(ended, after, call))?.href ?? after;
    } catch (error) {
      if (call.reason) throw call.reason;
      log.warning(
        `a user is logged out of the gateway, but not of provider "${config.name}": ${asUndecided(error).message}`,
      );
      return after;
    }
  }
}

/** Whether the request comes from a page of the gateway's origin, or from the user. */
function isOwnRequest({ method, headers }: ClientRequest, origin: string): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin' || (site === 'none' && method === 'GET');
  const from = headers.get('origin') ?? headers.get('referer');
  return from !== undefined && URL.parse(from)?.origin === origin;
}
