import type { HeaderBag } from '#contract';

/** Maximum length of one cookie value, in characters. Browsers accept 4,096 bytes including name and attributes. */
const CHUNK = 3800;
/** Maximum number of cookies of a session: request headers are limited to 16 KiB. */
const MAX_CHUNKS = 3;
/** Maximum number of logins that a browser can have in progress; further ones replace the oldest. */
const MAX_LOGINS = 5;
/** Number of characters of the state that distinguish the cookies of logins in progress. */
const STATE = 10;

/** Maximum length of the value of a session, in characters. */
export const MAX_VALUE = CHUNK * MAX_CHUNKS - 2;

export type SameSite = 'Lax' | 'Strict';

/** The gateway's cookies of a request, by name. */
export type Cookies = ReadonlyMap<string, string>;

/** Prefix of the names of all cookies. @param name `cookie_name` of the configuration. */
export function cookiePrefix(name: string): string {
  return `__Host-${name}.`;
}

const none: ReadonlyMap<string, string> = new Map<string, string>();

/**
 * Removes the cookies with a prefix from a request, so that backends do not receive them. Of several cookies with the
 * same name, the first one is used.
 */
export function takeCookies(headers: HeaderBag, prefix: string): Cookies {
  let taken: Map<string, string> | null = null;
  const kept: string[] = [];
  for (const line of headers.getAll('cookie')) {
    if (!line.includes(prefix)) {
      kept.push(line);
      continue;
    }
    taken ??= new Map();
    const others: string[] = [];
    for (const pair of line.split(';')) {
      const text = pair.trim();
      if (!text.startsWith(prefix)) {
        others.push(text);
        continue;
      }
      const equals = text.indexOf('=');
      const name = text.slice(0, equals);
      if (equals > 0 && !taken.has(name)) taken.set(name, text.slice(equals + 1));
    }
    if (others.length > 0) kept.push(others.join('; '));
  }
  if (!taken) return none;
  headers.delete('cookie');
  for (const line of kept) headers.append('Cookie', line);
  return taken;
}

/** Cookies of one provider: those of a session, one with the time of its last request, and one for each login in progress. */
export class CookieJar {
  /** Common prefix of the cookie names of all providers. */
  readonly prefix: string;
  readonly #session: string;
  readonly #login: string;
  readonly #activity: string;
  readonly sameSite: SameSite;

  constructor(name: string, provider: string, sameSite: SameSite) {
    this.prefix = cookiePrefix(name);
    this.#session = `${this.prefix}${provider}.`;
    this.#login = `${this.prefix}${provider}~`;
    this.#activity = `${this.prefix}${provider}!`;
    this.sameSite = sameSite;
  }

  /** Value of the session; empty if the request has none, or a part of it is missing. */
  session(cookies: Cookies): string {
    const first = cookies.get(`${this.#session}0`) ?? '';
    // The first cookie begins with the number of parts, so that remaining parts of an earlier, longer value are
    // ignored.
    const parts = Number(first[0]);
    if (!(parts >= 1 && parts <= MAX_CHUNKS) || first[1] !== '.') return '';
    let value = first.slice(2);
    for (let part = 1; part < parts; part++) {
      const more = cookies.get(`${this.#session}${part}`);
      if (more === undefined) return '';
      value += more;
    }
    return value;
  }

  /** `Set-Cookie` lines that store a session. @param value at most `MAX_VALUE` characters. @param maxAge in seconds. */
  store(value: string, maxAge: number, cookies: Cookies): string[] {
    const parts = Math.ceil((value.length + 2) / CHUNK);
    const text = `${parts}.${value}`;
    const lines = Array.from({ length: parts }, (_, part) =>
      this.#line(`${this.#session}${part}`, text.slice(part * CHUNK, (part + 1) * CHUNK), maxAge, this.sameSite),
    );
    return [...lines, ...this.#expired(cookies, (name) => this.#partOf(name) >= parts)];
  }

  /** `Set-Cookie` lines that remove the session. */
  clear(cookies: Cookies): string[] {
    return this.#expired(cookies, (name) => this.#partOf(name) >= 0 || name === this.#activity);
  }

  /** Value that records the last request of the session; empty if the request has none. */
  activity(cookies: Cookies): string {
    return cookies.get(this.#activity) ?? '';
  }

  /** `Set-Cookie` line that records the last request of the session. @param maxAge in seconds. */
  storeActivity(value: string, maxAge: number): string {
    return this.#line(this.#activity, value, maxAge, this.sameSite);
  }

  /** Value of a login in progress; empty if the request has none with this state. */
  login(cookies: Cookies, state: string): string {
    return cookies.get(this.#loginName(state)) ?? '';
  }

  /** `Set-Cookie` lines that store a login in progress. */
  storeLogin(state: string, value: string, maxAge: number, cookies: Cookies): string[] {
    const logins = [...cookies.keys()].filter((name) => name.startsWith(this.#login));
    // Browsers send the oldest cookies first, so the first logins in the list are replaced.
    const replaced = new Set(logins.slice(0, Math.max(logins.length - MAX_LOGINS + 1, 0)));
    // SameSite is Lax: the provider's redirect is a cross-site navigation, to which browsers do not add Strict cookies.
    return [
      this.#line(this.#loginName(state), value, maxAge, 'Lax'),
      ...this.#expired(cookies, (name) => replaced.has(name)),
    ];
  }

  /** `Set-Cookie` lines that remove a login. */
  clearLogin(state: string): string[] {
    return [this.#line(this.#loginName(state), '', 0, 'Lax')];
  }

  #loginName(state: string): string {
    return this.#login + state.slice(0, STATE);
  }

  #partOf(name: string): number {
    if (!name.startsWith(this.#session)) return -1;
    const part = name.slice(this.#session.length);
    return /^\d$/.test(part) ? Number(part) : -1;
  }

  #expired(cookies: Cookies, isExpired: (name: string) => boolean): string[] {
    return [...cookies.keys()].filter(isExpired).map((name) => this.#line(name, '', 0, 'Lax'));
  }

  #line(name: string, value: string, maxAge: number, sameSite: SameSite): string {
    return `${name}=${value}; Path=/; Max-Age=${maxAge}; Secure; HttpOnly; SameSite=${sameSite}`;
  }
}
