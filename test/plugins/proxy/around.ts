import { type BackendConfig, type DataObject, type PipeRequest, parseExact, Reply, type Step } from '#contract';
import type { HarnessOptions } from '../../../kernel/testing/index.ts';

/** A backend of a test endpoint with the fields that matter to the test. */
export function backendConfig(given: Partial<BackendConfig> = {}): BackendConfig {
  return {
    url_pattern: '/',
    method: 'GET',
    host: ['http://backend.test'],
    sd: 'static',
    sd_scheme: 'http',
    disable_host_sanitize: false,
    encoding: 'json',
    is_collection: false,
    input_headers: [],
    input_query_strings: [],
    extra_config: {},
    ...given,
  };
}

/** An endpoint with backends that behave like the given steps. */
export function over(
  steps: readonly Step<PipeRequest>[],
  configs: readonly Partial<BackendConfig>[] = [],
): HarnessOptions {
  return { endpoint: { backend: steps.map((_, at) => backendConfig(configs[at])) }, backends: steps };
}

/** A backend that returns the given JSON. */
export function responses(json: string): Step<PipeRequest> {
  return () => Reply.data(parseExact(json) as DataObject);
}

/** Pointer and code of every error in a configuration. */
export async function refusal(harness: Promise<unknown>): Promise<string[]> {
  try {
    await harness;
  } catch (error) {
    return (error as { errors: { pointer: string; code: string }[] }).errors.map(
      ({ pointer, code }) => `${pointer} ${code}`,
    );
  }
  return [];
}

/** Flatmap operations in short notation, such as `move a.b c`. */
export const operations = (lines: readonly string[]) =>
  lines.map((line) => {
    const [type, ...args] = line.split(' ');
    return { type, args };
  });

/** A backend skipped by a condition. */
export const skipped: Step<PipeRequest> = () => {
  const reply = Reply.data(null, false);
  reply.skipped = true;
  return reply;
};

/** A backend that records each request before it responds. */
export function noting(seen: PipeRequest[], backend: Step<PipeRequest>): Step<PipeRequest> {
  return (request, call) => {
    seen.push(request);
    return backend(request, call);
  };
}

export const messages = (reply: Reply) => reply.errors.map(({ message }) => message);
