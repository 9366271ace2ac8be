import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setImmediate as turn } from 'node:timers/promises';
import {
  atService,
  type Data,
  type DataObject,
  definePlugin,
  getKey,
  type Log,
  type OpenPort,
  offer,
  type Site,
  type TokenCheck,
  tokenChecks,
} from '#contract';
import { delay } from '../lib/delay.ts';
import { asker } from './ask.ts';
import { command } from './command.ts';
import { checkPacked, longestPacked, type Packed, partsOf } from './packed-set.ts';
import { indicesFor, Revocations } from './revocations.ts';
import { checkInterval, type RevokerConfig, schema, sizingOf } from './schema.ts';
import type { Sizing } from './sizing.ts';
import { updatePort } from './update-port.ts';

/** Number of elements that are processed before other requests run, which takes about 3 ms. */
const AT_ONCE = 500;

/** Messages between processes: revoked elements, the start and end of a set's sections, or sections. */
type Change = { add: string[] } | { union: 'begins' | 'ends' } | Uint8Array;

/** ID of this run of the program: after a restart, a gateway has lost all revocations. */
const RUN = randomUUID();

/**
 * Rejects revoked tokens. The filters take up to three times `-1.44 N log2 P` bits in every process, and no memory
 * while nothing is revoked. They survive reloads that do not change their size.
 *
 * Configuration faults: those of `sizingOf` and `checkInterval`, `REVOKER_URL`; warning `REVOKER_OPEN`.
 */
export const plugin = definePlugin({
  name: 'auth/revoker',
  description: 'Rejects revoked tokens. Revocations are received on a separate port.',
  oldFields: { HashName: 'hash_name', TokenKeys: 'token_keys' },
  leaves: ['requests', 'data'],
  opens: ['/port'],
  offers: [tokenChecks],
  commands: { revoker: command },
  independent: true,
  places: [
    atService(schema, (site) => {
      const { config } = site;
      const sizing = sizingOf(site);
      const log = site.log.at('[SERVICE: Bloomfilter]');
      const clock = site.use('clock');
      const indicesOf = indicesFor(sizing);
      const revocations = site.mirror<Revocations, Change>(['revocations', { ...sizing }], {
        open: () => new Revocations(sizing, clock.now()),
        apply(copy, change) {
          if (change instanceof Uint8Array) copy.unite(change, clock.now());
          else if ('add' in change) copy.add(change.add.map(indicesOf), clock.now());
          else if (change.union === 'begins') copy.beginUnion(clock.now());
          else copy.endUnion();
        },
        snapshot: (copy) => copy.sections(clock.now()),
      });
      const { value } = revocations;
      const unite = async (packed: Packed): Promise<number> => {
        // The set is validated first, so that only a valid set is sent to all processes.
        await checkPacked(packed, sizing);
        revocations.change({ union: 'begins' });
        for await (const part of partsOf(packed, sizing)) revocations.change(part);
        revocations.change({ union: 'ends' });
        return value.capacity;
      };
      let lastUnion: Promise<unknown> = Promise.resolve();
      const target = {
        longest: longestPacked(sizing),
        add: (elements: readonly string[]) => inTurns(elements, (some) => revocations.change({ add: [...some] })),
        async has(elements: readonly string[]) {
          const found: boolean[] = [];
          await inTurns(elements, (some) => {
            for (const element of some) found.push(value.has(indicesOf(element), clock.now()));
          });
          return found;
        },
        unite(packed: Packed) {
          // Unions run one after another, so that all parts of a set are added to the filters in which the set began.
          const union = lastUnion.then(() => unite(packed));
          lastUnion = union.catch(() => {});
          return union;
        },
        stats: () => value.stats(clock.now()),
      };
      const key = config.revoke_server_api_key ?? null;
      if (key === null) {
        site.warn('REVOKER_OPEN', '', 'without a key, anyone with an account on this machine can revoke tokens', {
          hint: '"revoke_server_api_key"',
        });
      }
      const address = { ...(key === null && { host: '127.0.0.1' }), port: config.port };
      const port = site.listen(address, updatePort(target, key, log));
      register(site, port, log);
      warnOfLoss(site, sizing, log);
      const check: TokenCheck = {
        name: 'revoked',
        check: checker(config.token_keys, indicesOf, (indices) => value.has(indices, clock.now())),
      };
      return { offers: [offer(tokenChecks, check)] };
    }),
  ],
});

