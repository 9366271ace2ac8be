import type { Level, Plugin } from '#contract';
import { ConfigErrors } from '../../kernel/contract/internal.ts';
import { type HarnessOptions, openHarness, type TestRequest } from '../../kernel/testing/index.ts';

/**
 * Attaches a component and sends it a request. A configuration rejected with ConfigErrors is valid behavior, and so is
 * any reply; any other error, or resources left open, are failures.
 * @throws Error on such a failure.
 */
export async function tryComponent(
  plugin: Plugin,
  level: Level,
  config: unknown,
  request: TestRequest,
  around: HarnessOptions = {},
): Promise<void> {
  let gate: Awaited<ReturnType<typeof openHarness>>;
  try {
    gate = await openHarness(plugin, level, config, around);
  } catch (error) {
    if (error instanceof ConfigErrors) return;
    throw error;
  }
  const { status } = await gate.send(request);
  const { kept, deferred } = await gate.close();
  if (!Number.isInteger(status) || status < 100 || status > 599) throw new Error(`replies with status ${status}`);
  if (kept + deferred > 0) throw new Error(`leaves ${kept} kept values and ${deferred} disposers`);
}
