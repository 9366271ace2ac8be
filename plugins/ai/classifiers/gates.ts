import { claimsSlot, type Site } from '#contract';
import { endpointPath } from '../../engines/cel/conditions.ts';
import type { CelType } from '../../engines/cel/language/types.ts';
import { withSource } from '../../engines/cel/macro-source.ts';
import { requestTypes, Variables } from '../../engines/cel/variables.ts';
import { compileWritten } from '../../engines/cel/written-expression.ts';
import { limitedWarning } from '../../shared/logging/limited-warning.ts';
import type { Gate } from '../lib/classifiers.ts';
import type { GateConfig } from './schema.ts';

const types: ReadonlyMap<string, CelType> = new Map(
  Object.entries<CelType>({ ...requestTypes, now: 'string', req_body: 'string', JWT: { key: 'string', value: 'dyn' } }),
);

/** Limits for one evaluation of a policy. */
const budget = { steps: 100_000, cpuMs: 10 };

/** @throws ConfigError CLASSIFIER_FIELD and those of expressions; warning CEL_KEY. */
export function openGate(site: Site<unknown>, config: GateConfig, at: string): Gate {
  const { rule, header, policy } = config;
  if (rule === 'header' && header && !policy) return headerGate(header.name.toLowerCase(), header);
  if (rule === 'policy' && policy && !header) return policyGate(site, policy.value, `${at}/policy/value`);
  throw site.fault('CLASSIFIER_FIELD', at, `a gate with rule "${rule}" requires "${rule}" and no other condition`);
}

function headerGate(header: string, { name, value }: { readonly name: string; readonly value: string }): Gate {
  return {
    inWords: `header ${name} = ${JSON.stringify(value)}`,
    readsBody: false,
    passes: ({ headers }) => headers.getAll(header).includes(value),
  };
}

function policyGate(site: Site<unknown>, source: string, at: string): Gate {
  const expression = compileWritten(site, source, at, types, { macros: true, budget });
  const warn = limitedWarning(site.log.at('[Classifiers]'), site.use('clock'));
  return {
    inWords: source,
    readsBody: expression.reads.has('req_body'),
    passes(request, body, call) {
      const readable = { request, path: endpointPath(request), body, reply: null, raw: false };
      const variables = new Variables({ ...readable, claims: call.get(claimsSlot) });
      const verdict = withSource({ request, locate: undefined }, () =>
        expression.evaluate(variables, Math.max(call.remainingMs, 0)),
      );
      if (typeof verdict === 'string') warn(() => `a gate failed and counts as not met: ${verdict}`);
      return verdict === true;
    },
  };
}