/** Looks up the elements of a token. Their bit indexes are cached for as long as the token's claims are. */
function checker(
  names: readonly string[],
  indicesOf: (element: string) => Uint32Array,
  has: (indices: Uint32Array) => boolean,
): TokenCheck['check'] {
  const known = new WeakMap<Readonly<DataObject>, readonly Uint32Array[]>();
  return (claims) => {
    let all = known.get(claims);
    if (!all) {
      all = elementsOf(claims, names).map(indicesOf);
      known.set(claims, all);
    }
    return !all.some(has);
  };
}

/** Registers this gateway at the revoke server, at regular intervals. */
function register(site: Site<RevokerConfig>, port: OpenPort, log: Log): void {
  const {
    revoke_server_ping_url: written,
    revoke_server_ping_interval: intervalMs,
    revoke_server_api_key: key,
  } = site.config;
  if (written === undefined) return;
  const url = URL.canParse(written) ? new URL(written) : null;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw site.fault('REVOKER_URL', '/revoke_server_ping_url', 'not an http or https URL', {
      hint: 'http://host:port/instances',
    });
  }
  checkInterval(site);
  if (key === undefined) {
    throw site.fault('REVOKER_URL', '/revoke_server_ping_url', 'the revoke server requires a key', {
      hint: '"revoke_server_api_key"',
    });
  }
  const ask = asker(site, key, [{ address: url.href, at: '/revoke_server_ping_url' }]);
  site.start(async (signal) => {
    while (!signal.aborted) {
      const body = Buffer.from(JSON.stringify({ name: hostname(), port: port.port, run: RUN }));
      try {
        const status = await ask(url, body, signal);
        if (status < 200 || status > 299) throw new Error(`status ${status}`);
      } catch (error) {
        if (signal.aborted) return;
        log.warning(() => `cannot register this gateway at the revoke server: ${(error as Error).message}`);
      }
      await delay(intervalMs, signal);
    }
  });
}

/** Warns that revocations are lost: a filter of another size starts empty. */
function warnOfLoss(site: Site<RevokerConfig>, sizing: Sizing, log: Log): void {
  const last = site.keep('sizing', () => ({ text: '' }));
  const text = JSON.stringify(sizing);
  site.start(() => {
    if (last.text !== '' && last.text !== text)
      log.warning('N, P, hash_name or TTL have changed: all stored revocations are discarded');
    last.text = text;
  });
}

/** Returns the revocable elements of a token: one `<claim>-<value>` for each value of the given claims. */
function elementsOf(claims: Readonly<DataObject>, names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const value = getKey(claims, name);
    const values = Array.isArray(value) ? value.filter((member) => typeof member === 'string') : [value];
    return values.flatMap((one) => {
      const text = textOf(one);
      return text === null ? [] : [`${name}-${text}`];
    });
  });
}

/** Formats a text, number (in decimal form) or boolean; null for any other value. */
function textOf(value: Data | undefined): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value).toString() : String(value);
  return typeof value === 'object' && JSON.isRawJSON(value) ? value.rawJSON : null;
}

/** Processes elements in batches, and lets other requests run in between. */
async function inTurns(elements: readonly string[], work: (some: readonly string[]) => void): Promise<void> {
  for (let at = 0; at < elements.length; at += AT_ONCE) {
    if (at > 0) await turn();
    work(elements.slice(at, at + AT_ONCE));
  }
}
