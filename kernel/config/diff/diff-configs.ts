import { isDeepStrictEqual } from 'node:util';
import { type Data, type DataObject, getKey, type ServiceConfig } from '#contract';
import { parsePointer, valueAt } from '../../values/pointer.ts';
import { isRaw, type KnownPlugins, nothingKnown } from '../known-plugins.ts';
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

/** A configuration as the data that `patch` is about: all defaults written out, endpoints by path and method. */
export function canonicalData(config: ServiceConfig, componentSchema?: ComponentSchema): DataObject {
  return documentData(effectiveDocument(config, componentSchema));
}

/** A difference and where it is. */
interface LocatedDifference {
  readonly difference: Difference;
  /** Pointers, in the two documents, of what was compared. */
  readonly holder: { readonly [side in Side]: string };
  /** What was compared, in which its pointer leads. */
  readonly compared: { readonly [side in Side]: DataObject | undefined };
  /** The same in the canonical data. */
  readonly canonical: string;
  readonly effect: Effect;
  /** Absent for the service. */
  readonly route?: RouteName;
  /** Follows from another difference. */
  readonly isInherited: boolean;
}

/**
 * Compares two configurations by what they mean: defaults are filled in, endpoints are matched by method and path,
 * backends by position. Takes time that grows with their size.
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

/** What holds the value at a pointer: it can tell that the value is a secret. */
function holderOf(data: DataObject | undefined, pointer: string): Data | undefined {
  return pointer === '' ? undefined : (valueAt(data, parsePointer(pointer).slice(0, -1)) as Data | undefined);
}

function differencesOf(before: DataObject | undefined, after: DataObject | undefined): Difference[] {
  if (!before) return [{ op: 'add', pointer: '', to: after! }];
  if (!after) return [{ op: 'remove', pointer: '', from: before }];
  return compareData(before, after);
}

/** Fields first; then whole endpoints go, from the end, and come, from the start: every position holds when it is used. */
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

/** Masks guessed secrets, so that they never equal the values they are compared with. */
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

/** Before and after the change. */
export interface Change<T> {
  readonly before: T;
  readonly after: T;
}

/** What an endpoint, or a backend, takes from the service where it has none of its own. */
const inherited = /^\/(?:(timeout|cache_ttl|output_encoding)|backend\/\d+\/(host))$/;
const backendEncoding = /^\/backend\/\d+\/encoding$/;

/**
 * True for a difference of an endpoint that follows from another one, and is told there: the service has changed in the
 * same way, or a stream has come or gone, which its backends are read as.
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

/** A route before and after; one of them is there, and their positions are those in the sorted lists. */
export interface Match {
  readonly before: Route | undefined;
  readonly after: Route | undefined;
  readonly at: { readonly from: number; readonly to: number };
}

/** Brings together the routes of one key. Walks two lists, sorted by key, side by side. */
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
