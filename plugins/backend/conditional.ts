import {
  atBackend,
  type BackendCondition,
  type BackendSite,
  claimsSlot,
  definePlugin,
  getKey,
  type Infer,
  isObject,
  type PipeRequest,
  type Schema,
} from '#contract';
import { endpointPath } from '../engines/cel/conditions.ts';
import { withSource } from '../engines/cel/macro-source.ts';
import { requestTypes, Variables } from '../engines/cel/variables.ts';
import { compileWritten } from '../engines/cel/written-expression.ts';
import { limitedWarning } from '../shared/logging/limited-warning.ts';

const name = 'backend/conditional';

const schema = {
  type: 'object',
  title: 'Condition of a backend',
  examples: [
    { strategy: 'header', name: 'X-Market', value: 'de' },
    { strategy: 'policy', value: "hasHeader('X-Beta') && req_method == 'GET'" },
    { strategy: 'fallback' },
  ],
  required: ['strategy'],
  properties: {
    strategy: {
      type: 'string',
      enum: ['header', 'policy', 'fallback'],
      description:
        'Condition type: `header` compares a header, `policy` evaluates an expression, `fallback` applies if no other condition of the endpoint does.',
      examples: ['header'],
    },
    name: {
      type: 'string',
      minLength: 1,
      description: 'Header name. Must be listed in input_headers of the endpoint.',
      examples: ['X-Market'],
    },
    value: {
      type: 'string',
      description: 'Header value (case-sensitive), or CEL expression of the policy.',
      examples: ['de'],
    },
  },
} as const satisfies Schema;

type ConditionalSite = BackendSite<Infer<typeof schema>>;

const types = new Map(Object.entries({ ...requestTypes, now: 'string' } as const));

/** Limits of one evaluation. */
const budget = { steps: 100_000, cpuMs: 10 };

/**
 * Calls a backend only if a condition on the request is met. A backend that is not called is neither part of the
 * response nor a failure, and none of its components sees the request.
 *
 * Configuration faults: `CONDITION_FIELD`, `CONDITION_FALLBACK`, and those of expressions; warnings `CONDITION_HEADER`,
 * `CONDITION_ORDER`, `CEL_KEY`.
 */
export const plugin = definePlugin({
  name,
  description: 'Calls a backend only if a condition on the request is met.',
  leaves: ['requests', 'data'],
  meaning: () => ({ chosen: true, apart: true }),
  places: [
    atBackend(schema, (site) => {
      const conditions = { header: headerCondition, policy: policyCondition, fallback: fallbackCondition };
      return { condition: conditions[site.config.strategy](site) };
    }),
  ],
});

/** Headers that are always present, regardless of `input_headers`. */
const ofGateway: ReadonlySet<string> = new Set([
  'user-agent',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-via',
]);

/** @throws ConfigError CONDITION_FIELD */
function needed(site: ConditionalSite, field: 'name' | 'value'): string {
  const value = site.config[field];
  if (value !== undefined) return value;
  throw site.fault('CONDITION_FIELD', '', `a condition with strategy "${site.config.strategy}" requires '${field}'`);
}

function headerCondition(site: ConditionalSite): BackendCondition {
  const header = needed(site, 'name').toLowerCase();
  const value = needed(site, 'value');
  const { input_headers: listed } = site.endpoint;
  const isPassed = listed.some((each) => each === '*' || each.toLowerCase() === header);
  if (!isPassed && !ofGateway.has(header) && isOfEndpoint(site)) {
    site.warn(
      'CONDITION_HEADER',
      '/name',
      `the condition is never met: the endpoint does not forward ${site.config.name}`,
      {
        hint: `"input_headers": ${JSON.stringify([...listed, site.config.name])}`,
      },
    );
  }
  return {
    holds: ({ headers }) => headers.getAll(header).includes(value),
    inWords: `header ${site.config.name} = ${JSON.stringify(value)}`,
  };
}

/** Compiles a policy. An evaluation error counts as not met. */
function policyCondition(site: ConditionalSite): BackendCondition {
  const expression = compileWritten(site, needed(site, 'value'), '/value', types, { macros: true, budget });
  const warn = limitedWarning(site.log.at('[Conditional]'), site.use('clock'));
  return {
    inWords: `requests that satisfy the policy: ${needed(site, 'value')}`,
    holds(request: PipeRequest, call) {
      const path = endpointPath(request);
      const variables = new Variables({ request, path, reply: null, raw: false, claims: call.get(claimsSlot) });
      const source = { request, locate: undefined };
      const verdict = withSource(source, () => expression.evaluate(variables, Math.max(call.remainingMs, 0)));
      if (typeof verdict === 'string')
        warn(() => `the condition could not be evaluated and counts as not met: ${verdict}`);
      return verdict === true;
    },
  };
}

function fallbackCondition(site: ConditionalSite): BackendCondition {
  const { endpoint, index, backend } = site;
  const strategies = endpoint.backend.map(({ extra_config: components }) => {
    const settings = components[name];
    return isObject(settings) ? getKey(settings, 'strategy') : undefined;
  });
  if (strategies.slice(0, index).includes('fallback')) {
    throw site.fault('CONDITION_FALLBACK', '/strategy', 'an endpoint can have at most one fallback');
  }
  const options = backend.extra_config['proxy'];
  if (isObject(options) && getKey(options, 'shadow') === true) {
    throw site.fault('CONDITION_FALLBACK', '/strategy', 'a shadow cannot be a fallback: its response is discarded');
  }
  const around = endpoint.extra_config['proxy'];
  const isSequence = isObject(around) && getKey(around, 'sequential') === true;
  if (isSequence && strategies.some((strategy, at) => at > index && strategy !== undefined)) {
    site.warn(
      'CONDITION_ORDER',
      '/strategy',
      'the conditions of backends after the fallback are not taken into account for the fallback',
      {
        hint: 'move the fallback to the end',
      },
    );
  }
  return { holds: null, inWords: 'requests that meet no other condition' };
}

/** Whether the backend belongs to an endpoint. Backends of pipes inside a component receive all headers that the component provides. */
function isOfEndpoint({ pointer }: ConditionalSite): boolean {
  return /^\/endpoints\/\d+\/backend\/\d+\/extra_config\/[^/]*$/.test(pointer);
}
