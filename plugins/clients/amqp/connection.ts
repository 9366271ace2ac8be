import type { Site } from '#contract';
import { prepareSharedTls, standardTls } from '../tls/client-tls.ts';
import { type AmqpAddress, readAmqpAddress } from './address.ts';
import { type AmqpLink, type AmqpSettings, openLink } from './link.ts';

/**
 * A connection to a broker, shared by several channels. It opens when a channel needs it and is kept across reloads;
 * each channel decides on the pauses between its attempts.
 */
export class AmqpConnection {
  readonly name: string;
  readonly #settings: AmqpSettings;
  readonly #closing = new AbortController();
  #link: Promise<AmqpLink> | null = null;

  constructor(settings: AmqpSettings) {
    this.name = settings.address.name;
    this.#settings = settings;
  }

  /** Returns the open connection, or waits for the attempt in progress, which all callers share. @throws Error with the reason. */
  link(): Promise<AmqpLink> {
    if (this.#link) return this.#link;
    const opening = openLink(this.#settings, this.#closing.signal);
    this.#link = opening;
    const forget = () => {
      if (this.#link === opening) this.#link = null;
    };
    opening.then((link) => link.closed.then(forget), forget);
    return opening;
  }

  /** Closes the connection and all its channels. */
  async close(): Promise<void> {
    const opening = this.#link;
    this.#closing.abort();
    const link = await opening?.catch(() => null);
    await link?.close();
  }
}

/** The settings of a connection, with a key that identifies them. */
export interface KnownSettings {
  readonly settings: AmqpSettings;
  /** Key that differs whenever address, user, password or TLS differ. */
  readonly key: string;
}

/**
 * Reads the broker settings of a site. TLS comes from `client_tls` of the service.
 * @param at location of the address, as for `Site.connectsTo`.
 * @param fault creates the error to throw for an invalid address.
 * @throws ConfigError for `client_tls`.
 */
export function readSettings(
  site: Site<unknown>,
  text: string,
  at: string | number,
  fault: (message: string) => Error,
): KnownSettings {
  let address: AmqpAddress;
  try {
    address = readAmqpAddress(text);
  } catch (error) {
    throw fault((error as Error).message);
  }
  const service = address.isEncrypted ? site.setting('client_tls') : undefined;
  const shared = service && prepareSharedTls(site, service);
  const tls = address.isEncrypted ? (shared?.client ?? standardTls()) : null;
  site.connectsTo({ address: text, port: address.port, tls: tls && (() => tls) }, at);
  return {
    settings: { address, tls, denied: site.use('denied') },
    key: JSON.stringify([address, shared?.fingerprint ?? '']),
  };
}

/**
 * Returns the connection for some settings. All components of a plugin that use it for the same purpose share it;
 * publishing and consuming have separate ones, because a broker that is out of memory stops reading from connections
 * that publish, and consumers must still be able to acknowledge.
 */
export function keepConnection(
  site: Site<unknown>,
  { settings, key }: KnownSettings,
  purpose: 'publish' | 'consume',
): AmqpConnection {
  return site.keep(
    ['connection', purpose, key],
    () => new AmqpConnection(settings),
    (connection) => connection.close(),
  );
}
