import { hash } from 'node:crypto';
import { type DataObject, getKey, type Mirror, type Site } from '#contract';
import { ownId, type Session, subjectOf } from './session.ts';

/** Maximum number of logouts in memory. */
const MAX_LOGOUTS = 10_000;
/** Maximum length of a subject or session ID that is stored as it is, in characters. */
const MAX_NAME = 255;

/** Times of logouts in milliseconds since 1970, by the sessions that they end. The earliest is first. */
export class Logouts {
  readonly times = new Map<string, number>();

  /** @param maxAgeMs time after which the ended sessions would have expired anyway. */
  add(name: string, at: number, maxAgeMs: number): void {
    this.times.delete(name);
    this.times.set(name, at);
    for (const [earliest, time] of this.times) {
      if (this.times.size <= MAX_LOGOUTS && time + maxAgeMs > at) return;
      this.times.delete(earliest);
    }
  }
}

/** Sessions that a logout ends: one session, all that belong to one session at the provider, or all of a user. */
type Kind = 'one' | 'sid' | 'sub';

/**
 * Sessions that have ended before their cookies expire. All processes of a gateway keep them in memory, so they are
 * lost after a restart, and other gateways do not know them.
 */
export class EndedSessions {
  readonly #logouts: Mirror<Logouts, DataObject>;

  /** @param maxAgeMs maximum duration of a session. */
  constructor(site: Site<unknown>, identity: string, maxAgeMs: number) {
    this.#logouts = site.mirror<Logouts, DataObject>(['logouts', identity], {
      open: () => new Logouts(),
      apply(logouts, times) {
        for (const [name, at] of Object.entries(times)) logouts.add(name, Number(at), maxAgeMs);
      },
      snapshot: ({ times }) => Object.fromEntries(times),
    });
  }

  has(session: Session): boolean {
    const { times } = this.#logouts.value;
    if (times.size === 0) return false;
    const isEnded = (kind: Kind, value: unknown) =>
      typeof value === 'string' && session.startedAt * 1000 <= (times.get(nameOf(kind, value)) ?? 0);
    const subject = subjectOf(session);
    return isEnded('one', ownId(session)) || isEnded('sub', subject) || isEnded('sid', getKey(session.claims, 'sid'));
  }

  /** Ends one session. */
  end(session: Session): void {
    this.endAll('one', ownId(session));
  }

  /** Ends all sessions of a subject, or with a session ID, that have begun before now. */
  endAll(kind: Kind, value: string): void {
    this.#logouts.change({ [nameOf(kind, value)]: Date.now() });
  }
}

function nameOf(kind: Kind, value: string): string {
  return `${kind} ${value.length <= MAX_NAME ? value : hash('sha256', value, 'base64url')}`;
}
