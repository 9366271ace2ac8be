import { type BackendSite, type Call, findNear, type PipeRequest } from '#contract';
import type { Classifier, Classifiers, Gate } from '../lib/classifiers.ts';
import { type Arrange, arrangeBy, type Candidate, coolingLast } from './candidate.ts';
import type { RouteConfig, RouterConfig } from './schema.ts';

/** The parts of a request that routes evaluate. */
export interface Routed {
  readonly request: PipeRequest;
  readonly body: Uint8Array | undefined;
  readonly call: Call;
  readonly now: number;
}

/** Selects the providers for a request, in the order in which they are tried; null if no route matches. */
export type Select = (routed: Routed) => readonly Candidate[] | null | Promise<readonly Candidate[]>;

export interface RouteContext {
  readonly site: BackendSite<RouterConfig>;
  readonly candidates: ReadonlyMap<string, Candidate>;
  readonly declared: Classifiers | undefined;
  readonly warn: (message: () => string) => void;
}

/** @throws ConfigError ROUTER_ROUTE, ROUTER_GATE, ROUTER_CLASSIFIER. */
export function compileRoutes(
  context: RouteContext,
  routes: readonly RouteConfig[],
  failover: readonly Candidate[],
  at = '/routes',
): Select {
  const compiled = routes.map((route, index) => compileRoute(context, route, failover, `${at}/${index}`));
  return (routed) => {
    for (const select of compiled) {
      const selected = select(routed);
      if (selected) return selected;
    }
    return null;
  };
}

function compileRoute(context: RouteContext, route: RouteConfig, outer: readonly Candidate[], at: string): Select {
  checkRoute(context, route, at);
  const gates = (route.gates ?? []).map((name, index) => gateOf(context, name, `${at}/gates/${index}`));
  const failover = route.failover === undefined ? outer : candidatesNamed(context.candidates, route.failover);
  const inner = route.routes ? compileRoutes(context, route.routes, outer, `${at}/routes`) : null;
  const own = selectorOf(context, route, failover, at);
  return (routed) => {
    if (!gates.every((gate) => gate.passes(routed.request, routed.body, routed.call))) return null;
    return inner?.(routed) ?? own?.(routed) ?? null;
  };
}

/** Compiles the selection of the route's own providers; null for a route that only contains nested routes. */
function selectorOf(
  context: RouteContext,
  route: RouteConfig,
  failover: readonly Candidate[],
  at: string,
): Select | null {
  const { provider, providers, classifier } = route;
  const whole = (chosen: readonly Candidate[], now: number) => coolingLast([...new Set([...chosen, ...failover])], now);
  if (provider !== undefined) {
    const chosen = candidatesNamed(context.candidates, provider);
    return ({ now }) => whole(chosen, now);
  }
  if (providers === undefined) return null;
  const all = candidatesNamed(context.candidates, providers);
  if (classifier === undefined) {
    const arrange = arrangementOf(route);
    return ({ now }) => whole(arrange(all, now), now);
  }
  const choose = chooserOf(context, classifier, `${at}/classifier`);
  return async ({ request, body, call, now }) => {
    try {
      return whole([await choose(all, request, body, call)], now);
    } catch (error) {
      if (failover.length === 0 || call.reason) throw error;
      context.warn(() => `[AI Router] classifier "${classifier}" chose no provider: ${(error as Error).message}`);
      return coolingLast(failover, now);
    }
  };
}

function arrangementOf({ strategy = 'order', weights = {} }: RouteConfig): Arrange {
  return arrangeBy(strategy, new Map(Object.entries(weights)));
}

/** Undeclared providers are skipped here, because they are reported when the configuration is converted. */
export function candidatesNamed(
  candidates: RouteContext['candidates'],
  names: string | readonly string[],
): readonly Candidate[] {
  const list = typeof names === 'string' ? [names] : names;
  return list.flatMap((name) => candidates.get(name) ?? []);
}

/** Checks the rules for combinations of fields. Each entry has the pointer of a field, the error and a hint. */
function checkRoute({ site: { fault } }: RouteContext, route: RouteConfig, at: string): void {
  const { provider, providers, classifier, strategy, weights, routes, failover } = route;
  const refuse = (field: string, message: string, hint: string) =>
    fault('ROUTER_ROUTE', field === '' ? at : `${at}/${field}`, message, { hint });
  if (provider === undefined && providers === undefined && routes === undefined)
    throw refuse('', 'a route needs "provider", "providers" or "routes"', 'Add one of them.');
  if (provider !== undefined && providers !== undefined)
    throw refuse('providers', '"providers" cannot be combined with "provider"', 'Remove one of them.');
  if (classifier !== undefined && providers === undefined)
    throw refuse('classifier', 'a classifier requires "providers"', 'List the providers that it chooses from.');
  if (strategy !== undefined && (providers === undefined || classifier !== undefined))
    throw refuse('strategy', 'a strategy requires "providers" without a classifier', 'Remove one of them.');
  if (weights !== undefined && strategy !== 'weight')
    throw refuse('weights', 'weights require the strategy "weight"', 'Add "strategy": "weight".');
  const unknown = Object.keys(weights ?? {}).find((name) => !providers?.includes(name));
  if (unknown !== undefined)
    throw refuse('weights', `the route has no provider "${unknown}"`, 'Use names of "providers".');
  if (routes !== undefined && failover !== undefined)
    throw refuse('failover', '"failover" cannot be combined with "routes"', 'Move it to the nested routes.');
}

function gateOf(context: RouteContext, name: string, at: string): Gate {
  return declaredAs(context, context.declared?.gates, name, ['ROUTER_GATE', 'gate', at]);
}

function chooserOf(context: RouteContext, name: string, at: string): Classifier['choose'] {
  return declaredAs(context, context.declared?.classifiers, name, ['ROUTER_CLASSIFIER', 'classifier', at]).choose;
}

function declaredAs<T>(
  { site }: RouteContext,
  all: ReadonlyMap<string, T> | undefined,
  name: string,
  [code, what, at]: readonly [string, string, string],
): T {
  const found = all?.get(name);
  if (found) return found;
  const near = findNear(name, [...(all?.keys() ?? [])]);
  throw site.fault(code, at, `unknown ${what} "${name}"`, {
    hint: near ? `Did you mean "${near.name}"?` : `Declare the ${what} in "ai/classifiers" at the root.`,
    fix: near?.isSure ? { value: near.name } : undefined,
  });
}
