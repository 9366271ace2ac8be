import { isDeepStrictEqual } from 'node:util';
import { type Data, type DataObject, getKey, type ServiceConfig } from '#contract';
import { parsePointer, valueAt } from '../../values/pointer.ts';
import { isRaw, type KnownPlugins, nothingKnown } from '../normalize/known-plugins.ts';
import { type IsSecret, maskSecrets } from '../secrets/secret.ts';
import { compareData, type Difference } from './compare.ts';
import {
  type ConfigChange,
  type ConfigDiff,
  type DiffOptions,
  type Effect,
  endpointEffect,
  type PatchOperation,
  type RouteName,
  type Side,
  serviceEffect,
} from './config-diff.ts';
import {
  type ComponentSchema,
  documentData,
  type EffectiveDocument,
  effectiveDocument,
  type Route,
} from './effective-document.ts';

/** Canonical data of a configuration, to which `patch` applies: all defaults written out, endpoints ordered by path and method. */
export function canonicalData(config: ServiceConfig, componentSchema?: ComponentSchema): DataObject {
  return documentData(effectiveDocument(config, componentSchema));
}

/** A difference with its location. */
interface LocatedDifference {
  readonly difference: Difference;
  /** Pointers, in the two documents, to the compared objects. */
  readonly holder: { readonly [side in Side]: string };
  /** The compared objects, which the pointer of the difference is relative to. */
  readonly compared: { readonly [side in Side]: DataObject | undefined };
  /** Pointer to the compared object in the canonical data. */
  readonly canonical: string;
  readonly effect: Effect;
  /** Route of the endpoint; absent for the service. */
  readonly route?: RouteName;
  /** True if the difference follows from a difference of the service. */
  readonly isInherited: boolean;
}

/**
 * Compares two configurations by meaning: defaults are filled in, endpoints are matched by method and path, backends by
 * position. Takes time proportional to their size.
 */
export function diffConfigs(from: ServiceConfig, to: ServiceConfig, options: DiffOptions = {}): ConfigDiff {
  const { places = () => ({}), isSecret, componentSchema, known = nothingKnown } = options;
  const old = effectiveDocument(from, componentSchema);
  const renewed = withoutGuesses(effectiveDocument(to, componentSchema), options.isGuess);
  const service = { before: old.service, after: renewed.service };
  const matches = matchRoutes(old.routes, renewed.routes).map((match) => ({
    ...match,
    differences: compareRoutes(match, service, known),
  }));
  const results = [
    ...compareServices(old.service, renewed.service, known),
    ...matches.flatMap((match) => match.differences),
  ];
  const mask = (value: Data, pointer: string, { difference, compared }: LocatedDifference, side: Side): Data =>
    isSecret ? maskSecrets(value, pointer, isSecret, holderOf(compared[side], difference.pointer)) : value;

  const toChange = (located: LocatedDifference): ConfigChange => {
    const { difference, holder, effect, route } = located;
    const side = difference.op === 'remove' ? 'from' : 'to';
    const pointer = holder[side] + difference.pointer;
    return {
      op: difference.op,
      pointer,
      ...(route && { route }),
      ...('from' in difference && { from: mask(difference.from, pointer, located, 'from') }),
      ...('to' in difference && { to: mask(difference.to, pointer, located, 'to') }),
      effect,
      ...places(pointer, side),
    };
  };
  const toOperation = (located: LocatedDifference): PatchOperation => {
    const { difference, canonical } = located;
    const path = canonical + difference.pointer;
    return 'to' in difference
      ? { op: difference.op, path, value: mask(difference.to, path, located, 'to') }
      : { op: difference.op, path };
  };
  const own = results.filter(({ isInherited }) => !isInherited);
  return {
    equal: results.length === 0,
    summary: { added: count(own, 'add'), changed: count(own, 'replace'), removed: count(own, 'remove') },
    changes: own.map(toChange),
    endpoints: {
      added: matches.filter(({ before }) => !before).map(routeName),
      changed: matches
        .filter(({ before, after, differences: results }) => before && after && results.length > 0)
        .map(routeName),
      removed: matches.filter(({ after }) => !after).map(routeName),
    },
    patch: inOrder(results).map(toOperation),
  };
}

function compareServices(old: DataObject, renewed: DataObject, known: KnownPlugins): LocatedDifference[] {
  return compareData(old, renewed).map((difference) => ({
    difference,
    holder: { from: '', to: '' },
    compared: { from: old, to: renewed },
    canonical: '',
    effect: serviceEffect(difference.pointer, known),
    isInherited: false,
  }));
}

