import { type ConfigError, type DataObject, isObject, type ServiceConfig } from '#contract';
import { scheduler } from '../../contract/internal.ts';
import { parentPointer, parsePointer, valueAt } from '../../values/pointer.ts';
import { convertComponents } from '../compatibility/convert.ts';
import { applyEnvironment } from '../compatibility/environment.ts';
import {
  isCurrent,
  modernize,
  reportOldVersion,
  reportRemoved,
  settleTransport,
} from '../compatibility/to-version-three.ts';
import { unresolvedIn, withUnresolved } from '../flexible/unresolved.ts';
import { createReport } from '../issues/report.ts';
import { checkService } from '../rules/index.ts';
import { unusedListening } from '../rules/network.ts';
import { showValue } from '../schema/problem.ts';
import { checkStructure, type Structure } from '../schema/structure.ts';
import { checkSecrets } from '../secrets/secret-literals.ts';
import { isTooDeep, MAX_DEPTH, tooDeepIn } from '../syntax/too-deep.ts';
import { completeAgents } from './agents.ts';
import { completeEndpoint, completeService, createHostCleaner } from './inherit.ts';
import { type KnownPlugins, nothingKnown } from './known-plugins.ts';
import { cloneData, deepFreeze } from './plain-data.ts';

/** Replaces invalid hosts, so that backends do not report missing hosts in addition. */
const UNKNOWN_HOST = 'http://unknown.invalid';

export interface NormalizeOptions {
  /** Listening port, which overrides the port in the configuration; 0 chooses a free port. */
  readonly port?: number;
  /** Serves the debug endpoint regardless of the document. */
  readonly debug?: boolean;
  /** Environment variables that may override root fields. Default: none. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Loaded plugins that the document names. Default: none. */
  readonly known?: KnownPlugins;
  /** True if the document contains only some of the endpoints of another one: checks across endpoints are skipped. */
  readonly isPartial?: boolean;
}

export interface Normalized {
  /**
   * Deep-frozen. If there are errors, it contains only endpoints with a valid structure and must not be served, only
   * checked for further errors.
   */
  readonly config: ServiceConfig;
  /** All errors of the configuration; their pointers refer to the document. */
  readonly errors: ConfigError[];
  readonly warnings: ConfigError[];
  /**
   * Maps a pointer in `config` to the document; they differ if old names were used, and after omitted endpoints.
   */
  readonly origin: (pointer: string) => string;
  /** True for a pointer in `config` to a copy of another part of the document. */
  readonly isDerived?: (pointer: string) => boolean;
  /** Pointers in the document of values whose references to secrets have no value: errors there are not reported. */
  readonly unfilled?: ReadonlySet<string>;
  /** True if every endpoint depends only on its own settings and on the fields of the service. */
  readonly isPlain?: boolean;
}

/**
 * Builds the configuration of a service from a parsed document: overrides, conversion of old versions, validation,
 * defaults and inherited values. `extra_config` stays plain data, which the components check themselves; the options of
 * its `router` are validated and moved to `config.router`. Does not modify the document.
 */
export function normalize(data: unknown, options: NormalizeOptions = {}): Normalized {
  const slices = normalizing(data, options);
  for (;;) {
    const { done, value } = slices.next();
    if (done) return value;
  }
}

/** Like `normalize`, but in short slices, so that requests continue to be served. */
export async function normalizeCooperatively(data: unknown, options: NormalizeOptions = {}): Promise<Normalized> {
  const slices = normalizing(data, options);
  for (;;) {
    const { done, value } = slices.next();
    if (done) return value;
    if (scheduler.due) await scheduler.yield();
  }
}

/** Normalizes a document as a generator, which yields wherever the work may be interrupted. */
function* normalizing(data: unknown, options: NormalizeOptions): Generator<undefined, Normalized, undefined> {
  const { known = nothingKnown } = options;
  const report = createReport();
  if (!isObject(data)) {
    report.error('SCHEMA_TYPE', '', `the document must be an object, found ${showValue(data)}`);
    return { ...normalize({ version: 3 }), errors: report.errors };
  }
  if (isTooDeep(data)) {
    report.error('CONFIG_SYNTAX', tooDeepIn(data), `nested deeper than ${MAX_DEPTH} levels`);
    return { ...normalize({ version: 3 }), errors: report.errors };
  }
  yield;
  checkSecrets(data, known, report);
  yield;
  const document: DataObject = cloneData(data);
  yield;
  applyEnvironment(document, options.env ?? {}, report);
  const unresolved = unresolvedIn(document, known);
  yield;
  reportOldVersion(document, report);
  const origin = modernize(document, known, report);
  reportRemoved(document, origin, known, report);
  settleTransport(document, origin, report);
  unusedListening(document, report);
  yield;
  const isConverted = convertComponents(document, origin, known, report);
  const isPlain = !isConverted && isCurrent(data['version']) && origin.renames().length === 0;
  yield;
  const written = (pointer: string) => valueAt(data, parsePointer(origin.pointer(pointer)));
  const structure = yield* checkStructure(document, origin, known, report, written);
  yield;
  const service = document as unknown as ServiceConfig;
  const rules = createReport(origin);
  const clean = createHostCleaner(rules);
  completeService(service, options);
  const isHostWrong = !structure.isSound('/host') || report.errors.some(isMeantAsHost);
  document['host'] = isHostWrong ? [UNKNOWN_HOST] : [...clean(service.host, '/host')];
  for (const [index, endpoint] of service.endpoints.entries()) {
    const pointer = `/endpoints/${index}`;
    if (structure.isSound(pointer)) completeEndpoint(endpoint, pointer, { service, known, clean }, rules);
    yield;
  }
  completeAgents(service, structure, known, rules);
  yield* checkService(service, structure, known, rules, written, options.isPartial === true);
  yield;
  const errors = [...report.errors, ...notReported(rules.errors, report.errors)];
  return {
    ...soundEndpoints(service, structure, origin.pointer),
    isDerived: origin.isDerived,
    isPlain,
    errors: withUnresolved(errors, unresolved),
    warnings: [...report.warnings, ...rules.warnings, ...notReported(unresolved, errors)],
  };
}

/** Omits endpoints with an invalid structure. */
function soundEndpoints(
  service: ServiceConfig,
  structure: Structure,
  origin: Normalized['origin'],
): Pick<Normalized, 'config' | 'origin'> {
  const positions = [...service.endpoints.keys()].filter((index) => structure.isSound(`/endpoints/${index}`));
  if (positions.length === service.endpoints.length) return { config: deepFreeze(service), origin };
  const endpoints = positions.map((index) => service.endpoints[index]!);
  return {
    config: deepFreeze({ ...service, endpoints }),
    origin: (pointer) =>
      origin(pointer.replace(/^\/endpoints\/(\d+)/, (_, at) => `/endpoints/${positions[Number(at)]}`)),
  };
}

/** True for a root key that is a misspelled `host`. */
function isMeantAsHost({ pointer, fix }: ConfigError): boolean {
  return fix !== undefined && 'key' in fix && fix.key === 'host' && parentPointer(pointer) === '';
}

/** Errors at pointers where none has been reported yet. */
export function notReported(errors: readonly ConfigError[], before: readonly ConfigError[]): ConfigError[] {
  if (before.length === 0) return [...errors];
  const reported = new Set(before.map(({ pointer }) => pointer));
  return errors.filter(({ pointer }) => !reported.has(pointer));
}
