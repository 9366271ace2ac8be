import { createHash, hash } from 'node:crypto';
import type { Data, EndpointConfig, ServiceConfig } from '#contract';
import { canonicalJson } from '../config/index.ts';
import { YieldScheduler } from '../contract/internal.ts';
import type { FileRead } from './watch/index.ts';

/** What a configuration means, whatever the layout of its file. */
export interface Fingerprint {
  /** Of everything but the endpoints. */
  readonly service: string;
  /** Of each endpoint, by its `endpointId`. */
  readonly endpoints: ReadonlyMap<string, string>;
}

/** What tells an endpoint from every other one of a configuration. */
export function endpointId({ method, endpoint }: { readonly method: string; readonly endpoint: string }): string {
  return `${method} ${endpoint}`;
}

/** Equal for endpoints that are the same in everything, backends and components included. */
export function endpointPrint(endpoint: EndpointConfig): string {
  let print = prints.get(endpoint);
  if (print === undefined) {
    print = hash('sha256', canonicalJson(endpoint as unknown as Data), 'base64url');
    prints.set(endpoint, print);
  }
  return print;
}

/** Endpoints never change, and those that are as they were are the same objects in the configurations after. */
const prints = new WeakMap<EndpointConfig, string>();

/** Takes a fingerprint in short scheduler, so that requests go on being served. */
export async function takeFingerprint(config: ServiceConfig): Promise<Fingerprint> {
  const endpoints = new Map<string, string>();
  const scheduler = new YieldScheduler();
  for (const endpoint of config.endpoints) {
    endpoints.set(endpointId(endpoint), endpointPrint(endpoint));
    if (scheduler.due) await scheduler.yield();
  }
  return { service: servicePrint(config), endpoints };
}

/** Takes it at once. */
export function takeFingerprintNow(config: ServiceConfig): Fingerprint {
  const endpoints = new Map(config.endpoints.map((endpoint) => [endpointId(endpoint), endpointPrint(endpoint)]));
  return { service: servicePrint(config), endpoints };
}

function servicePrint({ endpoints: _, ...service }: ServiceConfig): string {
  return hash('sha256', canonicalJson(service as unknown as Data), 'base64url');
}

/** SHA-256 of a configuration and of every file it names. The order of endpoints means nothing. */
export function hashOf({ service, endpoints }: Fingerprint, files: readonly FileRead[]): string {
  const sum = createHash('sha256').update(service);
  const lines = [...endpoints.keys()].sort().map((id) => `\n${id} ${endpoints.get(id)}`);
  sum.update(lines.join(''));
  for (const { path, hash: content } of [...files].sort(byPath)) sum.update(`\n${path} ${content}`);
  return sum.digest('hex');
}

function byPath(a: FileRead, b: FileRead): number {
  return a.path < b.path ? -1 : 1;
}

/** Which endpoints are new, different or gone. */
export interface EndpointChanges {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

export function endpointChanges(from: Fingerprint | null, to: Fingerprint): EndpointChanges {
  const before = from?.endpoints ?? new Map<string, string>();
  const ids = [...to.endpoints.keys()];
  return {
    added: ids.filter((id) => !before.has(id)),
    changed: ids.filter((id) => before.has(id) && before.get(id) !== to.endpoints.get(id)),
    removed: [...before.keys()].filter((id) => !to.endpoints.has(id)),
  };
}
