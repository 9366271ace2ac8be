import type { Attached, Scenario } from './scenario.ts';

const body = JSON.stringify({ contents: 'Why is the sky blue?' });

const request = {
  method: 'POST',
  headers: ['Content-Type', 'application/json', 'Content-Length', String(body.length)],
  body,
};

const providers = {
  'ai/providers': {
    providers: ['fast', 'careful'].map((name) => ({
      name,
      provider: 'openai',
      credentials: 'of-the-benchmark',
      endpoint: 'http://x',
    })),
  },
};

const model = (provider: string) => ({ 'ai/llm': { provider } });

/** Backends of the providers. The benchmark replaces them with constant responses, like the backends of endpoints. */
const targets = ['fast', 'careful'].map((provider) => ({ provider, backend: [{ extra_config: model(provider) }] }));

const router = { routes: [{ provider: 'fast' }], failover: 'careful', targets };

const gates = {
  'ai/classifiers': {
    gates: [
      { name: 'premium', rule: 'header', header: { name: 'X-Plan', value: 'premium' } },
      { name: 'json', rule: 'header', header: { name: 'Content-Type', value: 'application/json' } },
    ],
  },
};

const gated = [
  { gates: ['premium'], provider: 'careful' },
  { gates: ['json'], provider: 'fast' },
];

const quota = {
  'governance/processors': {
    quotas: [{ name: 'tokens', rules: [{ name: 'free', limits: [{ amount: 1e12, unit: 'day' }] }] }],
  },
};

const budget = {
  quota_name: 'tokens',
  tier_key: 'X-Plan',
  tiers: [{ rule_name: 'free', tier_value_as: '*', strategy: 'ip' }],
  token_budget: {},
};

function scenario(name: string, without: Attached, attached: Attached): Scenario {
  const path = `/bench/${name}`;
  const asked = { request: { ...request, path } };
  return {
    name,
    path,
    endpoint: { method: 'POST', backend: [{ url_pattern: '/', method: 'POST' }] },
    expected: {},
    without: { ...without, ...asked },
    attach: () => ({ ...attached, ...asked }),
  };
}

const direct: Attached = { service: providers, backend: model('fast') };

/** Cost of calling models, compared with a plain backend and with a direct call, and cost of models that are declared but not used. */
export const modelScenarios: readonly Scenario[] = [
  scenario('model', {}, direct),
  scenario('model-router', direct, { service: providers, backend: { 'ai/router': router } }),
  // Two conditions on the request: one that the request meets, and one that it does not meet.
  scenario(
    'model-gates',
    { service: providers, backend: { 'ai/router': router } },
    { service: { ...providers, ...gates }, backend: { 'ai/router': { ...router, routes: gated } } },
  ),
  scenario('model-budget', direct, {
    ...direct,
    service: { ...providers, ...quota },
    endpoint: { 'governance/quota': budget },
  }),
  scenario('model-unused', {}, { service: { ...providers, ...gates, ...quota } }),
];
