import type { Site } from '#contract';
import { prepareSharedTls, standardTls } from '../client-tls.ts';
import { type AmqpAddress, readAmqpAddress } from './address.ts';
import { type AmqpLink, type AmqpSettings, openLink } from './link.ts';

/**
 * A connection to a broker that several channels share. It opens when a channel needs it and is kept over reloads; which
 * pauses there are between attempts is the business of each channel.
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

  /** The open connection, or the one attempt that is being made for all. @throws Error with the reason. */
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

  /** Ends it, and all its channels. */
  async close(): Promise<void> {
    const opening = this.#link;
    this.#closing.abort();
    const link = await opening?.catch(() => null);
    await link?.close();
  }
}

/** The settings of a connection, and what tells them from others. */
export interface KnownSettings {
  readonly settings: AmqpSettings;
  /** Differs whenever address, user, password or TLS do. */
  readonly key: string;
}

/**
 * What a site says of a broker. TLS is that of `client_tls` of the service.
 * @param at of the address, as of `Site.connectsTo`.
 * @param fault makes what is thrown for an address that is none.
 * @throws ConfigError of `client_tls`.
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
 * The connection of some settings, one for all components of a plugin that name it for the same purpose: a broker that has
 * no room stops reading from connections that publish, and consumers have to acknowledge meanwhile.
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
