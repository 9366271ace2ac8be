import type { AuditedFiles, AuditRule, AuditSubject, Namespace, ServiceConfig, Severity } from '#contract';
import { type KnownPlugins, nothingKnown, parsePointer, valueAt } from '../../config/index.ts';
import type { Registry } from '../../registry/registry.ts';
import { type FilePosition, type FindPosition, pointerOnly } from '../file-position.ts';
import { localFiles, summarize } from './summary.ts';
import { writtenAt } from './written.ts';

export { localFiles } from './summary.ts';

/** All audit rules: built-in ones and those of plugins. Loads every plugin. */
export async function auditRules(registry: Registry): Promise<readonly AuditRule[]> {
  const own = (await registry.catalogue.audit?.())?.rules ?? [];
  await registry.load(registry.namespaces);
  return [...own, ...registry.namespaces.flatMap((name) => registry.plugin(name)?.audit ?? [])];
}

/** A rule that matched. */
export interface Recommendation {
  readonly rule: string;
  readonly severity: Severity;
  readonly message: string;
  /**
   * Whether the configuration alone is not sufficient to decide: the rule is then reported, but does not fail the
   * audit.
   */
  readonly note: boolean;
  /** Positions, in document order; at most 50. */
  readonly instances: readonly FilePosition[];
}

export interface AuditReport {
  /** Recommendations of the audit, in order of their rule IDs. */
  readonly recommendations: readonly Recommendation[];
  readonly stats: {
    readonly endpoints: number;
    readonly backends: number;
    readonly agents: number;
    /** Number of occurrences of each component in the configuration. */
    readonly components: Readonly<Record<string, number>>;
  };
}

/** Input of an audit. */
export interface Audited {
  /** Validated configuration with defaults. */
  readonly config: ServiceConfig;
  /** Parsed document from which the configuration was created. */
  readonly document: unknown;
  /** Maps a pointer of `config` to the pointer in the document. Default: identity. */
  readonly origin?: (pointer: string) => string;
}

export interface AuditOptions {
  /** Available components; others are not recommended. Default: all components that rules recommend. */
  readonly available?: ReadonlySet<Namespace>;
  /** Ids of rules to skip. */
  readonly ignore?: ReadonlySet<string>;
  /** Severities to report. Default: all. */
  readonly severities?: ReadonlySet<Severity>;
  readonly positionOf?: FindPosition;
  readonly files?: AuditedFiles;
  /** Loaded plugins that the configuration names. Default: none. */
  readonly known?: KnownPlugins;
}

const MAX_INSTANCES = 50;

/**
 * Audits a configuration. An object of the document with `"@audit-ignore": ["2.2.3"]` is exempt from these rules, with
 * everything it contains.
 */
export function audit(
  { config, document, origin = same }: Audited,
  all: readonly AuditRule[],
  options: AuditOptions = {},
): AuditReport {
  const { positionOf = pointerOnly, files = localFiles, known = nothingKnown } = options;
  const isWritten = (pointer: string): boolean => valueAt(document, parsePointer(origin(pointer))) !== undefined;
  const summary = summarize(config, document, files, known, isWritten);
  const results = new Map<string, ReadonlySet<string>>();
  const rules = all.filter((rule) => isWanted(rule, options));
  for (const { id, find, ofDocument } of rules) {
    const places = find(summary).map((pointer) => writtenAt(document, ofDocument ? pointer : origin(pointer)));
    results.set(id, new Set(places.filter(({ ignored }) => !ignored.has(id)).map(({ pointer }) => pointer)));
  }
  const recommendations = rules.flatMap(({ id, severity, message, isNote = false, yieldsTo = [] }) => {
    const isCovered = (pointer: string) => yieldsTo.some((other) => results.get(other)?.has(pointer));
    const pointers = [...results.get(id)!].filter((pointer) => !isCovered(pointer)).slice(0, MAX_INSTANCES);
    if (pointers.length === 0) return [];
    return [{ rule: id, severity, message, note: isNote, instances: pointers.map(positionOf) }];
  });
  return { recommendations, stats: statsOf(summary) };
}

function isWanted({ id, severity, recommends }: AuditRule, { ignore, severities, available }: AuditOptions): boolean {
  if (ignore?.has(id) || severities?.has(severity) === false) return false;
  return !recommends || !available || recommends.some((namespace) => available.has(namespace));
}

function same(pointer: string): string {
  return pointer;
}

function statsOf({ endpoints, agents, backendCount, components }: AuditSubject): AuditReport['stats'] {
  const counts = new Map<string, number>();
  for (const { namespace } of components) counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
  return {
    endpoints: endpoints.length,
    backends: backendCount,
    agents: agents.length,
    components: Object.fromEntries(counts),
  };
}