function compareRoutes(match: Match, service: Change<DataObject>, known: KnownPlugins): LocatedDifference[] {
  const { before, after, at } = match;
  const holder = { from: `/endpoints/${before?.index}`, to: `/endpoints/${after?.index}` };
  const canonical = `/endpoints/${before ? at.from : at.to}`;
  return differencesOf(before?.data, after?.data).map((difference) => ({
    difference,
    holder,
    compared: { from: before?.data, to: after?.data },
    canonical,
    effect: endpointEffect(before?.data, known),
    route: routeName(match),
    isInherited:
      before && after ? isInherited(difference, service, { before: before.data, after: after.data }, known) : false,
  }));
}

/** The object that contains the value at a pointer; its other members can show that the value is a secret. */
function holderOf(data: DataObject | undefined, pointer: string): Data | undefined {
  return pointer === '' ? undefined : (valueAt(data, parsePointer(pointer).slice(0, -1)) as Data | undefined);
}

function differencesOf(before: DataObject | undefined, after: DataObject | undefined): Difference[] {
  if (!before) return [{ op: 'add', pointer: '', to: after! }];
  if (!after) return [{ op: 'remove', pointer: '', from: before }];
  return compareData(before, after);
}

/**
 * Orders differences: fields first, then removed endpoints from the end, then added ones from the start, so that every
 * position is valid when it is applied.
 */
function inOrder(results: readonly LocatedDifference[]): LocatedDifference[] {
  const whole = results.filter(({ difference }) => difference.pointer === '');
  return [
    ...results.filter(({ difference }) => difference.pointer !== ''),
    ...whole.filter(({ difference }) => difference.op === 'remove').reverse(),
    ...whole.filter(({ difference }) => difference.op === 'add'),
  ];
}

function count(results: readonly LocatedDifference[], op: ConfigChange['op']): number {
  return results.filter(({ difference }) => difference.op === op).length;
}

function routeName({ before, after }: Match): RouteName {
  const { method, endpoint } = (after ?? before)!;
  return { method, endpoint };
}

/** Masks the secrets selected by `isGuess`, so that a comparison never confirms a guessed secret. */
function withoutGuesses(document: EffectiveDocument, isGuess: IsSecret | undefined): EffectiveDocument {
  if (!isGuess) return document;
  return {
    service: maskSecrets(document.service, '', isGuess) as DataObject,
    routes: document.routes.map((route) => ({
      ...route,
      data: maskSecrets(route.data, `/endpoints/${route.index}`, isGuess) as DataObject,
    })),
  };
}

/** A value before and after a change. */
export interface Change<T> {
  readonly before: T;
  readonly after: T;
}

/** Endpoint and backend fields whose default comes from the service. */
const inherited = /^\/(?:(timeout|cache_ttl|output_encoding)|backend\/\d+\/(host))$/;
const backendEncoding = /^\/backend\/\d+\/encoding$/;

/**
 * True for an endpoint's difference that follows from another one and is reported there: the service changed in the
 * same way, or the endpoint became or ceased to be a stream, which affects how its backends are read.
 */
function isInherited(
  difference: Difference,
  service: Change<DataObject>,
  route: Change<DataObject>,
  known: KnownPlugins,
): boolean {
  const { op, pointer } = difference;
  if (op !== 'replace') return false;
  const [, ofEndpoint, ofBackend] = inherited.exec(pointer) ?? [];
  const field = ofEndpoint ?? ofBackend;
  if (field !== undefined)
    return has(service.before, field, difference.from) && has(service.after, field, difference.to);
  const outputs = [route.before, route.after].map(({ output_encoding: name }) => String(name));
  return backendEncoding.test(pointer) && outputs[0] !== outputs[1] && outputs.some((name) => isRaw(name, known));
}

function has(object: DataObject, field: string, value: Data): boolean {
  return isDeepStrictEqual(getKey(object, field), value);
}

/** A route before and after a change; at least one side is present. Positions refer to the sorted lists. */
export interface Match {
  readonly before: Route | undefined;
  readonly after: Route | undefined;
  readonly at: { readonly from: number; readonly to: number };
}

/** Matches routes with equal keys by walking two lists, sorted by key, side by side. */
function matchRoutes(old: readonly Route[], renewed: readonly Route[]): Match[] {
  const matches: Match[] = [];
  for (let from = 0, to = 0; from < old.length || to < renewed.length; ) {
    const before = old[from];
    const after = renewed[to];
    const isOld = before !== undefined && (after === undefined || before.key <= after.key);
    const isNew = after !== undefined && (before === undefined || after.key <= before.key);
    matches.push({ before: isOld ? before : undefined, after: isNew ? after : undefined, at: { from, to } });
    if (isOld) from++;
    if (isNew) to++;
  }
  return matches;
}
