import type { Reply } from '#contract';
import { plugin } from '../../../../plugins/modifier/lua-proxy.ts';
import { rememberingSinks } from '../../../support/gateway.ts';
import { openHarness } from '../../../support/harness.ts';

export interface Ended {
  /** What the script printed, line by line. */
  readonly printed: readonly string[];
  /** Why it failed; undefined when it did not. */
  readonly failure: string | undefined;
  readonly reply: Reply;
}

/** Runs code once, as `pre` of an endpoint. */
export async function run(code: string, config: object = { allow_open_libs: true }): Promise<Ended> {
  const sinks = rememberingSinks();
  const gate = await openHarness(plugin, 'endpoint', { pre: code, ...config }, { services: { sinks } });
  const reply = await gate.send('GET /');
  await gate.close();
  return { printed: sinks.lines.map((line) => line.trimEnd()), failure: reply.errors[0]?.message, reply };
}

/** What an expression prints. */
export async function value(expression: string, config?: object): Promise<string> {
  const { printed, failure } = await run(`print(${expression})`, config);
  return failure ?? printed.join('\n');
}
