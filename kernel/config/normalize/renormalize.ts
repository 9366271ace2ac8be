import { type ConfigError, type DataObject, type EndpointConfig, isObject, type ServiceConfig } from '#contract';
import { scheduler } from '../../contract/internal.ts';
import { createReport } from '../issues/report.ts';
import { checkTogether } from '../rules/index.ts';
import { nothingKnown } from './known-plugins.ts';
import { type Normalized, type NormalizeOptions, normalizeCooperatively } from './normalize.ts';
import { isSameData } from './same-data.ts';

/** A document without errors, and the configuration that was derived from it. */
export interface Understood extends Pick<Normalized, 'config' | 'warnings' | 'isPlain'> {
  readonly data: DataObject;
}

/** Maps the endpoints of a document to their positions in the previous one, and lists the new ones. */
export interface Positions {
  /** Previous position by current position; -1 for a new endpoint. */
  readonly before: readonly number[];
  readonly changed: readonly number[];
}

/** Changes of a document since the previous one. */
export interface Changes {
  /** The document with only its new endpoints. */
  readonly document: DataObject;
  readonly positions: Positions;
}

/** Reduces a document to the endpoints that the previous one does not have; null if anything other than endpoints differs. */
export function changedIn(data: unknown, before: Understood): Changes | null {
  const positions = before.isPlain ? compare(data, before.data) : null;
  if (!positions) return null;
  const endpoints = (data as { endpoints: DataObject[] }).endpoints;
  const document = { ...(data as DataObject), endpoints: positions.changed.map((at) => endpoints[at]!) };
  return { document, positions };
}

/**
 * Like `normalizeCooperatively`, for a document that differs from the previous one only in endpoints; unchanged
 * endpoints must be the same objects and are not processed again.
 * @returns null for a document with errors, which must be normalized as a whole.
 */
export async function renormalize(
  { document, positions }: Changes,
  before: Understood,
  options: NormalizeOptions,
): Promise<Normalized | null> {
  const partial = await normalizeCooperatively(document, { ...options, isPartial: true });
  if (partial.errors.length > 0 || !partial.isPlain || !isSameService(before.config, partial.config)) return null;
  await scheduler.yield();
  const config = joined(before.config, partial.config, positions);
  const report = createReport();
  const { known = nothingKnown } = options;
  for (const _ of checkTogether(config, known, report, haveSamePaths(before.config, config, positions))) {
    if (scheduler.due) await scheduler.yield();
  }
  const kept = before.warnings.filter(({ pointer }) => pointer.startsWith('/endpoints/'));
  const warnings = [
    ...movedTo(partial.warnings, (at) => positions.changed[at]),
    ...movedAfter(kept, positions),
    ...report.warnings,
  ];
  // Warnings that contain a pointer to an endpoint are wrong once endpoints have moved, so the document is normalized
  // as a whole.
  const namesPlaces = kept.some(({ message }) => message.includes('/endpoints/'));
  if (report.errors.length > 0 || (namesPlaces && isShifted(positions))) return null;
  return { config, errors: [], warnings, origin: partial.origin, isPlain: true };
}

function compare(data: unknown, before: DataObject): Positions | null {
  if (!isObject(data) || !Array.isArray(data['endpoints']) || !Array.isArray(before['endpoints'])) return null;
  const fields = Object.keys(data);
  const known = Object.keys(before);
  const isSame = (field: string, at: number) =>
    field === known[at] && (field === 'endpoints' || data[field] === before[field]);
  if (fields.length !== known.length || !fields.every(isSame)) return null;
  const { endpoints: then } = before;
  const { endpoints: now } = data;
  // Checks the same position first, because most endpoints keep it.
  const places = new Map<unknown, number>();
  for (let at = 0; at < then.length; at++) if (then[at] !== now[at]) places.set(then[at], at);
  const placeOf = (endpoint: unknown, at: number): number =>
    isObject(endpoint) ? (endpoint === then[at] ? at : (places.get(endpoint) ?? -1)) : -1;
  const positions = now.map(placeOf);
  const changed: number[] = [];
  for (let at = 0; at < positions.length; at++) if (positions[at] === -1) changed.push(at);
  return changed.length * 2 > positions.length ? null : { before: positions, changed };
}

function isSameService(one: ServiceConfig, other: ServiceConfig): boolean {
  const { endpoints: _own, ...fields } = one;
  const { endpoints: _others, ...others } = other;
  return isSameData(fields, others);
}

function joined(before: ServiceConfig, partial: ServiceConfig, positions: Positions): ServiceConfig {
  let next = 0;
  const endpoints = positions.before.map((at) => (at === -1 ? partial.endpoints[next++]! : before.endpoints[at]!));
  return Object.freeze({ ...before, endpoints: Object.freeze(endpoints) });
}

/** True if the added endpoints have the same methods and paths as the removed ones. */
function haveSamePaths(before: ServiceConfig, config: ServiceConfig, positions: Positions): boolean {
  if (before.endpoints.length !== config.endpoints.length) return false;
  const nameOf = ({ method, endpoint }: EndpointConfig): string => `${method} ${endpoint}`;
  const kept = new Uint8Array(before.endpoints.length);
  for (const at of positions.before) if (at !== -1) kept[at] = 1;
  const gone = new Set<string>();
  for (let at = 0; at < kept.length; at++) if (kept[at] === 0) gone.add(nameOf(before.endpoints[at]!));
  const come = new Set(positions.changed.map((at) => nameOf(config.endpoints[at]!)));
  return come.size === positions.changed.length && gone.size === come.size && come.isSubsetOf(gone);
}

/** Moves the warnings of endpoints to their positions in another document. */
export function movedTo(warnings: readonly ConfigError[], to: (at: number) => number | undefined): ConfigError[] {
  const place = (pointer: string) =>
    pointer.replace(/^\/endpoints\/(\d+)/, (_, at: string) => `/endpoints/${to(Number(at)) ?? at}`);
  return warnings.map((warning) => warning.at(place(warning.pointer), warning.related.map(place)));
}

/** Warnings of unchanged endpoints. */
function movedAfter(warnings: readonly ConfigError[], { before }: Positions): ConfigError[] {
  if (warnings.length === 0) return [];
  const now = new Map(before.map((then, at) => [then, at]));
  const positionOf = (pointer: string) => now.get(Number(pointer.split('/')[2]));
  const kept = warnings.filter(({ pointer }) => positionOf(pointer) !== undefined);
  return movedTo(kept, (at) => now.get(at));
}

function isShifted({ before }: Positions): boolean {
  return before.some((then, at) => then !== -1 && then !== at);
}
