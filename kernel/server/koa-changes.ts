import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** Headers that say how the body travels: what arrived stays true, whatever middleware makes of them. */
const framing: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding']);

/** A request as it came, to tell what Koa middleware changes of it. */
export class KoaChanges {
  readonly #message: IncomingMessage;
  readonly #headers: IncomingHttpHeaders;
  #url: string | undefined;
  #method: string | undefined;

  constructor(message: IncomingMessage) {
    this.#message = message;
    this.#headers = { ...message.headers };
    this.#url = message.url;
    this.#method = message.method;
  }

  /** Something else is asked for than before. */
  get isElsewhere(): boolean {
    const { url, method } = this.#message;
    return url !== this.#url || method !== this.#method;
  }

  /** Writes the headers that were set, replaced or taken away where the pipe reads them. */
  settleHeaders(): void {
    const { headers, rawHeaders } = this.#message;
    for (const name of new Set([...Object.keys(this.#headers), ...Object.keys(headers)])) {
      const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
      const before = Object.hasOwn(this.#headers, name) ? this.#headers[name] : undefined;
      if (value === before || name.startsWith(':') || framing.has(name.toLowerCase())) continue;
      removeHeader(rawHeaders, name.toLowerCase());
      for (const one of [value ?? []].flat()) rawHeaders.push(name, String(one));
    }
  }
}

function removeHeader(list: string[], lowerName: string): void {
  for (let at = list.length - 2; at >= 0; at -= 2) if (list[at]!.toLowerCase() === lowerName) list.splice(at, 2);
}
