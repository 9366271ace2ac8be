import { BackendError, type BackendSite, type Log, meterOf } from '#contract';
import type { Publisher, Subscriber } from '../../../clients/broker/message.ts';
import { addressOf } from './address.ts';
import { BadVariable, type Driver, type Open, type Opening } from './driver.ts';
import { driverOf, schemes } from './drivers.ts';

/** @throws ConfigError PUBSUB_HOST, PUBSUB_ADDRESS, PUBSUB_SCHEME, PUBSUB_PARAMETER */
export function openPublisher(site: BackendSite<{ readonly topic_url: string }>): Publisher {
  const { driver, opening } = driverFor(site, 'topic_url', site.config.topic_url);
  if (!driver.publisher) throw noDirection(opening, driver, 'published to');
  return openWith(opening, driver, driver.publisher(opening), (error) => ({ send: () => Promise.reject(error) }));
}

/** Opens a subscriber, and a log whose lines name its address. @throws ConfigError for an unusable address. */
export function openSubscriber(site: BackendSite<{ readonly subscription_url: string }>): {
  readonly subscriber: Subscriber;
  readonly log: Log;
} {
  const { driver, opening } = driverFor(site, 'subscription_url', site.config.subscription_url);
  if (!driver.subscriber) throw noDirection(opening, driver, 'subscribed to');
  const open = driver.subscriber({ ...opening, discarded: countDiscarded(site) });
  const subscriber = openWith(opening, driver, open, (error) => ({ next: () => Promise.reject(error) }));
  return { subscriber, log: opening.log };
}

/** Returns a counter of messages that are dropped unread. The plugin must list `meters` in `takes`. */
export function countDiscarded(site: BackendSite<unknown>): (count?: number) => void {
  const counter = meterOf(site)?.counter('pubsub.discarded', {
    description: 'Number of messages that were dropped unread.',
  });
  return (count = 1) => counter?.add(count);
}

function driverFor(site: BackendSite<unknown>, field: string, rest: string): { driver: Driver; opening: Opening } {
  const address = addressOf(site, field, rest);
  const driver = driverOf(address.scheme);
  if (driver === undefined) {
    throw site.fault('PUBSUB_SCHEME', `/${field}`, `unknown scheme in "${address.text}"`, {
      hint: `one of ${schemes.join(', ')} as host`,
    });
  }
  const log = site.use('log').at(`[BACKEND: ${address.text}][PubSub]`);
  return { driver, opening: { site, address, field, log, discarded: () => {} } };
}

function noDirection({ site, field, address }: Opening, { name }: Driver, what: string) {
  return site.fault('PUBSUB_SCHEME', `/${field}`, `"${address.text}": ${name} cannot be ${what}`);
}

/** Opens a driver. If the environment variable is missing or invalid, every request fails, and the error is logged once. */
function openWith<T>(
  { site, log }: Opening,
  { name, variable }: Driver,
  open: Open<T>,
  failing: (error: Error) => T,
): T {
  const said = variable === undefined ? '' : process.env[variable];
  let problem = `the environment variable ${variable} is not set`;
  if (said !== undefined && (said !== '' || variable === undefined)) {
    try {
      const opened = open(said);
      site.start(() => log.debug(`${name} initialized`), { in: 'each' });
      return opened;
    } catch (error) {
      if (!(error instanceof BadVariable)) throw error;
      problem = error.message;
    }
  }
  site.start(() => log.error(`${name}: ${problem}`), { in: 'each' });
  return failing(new BackendError('PUBSUB_ENVIRONMENT', `${name}: ${problem}`));
}
