import type { Operations } from '#kernel';

/** Response that a browser has received. */
export interface Received {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

interface Options {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Redirects that are followed. Default: all. */
  readonly redirects?: number;
}

const MAX_REDIRECTS = 20;

/** A browser without scripts: cookies, redirects and the headers of a navigation. The gateway is called in this process. */
export class TestBrowser {
  readonly #base: string;
  readonly #gateway: () => Operations;
  /** Cookies by host, in the order in which they were set. */
  readonly cookies = new Map<string, Map<string, string>>();
  /** `Set-Cookie` lines of the gateway. */
  readonly lines: string[] = [];

  constructor(base: string, gateway: () => Operations) {
    this.#base = base;
    this.#gateway = gateway;
  }

  /** Cookies of the gateway. */
  get own(): Map<string, string> {
    return this.#jar(new URL(this.#base).host);
  }

  /** The same browser at another gateway with the same URL. */
  at(gateway: Operations): TestBrowser {
    const other = new TestBrowser(this.#base, () => gateway);
    for (const [host, jar] of this.cookies) other.cookies.set(host, jar);
    return other;
  }

  /** Opens a page, and follows redirects. */
  async open(
    target: string,
    { method = 'GET', headers = {}, redirects = MAX_REDIRECTS }: Options = {},
  ): Promise<Received> {
    let received = await this.send(new URL(target, this.#base).href, method, headers);
    for (let left = redirects; left > 0 && received.headers.has('location'); left--) {
      received = await this.send(new URL(received.headers.get('location')!, received.url).href, 'GET', headers);
    }
    return received;
  }

  async send(url: string, method: string, headers: Readonly<Record<string, string>>): Promise<Received> {
    const { host, pathname, search, origin } = new URL(url);
    const jar = this.#jar(host);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const sent = { accept: 'text/html', ...(cookie !== '' && { cookie }), ...headers };
    let received: Received;
    if (origin === new URL(this.#base).origin) {
      const response = await this.#gateway().inject({ method: method as 'GET', url: pathname + search, headers: sent });
      const bag = new Headers();
      for (const [name, value] of Object.entries(response.headers)) {
        for (const one of [value ?? []].flat()) bag.append(name, String(one));
      }
      this.lines.push(...bag.getSetCookie());
      received = { url, status: response.statusCode, headers: bag, text: response.body };
    } else {
      const response = await fetch(url, { method, headers: sent, redirect: 'manual' });
      received = { url, status: response.status, headers: response.headers, text: await response.text() };
    }
    for (const line of received.headers.getSetCookie()) store(jar, line);
    return received;
  }

  #jar(host: string): Map<string, string> {
    const jar = this.cookies.get(host) ?? new Map<string, string>();
    this.cookies.set(host, jar);
    return jar;
  }
}

function store(jar: Map<string, string>, line: string): void {
  const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
  const isRemoved = /;\s*Max-Age=0/i.test(line) || /expires=Thu, 01 Jan 1970/i.test(line);
  if (isRemoved) jar.delete(name!);
  else jar.set(name!, value!);
}
