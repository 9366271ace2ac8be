import { isObject, type Site } from '#contract';
import type { CelType } from '../../engines/cel/language/types.ts';
import { compileWritten } from '../../engines/cel/written-expression.ts';
import { limitedWarning } from '../../shared/logging/limited-warning.ts';
import { jsonCaller } from '../lib/json-caller.ts';
import { defaultGuards } from './default-guards.ts';
import type { Check, CustomGuard } from './guard.ts';
import { WINDOW } from './pattern-set.ts';
import { PolicyVariables } from './policy-variables.ts';
import { type GuardConfig, severities } from './schema.ts';

const TIMEOUT_MS = 2000;

/** Limits for one evaluation of a policy. */
const budget = { steps: 100_000, cpuMs: 10 };

const types: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ['body', 'string'],
  ['meta', { key: 'string', value: 'dyn' }],
]);

const fields = {
  regex: ['patterns'],
  classifier: ['url', 'score_threshold', 'on_failure_block', 'timeout'],
  policy: ['expressions'],
} as const;

const required = { regex: ['patterns'], classifier: ['url', 'score_threshold'], policy: ['expressions'] } as const;

const reserved: ReadonlySet<string> = new Set([
  'all_defaults',
  ...severities,
  ...defaultGuards.map(({ name }) => name),
]);

/** @throws ConfigError PROMPT_GUARD_NAME, PROMPT_GUARD_FIELD, PATTERN_INVALID and those of expressions and URLs. */
export function openGuards(site: Site<unknown>, configs: readonly GuardConfig[]): ReadonlyMap<string, CustomGuard> {
  const guards = new Map<string, CustomGuard>();
  for (const [index, config] of configs.entries()) {
    const at = `/guards/${index}`;
    const { name } = config;
    const taken = guards.has(name) ? 'is used twice' : reserved.has(name) ? 'is the name of default guards' : null;
    if (taken) throw site.fault('PROMPT_GUARD_NAME', `${at}/name`, `the name "${name}" ${taken}`);
    if (name.startsWith('!')) throw site.fault('PROMPT_GUARD_NAME', `${at}/name`, 'a name cannot start with "!"');
    guards.set(name, open(site, config, `${at}/config`));
  }
  return guards;
}

function open(site: Site<unknown>, { name, kind, severity, config }: GuardConfig, at: string): CustomGuard {
  const missing = required[kind].find((field) => config[field as keyof typeof config] === undefined);
  if (missing) throw site.fault('PROMPT_GUARD_FIELD', at, `a guard of the kind "${kind}" requires "${missing}"`);
  const other = Object.keys(config).find((field) => !(fields[kind] as readonly string[]).includes(field));
  if (other) {
    throw site.fault('PROMPT_GUARD_FIELD', `${at}/${other}`, `${other} has no effect on guards of the kind "${kind}"`);
  }
  const common = { name, kind, severity };
  if (kind === 'classifier') return { ...common, patterns: [], check: classifier(site, config, at) };
  if (kind === 'policy') return { ...common, patterns: [], check: policy(site, config.expressions!, at) };
  for (const [index, pattern] of config.patterns!.entries()) checkPattern(site, pattern, `${at}/patterns/${index}`);
  return { ...common, patterns: config.patterns! };
}

/** @throws ConfigError PATTERN_INVALID, also for an expression that would be too slow for the longest pieces. */
function checkPattern(site: Site<unknown>, source: string, at: string): void {
  const pattern = site.pattern(source, at);
  try {
    pattern.test(' '.repeat(WINDOW));
  } catch {
    throw site.fault('PATTERN_INVALID', at, 'the expression is too large for prompts', {
      hint: 'lower the numbers in { }, or split it into several expressions',
    });
  }
}

function policy(site: Site<unknown>, sources: readonly string[], at: string): Check {
  const expressions = sources.map((source, index) =>
    compileWritten(site, source, `${at}/expressions/${index}`, types, { budget }),
  );
  return (request, call) => {
    const variables = new PolicyVariables(request);
    for (const [index, expression] of expressions.entries()) {
      const verdict = expression.evaluate(variables, Math.max(call.remainingMs, 0));
      if (verdict !== true) return typeof verdict === 'string' ? `expression ${index} failed` : `expression ${index}`;
    }
    return null;
  };
}

function classifier(site: Site<unknown>, config: GuardConfig['config'], at: string): Check {
  const { url, score_threshold: threshold = 0, on_failure_block: blocks = true, timeout = TIMEOUT_MS } = config;
  const send = jsonCaller(site, { url: url!, at: `${at}/url`, timeoutMs: timeout, code: 'PROMPT_GUARD_FAILED' });
  const warn = limitedWarning(site.log.at('[PromptGuard]'), site.use('clock'));
  return async ({ body, headers }, call) => {
    let failure: string;
    try {
      const response = await send(body, call, headers.get('content-type'));
      const score = isObject(response) ? response['score'] : undefined;
      if (typeof score === 'number' && score >= 0 && score <= 1) return score < threshold ? `score ${score}` : null;
      failure = 'the response has no score from 0 to 1';
    } catch (error) {
      if (call.reason) throw call.reason;
      failure = (error as Error).message;
    }
    warn(
      () => `a classifier could not score a request, so the request is ${blocks ? 'blocked' : 'passed'}: ${failure}`,
    );
    return blocks ? 'no score' : null;
  };
}
