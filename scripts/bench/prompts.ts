import { answering } from './answering.ts';
import type { Attached, Scenario } from './scenario.ts';

/** A prompt of 200 characters. */
const prompt =
  'Our customer ada@example.com asks for the delivery time of her order. Write a short and friendly answer that says that it will arrive within three days, and offer help with any further question. Thanks.';

const body = JSON.stringify({ messages: [{ role: 'user', content: prompt }] });

/** Measures the cost of a component for a POST request with a prompt, over the same request without it. */
function scenario(name: string, attach: (folder: string) => Attached, headers: readonly string[] = []): Scenario {
  const path = `/bench/${name}`;
  const fields = ['Content-Type', 'application/json', 'Content-Length', String(body.length), ...headers];
  const request = { request: { method: 'POST', path, body, headers: fields } };
  return {
    ...{ name, path, expected: {}, without: request },
    endpoint: { method: 'POST', output_encoding: 'no-op', backend: [{ url_pattern: '/', encoding: 'no-op' }] },
    attach: (folder) => ({ ...attach(folder), ...request }),
  };
}

const embedders = (folder: string) => ({
  'ai/semantic-cache': {
    embedders: [{ name: 'default', url: answering(folder, '() => ({ data: [{ embedding: [1, 0] }] })') }],
  },
});

const guards = {
  'ai/prompt-guard': {
    guards: [{ name: 'bluebird', kind: 'regex', severity: 'high', config: { patterns: ['bluebird'] } }],
  },
};

/** Prompts: cost where components are used, and where they are declared at the root only. */
export const promptScenarios: readonly Scenario[] = [
  // The same prompt again: a stored response, without an embedding.
  scenario('semantic-cache', (folder) => ({ service: embedders(folder), endpoint: { 'ai/semantic-cache': {} } })),
  scenario('semantic-cache-unused', (folder) => ({ service: embedders(folder) })),
  scenario('prompt-guard', () => ({ service: guards, endpoint: { 'ai/prompt-guard': { guards: ['bluebird'] } } })),
  scenario('prompt-guard-unused', () => ({ service: guards })),
  scenario('redaction', () => ({ endpoint: { 'ai/redaction': {} } })),
];
