import type { DeniedAddresses, Site } from '#contract';
import { keyOf } from '../broker/key-of.ts';
import { prepareTls, type TlsClient } from '../tls/client-tls.ts';
import type { ClusterConfig, GroupConfig } from './schema.ts';

/** Credentials for the brokers. */
export interface KafkaUser {
  readonly mechanism: 'PLAIN' | 'OAUTHBEARER' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512';
  readonly user: string;
  readonly password: string;
  /** Authorization identity that the user acts for; empty for the user itself. */
  readonly authorizationId: string;
}

/** Settings of the connection to brokers. */
export interface KafkaSettings {
  /** Brokers, such as `kafka.internal:9092`. */
  readonly brokers: readonly string[];
  readonly tls: TlsClient | null;
  readonly user: KafkaUser | null;
  readonly connectMs: number;
  readonly responseMs: number;
  readonly keepAliveMs: number;
  readonly clientId: string;
  readonly rack: string;
  /** Number of records that are read ahead. */
  readonly bufferSize: number;
  readonly metadataRetries: number;
  readonly metadataBackoffMs: number;
  /** Destinations that a connection must not reach. */
  readonly denied: DeniedAddresses;
}

/** Settings for reading records. */
export interface GroupSettings {
  readonly id: string;
  readonly sessionMs: number;
  readonly heartbeatMs: number;
  readonly rebalanceMs: number;
  readonly strategy: 'range' | 'roundrobin';
  readonly instanceId: string | undefined;
  readonly fetchBytes: number;
  readonly readsUncommitted: boolean;
  /** Start of a group without committed offsets. */
  readonly from: 'newest' | 'oldest';
}

/** Settings with a key that identifies them and contains no password. */
export interface Known<T> {
  readonly settings: T;
  readonly key: string;
}

/**
 * Reads a `cluster` object.
 * @param pointer of the object in the site's configuration.
 * @throws ConfigError KAFKA_BROKER, KAFKA_CLIENT_ID, KAFKA_DURATION, KAFKA_OPTION, KAFKA_SASL, and errors for unusable TLS settings.
 */
export function readCluster(site: Site<unknown>, config: ClusterConfig, pointer: string): Known<KafkaSettings> {
  for (const [index, broker] of config.brokers.entries()) {
    if (isBroker(broker)) continue;
    throw site.fault('KAFKA_BROKER', `${pointer}/brokers/${index}`, `"${broker}" is not a valid host and port`, {
      hint: 'for example "kafka.internal:9092"',
    });
  }
  for (const field of ['dial_timeout', 'read_timeout'] as const) {
    if (config[field] <= 0) throw site.fault('KAFKA_DURATION', `${pointer}/${field}`, `${field} must be above 0`);
  }
  const { client_id: clientId = `sluice-${site.use('version')}` } = config;
  if (!/^\S+$/.test(clientId)) {
    throw site.fault('KAFKA_CLIENT_ID', `${pointer}/client_id`, 'client_id must be a name without white space');
  }
  const tls = config.client_tls && prepareTls(site, config.client_tls, `${pointer}/client_tls`);
  for (const [index, address] of config.brokers.entries()) {
    site.connectsTo({ address, tls: tls && (() => tls.client) }, `${pointer}/brokers/${index}`);
  }
  return {
    settings: {
      brokers: config.brokers,
      tls: tls?.client ?? null,
      user: config.sasl ? userOf(site, config.sasl, `${pointer}/sasl`) : null,
      connectMs: config.dial_timeout,
      responseMs: config.read_timeout,
      keepAliveMs: config.keep_alive,
      clientId,
      rack: config.rack_id ?? '',
      bufferSize: Math.max(config.channel_buffer_size, 1),
      metadataRetries: config.metadata_retry_max,
      metadataBackoffMs: config.metadata_retry_backoff,
      denied: site.use('denied'),
    },
    key: keyOf([config, tls?.fingerprint ?? '']),
  };
}

