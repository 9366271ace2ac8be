import type { EndpointConfig, ServiceConfig } from '#contract';
import { ANY } from '../../contract/internal.ts';
import type { Report } from '../issues/report.ts';
import type { KnownPlugins } from '../normalize/known-plugins.ts';
import { type PathSegment, parseSegment, readSegment } from '../normalize/path-segment.ts';
import { CATCHALL, routeName } from './rule.ts';

/** An endpoint without access control that serves protected paths written with a path parameter. */
export interface OpenNeighbor {
  readonly pointer: string;
  readonly endpoint: EndpointConfig;
  /** The first endpoint whose access control is bypassed, and the number of all of them. */
  readonly guarded: { readonly pointer: string; readonly endpoint: EndpointConfig; count: number };
  /** A path that the endpoint serves. */
  readonly path: string;
}

/** A position in the paths of all endpoints. */
class Position {
  readonly words = new Map<string, Position>();
  readonly variables = new Map<string, { readonly segment: PathSegment; readonly next: Position }>();
  /**
   * Endpoints by method, separately for paths that end at this position and for wildcards that match the rest of the
   * path.
   */
  readonly ends = new Map<string, number>();
  readonly rests = new Map<string, number>();
}

/** Maximum number of positions searched per protected endpoint, for configurations in which thousands of paths share a variable. */
const MAX_POSITIONS = 1000;

/**
 * Finds endpoints without access control that serve the path of a protected one once a segment has a path parameter, as
 * in `/area/private;a=b/x`. A backend on the same host that drops path parameters then serves the protected path.
 * Yields after every endpoint.
 */
function* findOpenNeighbors(
  { endpoints, router }: ServiceConfig,
  known: KnownPlugins,
): Generator<undefined, OpenNeighbor[], undefined> {
  if (router.path_parameters === 'refuse') return [];
  const guarded = new Set<number>();
  for (let at = 0; at < endpoints.length; at++) {
    if (isGuarded(endpoints[at]!, known)) guarded.add(at);
    yield;
  }
  if (guarded.size === 0 || guarded.size === endpoints.length) return [];
  const root = new Position();
  for (let at = 0; at < endpoints.length; at++) {
    add(root, endpoints[at]!, at);
    yield;
  }
  const results = new Map<number, OpenNeighbor>();
  for (const at of guarded) {
    const endpoint = endpoints[at]!;
    const isOpen = (other: number) => !guarded.has(other) && shareHost(endpoints[other]!, endpoint);
    const open = firstServing(root, endpoint, isOpen);
    const result = open && results.get(open.at);
    if (result) result.guarded.count++;
    else if (open) {
      results.set(open.at, {
        pointer: `/endpoints/${open.at}`,
        endpoint: endpoints[open.at]!,
        guarded: { pointer: `/endpoints/${at}`, endpoint, count: 1 },
        path: open.path,
      });
    }
    yield;
  }
  return [...results.values()];
}

