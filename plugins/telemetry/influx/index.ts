// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import { atService, definePlugin, type Infer, type Site } from '#contract';
import { isLocal } from '../../shared/calls/local-url.ts';
import { outgoingOf } from '../lib/outgoing.ts';
import { snapshots } from '../metrics/stats.ts';
import { Delivery } from './delivery.ts';
import { type InfluxOptions, InfluxServer } from './server.ts';

const schema = {
  type: 'object',
  title: 'InfluxDB',
  description: 'InfluxDB server that receives the metrics of telemetry/metrics.',
  required: ['address', 'ttl'],
  examples: [
    { address: 'http://influx.internal:8086', ttl: '30s' },
    {
      address: 'https://influx.internal:8086',
      ttl: '25s',
      db: 'gateway',
      username: 'gateway',
      password: '${INFLUX_PASSWORD}',
      buffer_size: 100,
    },
  ],
  properties: {
    address: {
      type: 'string',
      minLength: 1,
      description: 'Server URL.',
      examples: ['https://influx.internal:8086'],
    },
    ttl: { type: 'duration', description: 'Interval between pushes.', examples: ['30s'] },
    db: {
      type: 'string',
      minLength: 1,
      description: 'Database name, or bucket name for InfluxDB 2.',
      default: 'krakend',
    },
    username: { type: 'string', description: 'User name for the login at InfluxDB.', default: '' },
    password: { type: 'string', secret: true, description: 'Password.', default: '' },
    buffer_size: {
      type: 'integer',
      minimum: 0,
      description:
        'Maximum number of batches that are kept while the server is unreachable, up to 16 MiB in total. The oldest are dropped first.',
      default: 0,
    },
  },
} as const;

/** Maximum duration of a timer, in milliseconds. */
const MAX_TTL_MS = 2 ** 31 - 1;

/**
 * Sends the counts of `telemetry/metrics`, summed over all workers, to InfluxDB. Codes: `INFLUX_ADDRESS`, `INFLUX_TTL`,
 * `INFLUX_CREDENTIALS`, `INFLUX_INSECURE`, `INFLUX_TLS`.
 */
export const plugin = definePlugin({
  name: 'telemetry/influx',
  description: 'Writes the metrics of telemetry/metrics to InfluxDB.',
  expects: ['telemetry/metrics'],
  leaves: ['requests', 'data'],
  takes: [snapshots],
  places: [
    atService(schema, (site) => {
      const { ttl, db, buffer_size: bufferSize } = site.config;
      if (ttl < 1 || ttl > MAX_TTL_MS) {
        throw site.fault('INFLUX_TTL', '/ttl', 'the interval must be between a millisecond and 24 days', {
          hint: '"30s"',
        });
      }
      if (ttl < 1000)
        site.warn('INFLUX_TTL', '/ttl', 'points of the same second replace each other', { hint: '"30s"' });
      const options = optionsOf(site);
      const snapshot = site.take(snapshots);
      if (!snapshot) return {};
      const delivery = site.keep(
        [options.address, db],
        () => new Delivery(),
        (kept) => kept.close(),
      );
      const server = new InfluxServer(options);
      const log = site.use('log').at('[SERVICE: InfluxDB]');
      site.start((signal) => {
        delivery.target = { server, snapshot, bufferSize, log };
        const timer = setInterval(() => void delivery.push(), ttl);
        timer.unref();
        signal.addEventListener('abort', () => clearInterval(timer), { once: true });
        server.ping(signal).then(
          () => log.debug('The server responds'),
          (error: Error) => {
            if (!signal.aborted) log.error(`Unable to ping the server: ${error.message}`);
          },
        );
      });
      return {};
    }),
  ],
});

/** @throws ConfigError INFLUX_ADDRESS, INFLUX_CREDENTIALS, INFLUX_TLS */
function optionsOf(site: Site<Infer<typeof schema>>): InfluxOptions {
  const { address, db, username, password } = site.config;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw site.fault('INFLUX_ADDRESS', '/address', 'the address is not a server URL', {
      hint: '"https://influx.internal:8086"',
    });
  }
  if (url.username !== '' || url.password !== '') {
    throw site.fault('INFLUX_ADDRESS', '/address', 'the address contains a user name or password', {
      hint: 'write them as username and password',
    });
  }
  if (username.includes(':')) {
    throw site.fault('INFLUX_CREDENTIALS', '/username', 'a user name with a colon cannot be sent');
  }
  if (password !== '' && username === '') {
    throw site.fault('INFLUX_CREDENTIALS', '/password', 'a password is set without a username');
  }
  if (password !== '' && url.protocol === 'http:' && !isLocal(url)) {
    site.warn('INFLUX_INSECURE', '/address', 'the password is sent without TLS', { hint: 'https://' });
  }
  return {
    address: url.href.replace(/\/+$/, ''),
    db,
    credentials: username === '' ? null : { username, password },
    ...outgoingOf(site, url.href, '/address', 'INFLUX_TLS'),
  };
}
