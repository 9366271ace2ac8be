import dns from 'node:dns';
import type { Log } from '#contract';
import { mixed, spread } from './spread.ts';

/** What is known of one record: the targets of its last good look-up. */
export interface Known {
  /** As `name:port`, repeated by weight; replaced, never changed, when the records change. */
  targets: readonly string[];
  /** The targets in one text, in the order of the records, for comparing; null before the first good look-up. */
  text: string | null;
}

/** Keeps what is known of one record fresh. */
export interface Watch {
  /**
   * Waits for the first look-up, a few seconds at most and not when one was tried before; never fails. Called by many,
   * it is one look-up.
   */
  readonly first: (signal: AbortSignal) => Promise<void>;
  readonly close: () => void;
}

/** How long a configuration waits for the first look-up before it serves without hosts. */
const FIRST_LOOK_UP_MS = 5000;
const QUERY = { timeout: 2000, tries: 2 };

/** Looks a record up at every pause, with traffic or without, from the first pause on. A failure changes nothing. */
export function watchRecord(name: string, known: Known, pauseMs: number, log: Log): Watch {
  let running: { readonly resolver: dns.promises.Resolver; readonly done: Promise<void> } | null = null;
  let waiting: Promise<void> | null = null;
  let failure: string | null = null;
  let closed = false;

  const look = async (resolver: dns.promises.Resolver): Promise<void> => {
    try {
      learn(known, await resolver.resolveSrv(name));
      if (failure !== null) log.info(() => `SRV records of ${name} can be resolved again`);
      failure = null;
    } catch (error) {
      if (closed) return;
      const { code = String(error) } = error as { code?: string };
      const consequence = known.targets.length === 0 ? 'no hosts are available' : 'the last known hosts remain in use';
      const message = `SRV look-up of ${name} failed: ${code}, ${consequence}`;
      if (failure === code) log.debug(message);
      else log.warning(message);
      failure = code;
    }
  };
  const refresh = (): Promise<void> => {
    if (running === null) {
      const resolver = currentResolver();
      const done = look(resolver).finally(() => {
        running = null;
      });
      running = { resolver, done };
    }
    return running.done;
  };
  const timer = setInterval(refresh, pauseMs);
  timer.unref();
  return {
    first(signal) {
      if (known.text !== null || failure !== null) return Promise.resolve();
      waiting ??= settled(refresh(), signal).then((isSettled) => {
        if (!isSettled) log.warning(`SRV lookup of ${name} is slow: no hosts are available until it completes`);
      });
      return waiting;
    },
    close() {
      closed = true;
      clearInterval(timer);
      running?.resolver.cancel();
    },
  };
}

/** A resolver that asks the process's name servers and can be cancelled alone. */
function currentResolver(): dns.promises.Resolver {
  const resolver = new dns.promises.Resolver(QUERY);
  // Asked for on the module: a changed list of servers replaces its functions.
  const servers = dns.getServers();
  try {
    if (servers.length > 0) resolver.setServers(servers);
  } catch {
    // An address that can be listed but not set: the resolver keeps the system's servers, which it began with.
  }
  return resolver;
}

/** Takes over new records; the same ones leave the same array. */
function learn(known: Known, records: readonly dns.SrvRecord[]): void {
  const targets = spread(records);
  const text = targets.join(' ');
  if (text === known.text) return;
  known.targets = mixed(targets);
  known.text = text;
}

/** Waits for an end, or for the wait to get too long. @returns whether the end came. */
async function settled(done: Promise<void>, signal: AbortSignal): Promise<boolean> {
  const enough = AbortSignal.any([signal, AbortSignal.timeout(FIRST_LOOK_UP_MS)]);
  const givenUp = new Promise<false>((resolve) => {
    if (enough.aborted) resolve(false);
    else enough.addEventListener('abort', () => resolve(false), { once: true });
  });
  return Promise.race([done.then(() => true as const), givenUp]);
}
