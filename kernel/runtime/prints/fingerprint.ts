import { createHash, hash } from 'node:crypto';
import type { Data, ServiceConfig } from '#contract';
import { canonicalJson } from '../../config/index.ts';
import { scheduler } from '../../contract/internal.ts';
import { difference } from '../../values/difference.ts';
import { isSameService } from '../build/shared-config.ts';
import type { FileRead } from '../watch/index.ts';
import { EndpointPrints } from './endpoint-prints.ts';

/** Fingerprint of a configuration's meaning, independent of the layout of its file. */
export interface Fingerprint {
  /** Fingerprint of everything except the endpoints. */
  readonly service: string;
  readonly endpoints: EndpointPrints;
}

/** A configuration whose fingerprint is known. */
export interface Fingerprinted {
  readonly config: ServiceConfig;
  readonly fingerprint: Fingerprint;
}

/**
 * Computes a fingerprint in short time slices, so that requests continue to be served.
 * @param before a configuration that has most of the endpoints; null for none.
 */
export async function takeFingerprint(
  config: ServiceConfig,
  before: Fingerprinted | null = null,
): Promise<Fingerprint> {
  const work = printsOf(config, before);
  for (;;) {
    const { done, value } = work.next();
    if (done) return { service: servicePrint(config, before), endpoints: value };
    if (scheduler.due) await scheduler.yield();
  }
}

/** Computes a fingerprint in one go. */
export function takeFingerprintNow(config: ServiceConfig): Fingerprint {
  const work = printsOf(config, null);
  for (;;) {
    const { done, value } = work.next();
    if (done) return { service: servicePrint(config, null), endpoints: value };
  }
}

function printsOf(config: ServiceConfig, before: Fingerprinted | null): ReturnType<EndpointPrints['with']> {
  if (!before) return EndpointPrints.none.with([], config.endpoints);
  const [gone, come] = difference(before.config.endpoints, config.endpoints);
  return before.fingerprint.endpoints.with(gone, come);
}

function servicePrint(config: ServiceConfig, before: Fingerprinted | null): string {
  if (before && isSameService(before.config, config)) return before.fingerprint.service;
  const { endpoints: _, ...service } = config;
  return hash('sha256', canonicalJson(service as unknown as Data), 'base64url');
}

/** SHA-256 of a configuration and of every file it names. The order of endpoints is ignored. */
export function hashOf({ service, endpoints }: Fingerprint, files: readonly FileRead[]): string {
  const sum = createHash('sha256').update(service).update(`\n${endpoints.digest}`);
  for (const { path, hash: content } of [...files].sort(byPath)) sum.update(`\n${path} ${content}`);
  return sum.digest('hex');
}

function byPath(a: FileRead, b: FileRead): number {
  return a.path < b.path ? -1 : 1;
}
