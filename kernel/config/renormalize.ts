import { type ConfigError, type DataObject, type EndpointConfig, isObject, type ServiceConfig } from '#contract';
import { scheduler } from '../contract/internal.ts';
import { nothingKnown } from './known-plugins.ts';
import { type Normalized, type NormalizeOptions, normalizeCooperatively } from './normalize.ts';
import { createReport } from './report.ts';
import { checkTogether } from './rules/index.ts';
import { isSameData } from './same-data.ts';

/** A document without mistakes, and what it was made into. */
export interface Understood extends Pick<Normalized, 'config' | 'warnings' | 'isPlain'> {
  readonly data: DataObject;
}

/** Positions of endpoints in a document, by what they were in the one before; those that are new. */
export interface Positions {
  /** By position: where it stood before; -1 for one that did not. */
  readonly before: readonly number[];
  readonly changed: readonly number[];
}

/** What a document has that another one does not. */
export interface Changes {
  /** The document with its new endpoints alone. */
  readonly document: DataObject;
  readonly positions: Positions;
}

/** The document with the endpoints alone that another one does not have; null where more than those differ. */
export function changedIn(data: unknown, before: Understood): Changes | null {
  const positions = before.isPlain ? compare(data, before.data) : null;
  if (!positions) return null;
  const endpoints = (data as { endpoints: DataObject[] }).endpoints;
  const document = { ...(data as DataObject), endpoints: positions.changed.map((at) => endpoints[at]!) };
  return { document, positions };
}

/**
 * As `normalizeCooperatively`, for a document that differs from another one in endpoints alone, which are the same objects
 * where they have not changed: only those that have are looked at.
 * @returns null for one with mistakes: it is to be normalized as a whole.
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
  // A message may name a place that is another one now.
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
  // Most stand where they stood.
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

/** Endpoints come and go with the same methods and paths. */
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

/** Warnings of endpoints that stand at other positions in another document. */
export function movedTo(warnings: readonly ConfigError[], to: (at: number) => number | undefined): ConfigError[] {
  const place = (pointer: string) =>
    pointer.replace(/^\/endpoints\/(\d+)/, (_, at: string) => `/endpoints/${to(Number(at)) ?? at}`);
  return warnings.map((warning) => warning.at(place(warning.pointer), warning.related.map(place)));
}

/** Warnings of endpoints that have not changed. */
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