/** Whether the text has the form `host:port`. */
export function isBroker(text: string): boolean {
  const port = /^(?:\[[\da-fA-F:.]+\]|[^\s:/[\]@,]+):(\d{1,5})$/.exec(text)?.[1];
  return port !== undefined && Number(port) > 0 && Number(port) < 65_536;
}

/** Whether Kafka allows the topic name. */
export function isTopic(name: string): boolean {
  return /^(?!\.{1,2}$)[\w.-]{1,249}$/.test(name);
}

function userOf(site: Site<unknown>, sasl: NonNullable<ClusterConfig['sasl']>, pointer: string): KafkaUser {
  const { mechanism, user = '', password = '' } = sasl;
  const cannot = (field: string, why: string) =>
    site.fault('KAFKA_OPTION', `${pointer}/${field}`, `${field} is not supported: ${why}`);
  if (sasl.scram_auth_id) throw cannot('scram_auth_id', 'with SCRAM, the client always acts for its own user');
  if (sasl.azure_event_hub) {
    throw cannot('azure_event_hub', 'the client supports version 1 of the SASL handshake, which Event Hubs accepts');
  }
  if (!sasl.disable_hanshake) throw cannot('disable_hanshake', 'the client always sends the SASL handshake');
  const isToken = mechanism === 'OAUTHBEARER';
  if (password === '' || (!isToken && user === '')) {
    const missing = password === '' ? 'password' : 'user';
    throw site.fault(
      'KAFKA_SASL',
      `${pointer}/${missing}`,
      `${mechanism} needs ${isToken ? 'a token as password' : 'user and password'}`,
    );
  }
  if (mechanism !== 'PLAIN' && sasl.auth_identity)
    throw cannot('auth_identity', `the field belongs to PLAIN, not to ${mechanism}`);
  return { mechanism, user, password, authorizationId: sasl.auth_identity ?? '' };
}

/**
 * Reads a `group` object.
 * @param fallback default group name. @throws ConfigError KAFKA_GROUP, KAFKA_OPTION
 */
export function readGroup(site: Site<unknown>, config: GroupConfig, pointer: string, fallback: string): GroupSettings {
  const { session_timeout: sessionMs, heartbeat_interval: heartbeatMs, rebalance_timeout: rebalanceMs } = config;
  const wrong = (field: string, message: string) => site.fault('KAFKA_GROUP', `${pointer}/${field}`, message);
  if (heartbeatMs <= 0) throw wrong('heartbeat_interval', 'heartbeat_interval must be above 0');
  if (heartbeatMs >= sessionMs) {
    throw wrong('heartbeat_interval', 'heartbeat_interval must be less than session_timeout');
  }
  if (rebalanceMs < sessionMs) throw wrong('rebalance_timeout', 'rebalance_timeout must be at least session_timeout');
  const [strategy, ...more] = config.rebalance_strategies;
  if (config.rebalance_strategies.includes('sticky') || strategy === undefined || strategy === 'sticky') {
    const why = 'the client supports range and roundrobin';
    throw site.fault('KAFKA_OPTION', `${pointer}/rebalance_strategies`, `"sticky" is not supported: ${why}`);
  }
  if (more.length > 0) {
    const why = 'the client supports only one strategy at a time';
    throw site.fault(
      'KAFKA_OPTION',
      `${pointer}/rebalance_strategies`,
      `several strategies are not supported: ${why}`,
      {
        hint: `["${strategy}"]`,
      },
    );
  }
  const id = config.id || fallback;
  for (const [field, name] of [
    ['id', id],
    ['instance_id', config.instance_id],
  ] as const) {
    if (name !== undefined && !/^\S+$/.test(name)) throw wrong(field, `${field} must be a name without white space`);
  }
  return {
    id,
    sessionMs,
    heartbeatMs,
    rebalanceMs,
    strategy,
    instanceId: config.instance_id,
    fetchBytes: config.fetch_default,
    readsUncommitted: /^read_uncomm/.test(config.isolation_level),
    from: 'newest',
  };
}
