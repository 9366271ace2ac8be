import type { Reply } from '#contract';
import { plugin } from '../../../../plugins/modifier/lua-proxy.ts';
import { rememberingSinks } from '../../../support/gateway.ts';
import { openHarness } from '../../../support/harness.ts';

export interface Ended {
  /** Lines that the script printed. */
  readonly printed: readonly string[];
  /** Reason of a failure; undefined on success. */
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

/** The printed value of an expression. */
export async function value(expression: string, config?: object): Promise<string> {
  const { printed, failure } = await run(`print(${expression})`, config);
  return failure ?? printed.join('\n');
}
