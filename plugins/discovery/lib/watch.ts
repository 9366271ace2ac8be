import dns from 'node:dns';
import type { Log } from '#contract';
import { mixed, spread } from './spread.ts';

/** Targets of one record's last successful lookup. */
export interface Known {
  /** Targets as `name:port`, repeated by weight. When the records change, the array is replaced, never modified. */
  targets: readonly string[];
  /** Targets as one text, in the order of the records, for comparison; null before the first successful lookup. */
  text: string | null;
}

/** Keeps the targets of one record up to date. */
export interface Watch {
  /**
   * Waits for the first lookup, for a few seconds at most; does not wait when one was attempted before. Never fails.
   * Concurrent calls share one lookup, and each waits until its own signal aborts.
   */
  readonly first: (signal: AbortSignal) => Promise<void>;
  readonly close: () => void;
}

/** Time for which a configuration waits for the first lookup before it serves without hosts, in milliseconds. */
const FIRST_LOOK_UP_MS = 5000;
const QUERY = { timeout: 2000, tries: 2 };

/** Looks a record up at a fixed interval, with or without traffic, the first time after one interval. A failure changes nothing. */
export function watchRecord(name: string, known: Known, pauseMs: number, log: Log): Watch {
  let running: { readonly resolver: dns.promises.Resolver; readonly done: Promise<void> } | null = null;
  /** Ends all waiting for the first lookup; null before anyone waits. */
  let enough: AbortSignal | null = null;
  let failure: string | null = null;
  /** Whether the log says that the first lookup is slow. */
  let isSlow = false;
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
    async first(signal) {
      if (known.text !== null || failure !== null) return;
      enough ??= AbortSignal.timeout(FIRST_LOOK_UP_MS);
      if (await settled(refresh(), AbortSignal.any([signal, enough]))) return;
      if (isSlow || closed) return;
      isSlow = true;
      log.warning(`SRV lookup of ${name} is slow: no hosts are available until it completes`);
    },
    close() {
      closed = true;
      clearInterval(timer);
      running?.resolver.cancel();
    },
  };
}

/** Creates a resolver that uses the process's name servers and can be canceled separately. */
function currentResolver(): dns.promises.Resolver {
  const resolver = new dns.promises.Resolver(QUERY);
  // Called as a method of the module, because setting the servers replaces its functions.
  const servers = dns.getServers();
  try {
    if (servers.length > 0) resolver.setServers(servers);
  } catch {
    // Some addresses can be listed but not set. The resolver then uses its default, the servers of the system.
  }
  return resolver;
}

/** Stores new records; the array stays the same when the records do. */
function learn(known: Known, records: readonly dns.SrvRecord[]): void {
  const targets = spread(records);
  const text = targets.join(' ');
  if (text === known.text) return;
  known.targets = mixed(targets);
  known.text = text;
}

/** Waits for completion until a signal aborts. @returns true when completed. */
async function settled(done: Promise<void>, signal: AbortSignal): Promise<boolean> {
  const { promise: givenUp, resolve } = Promise.withResolvers<false>();
  const giveUp = () => resolve(false);
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await Promise.race([done.then(() => true as const), givenUp]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}
