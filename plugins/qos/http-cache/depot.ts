import { HeaderBag } from '#contract';
import { readDirectives } from './directives.ts';
import { MAX_WAIT_MS, Unkept } from './flights.ts';
import type { News, Question, Response } from './messages.ts';
import { type Limits, Store } from './store.ts';
import { judge } from './use.ts';

/** Record that a worker fetches a response for all workers. */
interface Claim {
  readonly by: string;
  /** Time of the claim, in milliseconds since 1970. */
  readonly since: number;
  isAwaited: boolean;
}

/** Maximum number of claims remembered; beyond it the oldest are removed, such as those of workers that exited before they finished. */
const MAX_CLAIMS = 10_000;

type Find = Extract<Question, { does: 'find' }>;
type Put = Extract<Question, { does: 'put' }>;
type Land = Extract<Question, { does: 'land' }>;
type Notify = (news: News) => void;

const done: Response = { does: 'done', entry: null };

/** The store shared by all workers, in the process that owns it. It decides which worker fetches what. */
export class Depot {
  readonly #store = new Store();
  readonly #unkept = new Unkept();
  readonly #claims = new Map<string, Claim>();

  /** The stored responses. */
  get stored(): Pick<Store, 'items' | 'bytes'> {
    return this.#store;
  }

  /** Handles a query of a worker. @param notify notifies all workers. @param now milliseconds since 1970. */
  answer(question: Question, limits: Limits, notify: Notify, now: number): Response {
    switch (question.does) {
      case 'find':
        return this.#find(question, now);
      case 'put':
        this.#put(question, limits, notify, now);
        break;
      case 'land':
        this.#end(question, notify, now);
        break;
      case 'drop':
        for (const key of question.keys) this.#store.changed(key);
        notify(question);
        break;
      case 'clear':
        this.#store.clear();
        notify(question);
    }
    return done;
  }

  #find({ by, key, asker, headers: list, heldSince }: Find, now: number): Response {
    const headers = new HeaderBag(list as string[]);
    const kept = this.#store.find(key, { asker, headers });
    const entry = kept !== undefined && (heldSince === null || kept.since > heldSince) ? kept : null;
    if (entry !== null && judge(entry, readDirectives(headers), now) === 'fresh') return { does: 'give', entry };
    // If an address has several variants, the fetch in progress probably concerns a different one, so this request does
    // not wait.
    if (kept === undefined && this.#store.has(key)) return { does: 'fetch', entry: null };
    const claim = this.#claims.get(key);
    // A claim whose time is in the future is ignored: the clock was set back, which would extend the claim.
    const claimedMs = claim === undefined ? MAX_WAIT_MS : now - claim.since;
    if (claim !== undefined && claim.by !== by && claimedMs >= 0 && claimedMs < MAX_WAIT_MS) {
      claim.isAwaited = true;
      return { does: 'wait', entry };
    }
    if (!this.#unkept.has(key, now)) this.#claim(key, by, now);
    return { does: 'fetch', entry };
  }

  #claim(key: string, by: string, now: number): void {
    this.#claims.delete(key);
    this.#claims.set(key, { by, since: now, isAwaited: false });
    if (this.#claims.size <= MAX_CLAIMS) return;
    for (const oldest of this.#claims.keys()) {
      this.#claims.delete(oldest);
      return;
    }
  }

  #put({ by, entry, asker, headers, requestedAt }: Put, limits: Limits, notify: Notify, now: number): void {
    const { key } = entry;
    const asking = { asker, headers: new HeaderBag(headers as string[]) };
    const isFirst = this.#store.find(key, asking) === undefined;
    const isKept = this.#store.isUnchanged(key, requestedAt) && this.#store.put(entry, limits, asking);
    // Other workers are notified, because their copies of the response are older and must be replaced.
    if (!isFirst) notify({ does: 'renew', by, keys: [key] });
    this.#end({ by, key, landing: isKept ? 'kept' : 'not kept' }, notify, now);
  }

  #end({ by, key, landing }: Pick<Land, 'by' | 'key' | 'landing'>, notify: Notify, now: number): void {
    const claim = this.#claims.get(key);
    if (claim?.by !== by) return;
    this.#claims.delete(key);
    this.#unkept.note(key, landing, now);
    if (claim.isAwaited) notify({ does: 'land', by, key, landing });
  }
}
