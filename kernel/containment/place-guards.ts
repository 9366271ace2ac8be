import type { ServerResponse } from 'node:http';
import type { EndpointConfig, PortHandler } from '#contract';
import type { PluginPolicy } from '../contract/internal.ts';
import type { BlamedPlugin, Containment } from './containment.ts';
import { type FaultMeter, HookGuard } from './hook-guard.ts';

/** Guards of one plugin's hooks in one endpoint, or in the service: they contain the faults of these hooks. */
export class PlaceGuards {
  readonly #containment: Containment;
  readonly #plugin: BlamedPlugin;
  readonly #endpoint: string;
  readonly #policy: PluginPolicy;
  readonly #meter: FaultMeter;

  readonly #as: string | undefined;

  /**
   * @param endpoint endpoint that the hooks belong to; undefined for the service.
   * @param as name of the plugin's hooks in reports. Default: their own names.
   */
  constructor(
    containment: Containment,
    plugin: BlamedPlugin,
    endpoint: Pick<EndpointConfig, 'method' | 'endpoint'> | undefined,
    policy: PluginPolicy,
    meter: FaultMeter,
    as?: string,
  ) {
    this.#containment = containment;
    this.#plugin = plugin;
    this.#endpoint = endpoint ? `${endpoint.method} ${endpoint.endpoint}` : 'the service';
    this.#policy = policy;
    this.#meter = meter;
    this.#as = as;
  }

  of(hook: string): HookGuard {
    const record = this.#containment.record(this.#plugin);
    return new HookGuard(
      this.#containment.fault,
      { record, hook: this.#as ?? hook, endpoint: this.#endpoint },
      this.#policy,
      this.#meter,
    );
  }

  /** Contains the faults of a background task: a failure is counted and has no other effect. */
  task<Args extends readonly unknown[]>(
    hook: string,
    run: (...args: Args) => unknown,
  ): (...args: Args) => undefined | Promise<void> {
    const guard = this.of(hook);
    const fail = (error: unknown): undefined => void guard.judge(error);
    return (...args) => {
      try {
        const running = run(...args);
        return running instanceof Promise ? running.then(() => undefined, fail) : undefined;
      } catch (error) {
        return fail(error);
      }
    };
  }

  /** Contains the faults of the handler of a plugin's own port. */
  handler(handle: PortHandler): PortHandler {
    const guard = this.of('listen');
    const fail = (error: unknown, response: ServerResponse): void => {
      guard.judge(error);
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    };
    return (message, response) => {
      try {
        // The promise of an asynchronous handler is not awaited, but its rejection counts as a fault.
        const running: unknown = handle(message, response);
        if (running instanceof Promise) running.catch((error: unknown) => fail(error, response));
      } catch (error) {
        fail(error, response);
      }
    };
  }
}
