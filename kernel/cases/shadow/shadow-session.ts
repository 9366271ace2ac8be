import { BackendError, type SandboxRequest } from '#contract';
import type { RefusedConnection, Session } from '../../sandbox/session.ts';

/** Maximum number of refused requests and connections that are listed. */
const MAX_REFUSALS = 50;

/** Maximum length of the listed text about a refused call, in characters. */
const MAX_LENGTH = 200;

const safe: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Refused requests and connections of a candidate, each once. */
export class Refusals {
  readonly #all = new Set<string>();

  get list(): readonly string[] {
    return [...this.#all];
  }

  add(refusal: string): void {
    if (this.#all.size < MAX_REFUSALS) this.#all.add(refusal.slice(0, MAX_LENGTH));
  }
}

/**
 * Network of a candidate: it reaches HTTP servers with GET and HEAD, and the name server. Everything else is refused,
 * and its log is discarded.
 */
export class ShadowSession implements Session {
  readonly looksUp = true;
  /** Calls that this session has refused. */
  readonly own = new Refusals();
  readonly #all: Refusals;
  readonly #sendsAnyMethod: boolean;

  /** @param all collects the calls that all sessions refuse. @param sendsAnyMethod whether HTTP requests with other methods are sent. */
  constructor(all: Refusals, sendsAnyMethod: boolean) {
    this.#all = all;
    this.#sendsAnyMethod = sendsAnyMethod;
  }

  respond({ protocol, method, url }: SandboxRequest): null {
    if (protocol === 'http' && (this.#sendsAnyMethod || safe.has(method))) return null;
    const refused = `${protocol === 'http' ? '' : `${protocol}: `}${method} ${originOf(url)}`;
    this.#refuse(refused);
    throw new BackendError('SANDBOX_REFUSED', `a shadow run does not send ${refused}`);
  }

  refused({ owner, address }: RefusedConnection): void {
    this.#refuse(address === '' ? owner : `${owner}, to ${address}`);
  }

  logged(): void {}

  #refuse(refusal: string): void {
    this.own.add(refusal);
    this.#all.add(refusal);
  }
}

/** The server of a URL: paths and queries may contain data of clients. */
function originOf(url: string): string {
  return url.replace(/^(\w+:\/\/[^/?#]*).*$/s, '$1');
}