/** Finds all unprotected endpoints next to protected ones, without yielding to the event loop. */
export function openNeighbors(service: ServiceConfig, known: KnownPlugins): OpenNeighbor[] {
  const steps = findOpenNeighbors(service, known);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/**
 * Warns of endpoints without access control that serve protected paths written with a path parameter.
 *
 * Code: a warning, ROUTE_PATH_PARAMETERS.
 */
export function* warnOfOpenNeighbors(
  service: ServiceConfig,
  known: KnownPlugins,
  report: Report,
): Generator<undefined, void, undefined> {
  for (const { pointer, endpoint, guarded, path } of yield* findOpenNeighbors(service, known)) {
    const others = guarded.count === 1 ? '' : ` and ${guarded.count - 1} more`;
    const message = `${routeName(endpoint)} serves ${path} without the access control of ${routeName(guarded.endpoint)}${others}: a backend that drops path parameters responds as for the protected path`;
    report.warn('ROUTE_PATH_PARAMETERS', `${pointer}/endpoint`, message, {
      hint: 'set "path_parameters": "refuse" in extra_config.router',
      related: [`${guarded.pointer}/endpoint`],
    });
  }
}

function isGuarded({ extra_config: components }: EndpointConfig, known: KnownPlugins): boolean {
  for (const namespace in components) if (known.plugin(namespace)?.guards) return true;
  return false;
}

function add(root: Position, { method, endpoint }: EndpointConfig, at: number): void {
  if (endpoint === CATCHALL) return void root.rests.set(CATCHALL, at);
  let position = root;
  const segments = endpoint.split('/').slice(1);
  for (const text of segments) {
    if (text === '*') return void position.rests.set(method, at);
    const segment = parseSegment(text);
    if (segment.names.length === 0) position = inserted(position.words, text, () => new Position());
    else {
      const form = segment.texts.join('{}');
      position = inserted(position.variables, form, () => ({ segment, next: new Position() })).next;
    }
  }
  position.ends.set(method, at);
}

function inserted<T>(map: Map<string, T>, key: string, create: () => T): T {
  const known = map.get(key);
  if (known !== undefined) return known;
  const value = create();
  map.set(key, value);
  return value;
}

/** An endpoint that serves a path. */
interface Serving {
  readonly at: number;
  readonly path: string;
}

/**
 * The first endpoint without access control that serves a path of a protected one after a parameter is added to one of
 * its fixed segments.
 */
function firstServing(
  root: Position,
  { endpoint, method }: EndpointConfig,
  suits: (at: number) => boolean,
): Serving | undefined {
  const written = endpoint.split('/').slice(1);
  const hasRest = written.at(-1) === '*';
  const segments = (hasRest ? written.slice(0, -1) : written).map((segment) => (isVariable(segment) ? null : segment));
  // The name of a virtual host cannot have path parameters.
  for (let at = endpoint.startsWith('/__') ? 2 : 0; at < segments.length; at++) {
    if (!segments[at]) continue;
    const search = new Search(segments.with(at, `${segments[at]};a=b`), hasRest, method);
    for (const serving of search.serving(root)) if (suits(serving.at)) return serving;
  }
  return undefined;
}

function isVariable(segment: string): boolean {
  return parseSegment(segment).names.length > 0;
}

/** Finds the endpoints that serve paths of a given form. */
class Search {
  #left = MAX_POSITIONS;
  /** Segments of the paths to find; null matches any text. */
  readonly #segments: readonly (string | null)[];
  /** Whether the paths have further segments. */
  readonly #hasRest: boolean;
  readonly #method: string;

  constructor(segments: readonly (string | null)[], hasRest: boolean, method: string) {
    this.#segments = segments;
    this.#hasRest = hasRest;
    this.#method = method;
  }

  *serving(root: Position): Generator<Serving> {
    if (yield* this.#below(root, 0, '')) return;
    const at = root.rests.get(CATCHALL);
    if (at !== undefined) yield { at, path: this.#sample() };
  }

  #sample(): string {
    return `/${[...this.#segments.map((segment) => segment ?? 'x'), ...(this.#hasRest ? ['x'] : [])].join('/')}`;
  }

  /** Fixed segments take precedence over variables, and variables over wildcards. @returns true if no path is left for others. */
  *#below(position: Position, at: number, path: string): Generator<Serving, boolean> {
    if (this.#left-- <= 0) return true;
    if (at === this.#segments.length) return yield* this.#end(position, path);
    const segment = this.#segments[at]!;
    if (segment === null) {
      for (const [word, next] of position.words) yield* this.#below(next, at + 1, `${path}/${word}`);
    } else {
      const next = position.words.get(segment);
      if (next && (yield* this.#below(next, at + 1, `${path}/${segment}`))) return true;
    }
    const value = segment ?? 'x';
    for (const { segment: form, next } of position.variables.values()) {
      if (!readSegment(form.texts, value)) continue;
      if (yield* this.#below(next, at + 1, `${path}/${value}`)) return true;
    }
    return yield* this.#taken(position.rests, this.#sample());
  }

  *#end(position: Position, path: string): Generator<Serving, boolean> {
    if (!this.#hasRest) return yield* this.#taken(position.ends, path);
    yield* this.#within(position, path);
    return yield* this.#taken(position.rests, `${path}/x`);
  }

  /** All endpoints whose paths continue from a position. */
  *#within(position: Position, path: string): Generator<Serving> {
    const texts = [...position.variables.values()].map(({ segment, next }) => [segment.texts.join('x'), next] as const);
    for (const [text, next] of [...position.words, ...texts]) {
      if (this.#left-- <= 0) return;
      const below = `${path}/${text}`;
      yield* this.#taken(next.ends, below);
      yield* this.#within(next, below);
      yield* this.#taken(next.rests, `${below}/x`);
    }
  }

  *#taken(routes: ReadonlyMap<string, number>, path: string): Generator<Serving, boolean> {
    const at = ofMethod(routes, this.#method);
    if (at === undefined) return false;
    yield { at, path };
    return true;
  }
}

/** Endpoint for a method, falling back to the endpoint for any method. */
function ofMethod(routes: ReadonlyMap<string, number>, method: string): number | undefined {
  return routes.get(method) ?? routes.get(ANY) ?? (method === ANY ? routes.values().next().value : undefined);
}

function shareHost(one: EndpointConfig, other: EndpointConfig): boolean {
  const hosts = new Set(one.backend.flatMap(({ host }) => host));
  return other.backend.some(({ host }) => host.some((each) => hosts.has(each)));
}
