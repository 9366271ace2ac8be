import type { Call, ClientRequest, Reply } from '#contract';
import { RedisError } from '../../clients/redis/redis-error.ts';
import { type Cookies, takeCookies } from './cookies.ts';
import { library } from './discovery.ts';
import { asUndecided, type LoginChecks } from './exchange.ts';
import type { Provider } from './provider.ts';
import { openingPage, plainText, redirect } from './replies.ts';
import { readSession } from './session.ts';
import { SessionTooLarge } from './sessions.ts';

/** Time that a user has to log in, in seconds. */
const LOGIN_SECONDS = 600;
/** Maximum length of the page address that is stored in a cookie and opened after a login, in characters. */
const MAX_PAGE = 1500;

/** A login in progress, as stored in its cookie. */
interface Login extends LoginChecks {
  readonly page: string;
  readonly startedAt: number;
}

/** Result of a callback, for metrics. */
export type LoginResult = 'completed' | 'denied' | 'invalid' | 'failed';

/** Path and query of a page that is opened after a login; `/` for any other text, such as the address of another site. */
export function pageOf(text: string): string {
  return text.length <= MAX_PAGE && /^\/[\x21-\x7e]*$/.test(text) ? text : '/';
}

/** Redirects the browser to the provider. @param page see `pageOf`. @throws Undecided; the call's abort reason. */
export async function beginLogin(provider: Provider, page: string, cookies: Cookies, call: Call): Promise<Reply> {
  const { exchange, jar, seal, base, path } = provider;
  let begun: Awaited<ReturnType<typeof exchange.begin>>;
  try {
    begun = await exchange.begin(`${base}${path}/callback`, call);
  } catch (error) {
    throw call.reason ?? asUndecided(error);
  }
  const { url, ...checks } = begun;
  const login: Login = { ...checks, page: pageOf(page), startedAt: Date.now() };
  const sealed = seal.close(purposeOf(provider), JSON.stringify(login));
  return redirect(302, url.href, jar.storeLogin(login.state, sealed, LOGIN_SECONDS, cookies));
}

/** Completes the login whose state the request carries, and opens the page that the user has requested. */
export async function completeLogin(
  provider: Provider,
  request: ClientRequest,
  call: Call,
): Promise<{ readonly reply: Reply; readonly result: LoginResult; readonly reason?: string }> {
  const { jar, activity, base, path, exchange, sessions, sealSession } = provider;
  const cookies = takeCookies(request.headers, jar.prefix);
  const state = request.query.get('state') ?? '';
  const login = loginOf(provider, cookies, state);
  if (!login) {
    const text = 'This login has expired, or was completed already. Open the page again.';
    return { reply: plainText(400, text), result: 'invalid', reason: 'unknown or expired state' };
  }
  // The cookie of the login is removed in any case, because each login can be completed only once.
  const done = jar.clearLogin(state);
  try {
    const text = await exchange.complete(new URL(`${base}${path}/callback?${request.search}`), login, call);
    const session = readSession(text);
    if (!session) throw new Error('the claims of the ID token are not valid');
    // Ends an earlier session of this browser, so that a cookie that was planted before the login becomes invalid.
    const earlier = jar.session(cookies);
    if (earlier !== '') await sessions.delete(earlier, call);
    const handle = await sessions.create(session, sealSession(text), call);
    const recorded = activity ? [activity.record(session)] : [];
    const lines = [...jar.store(handle, provider.maxAge, cookies), ...recorded, ...done];
    const url = `${base}${login.page}`;
    const isStrict = jar.sameSite === 'Strict';
    return { reply: isStrict ? openingPage(url, lines) : redirect(303, url, lines), result: 'completed' };
  } catch (error) {
    if (call.reason) throw call.reason;
    if (error instanceof RedisError) throw error;
    return { ...(await failureOf(error, done)), reason: asUndecided(error).message };
  }
}

async function failureOf(error: unknown, cookies: readonly string[]): Promise<{ reply: Reply; result: LoginResult }> {
  const { AuthorizationResponseError } = await library.get();
  if (error instanceof AuthorizationResponseError) {
    return { reply: plainText(403, 'The login was denied.', cookies), result: 'denied' };
  }
  if (error instanceof SessionTooLarge) {
    return { reply: plainText(500, 'The session is too large.', cookies), result: 'failed' };
  }
  const status = asUndecided(error).isOutage ? 503 : 502;
  return { reply: plainText(status, 'The login has failed. Try again later.', cookies), result: 'failed' };
}

function loginOf(provider: Provider, cookies: Cookies, state: string): Login | null {
  const sealed = provider.jar.login(cookies, state);
  const text = sealed === '' ? null : provider.seal.open(purposeOf(provider), sealed);
  if (text === null) return null;
  const login = JSON.parse(text) as Login;
  // Only the age is checked here. The library compares the state with the other parameters of the response.
  return Date.now() < login.startedAt + LOGIN_SECONDS * 1000 ? login : null;
}

function purposeOf({ config: { name, issuer, client_id } }: Provider): string {
  return `login ${JSON.stringify([name, issuer, client_id])}`;
}
