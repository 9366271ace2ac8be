import { CallError } from '#contract';

/** Error of a request that fails because of a plugin. It has already been logged. */
export abstract class PluginFailure extends CallError {}

/** Failure of a plugin's hook: the client receives only `internal server error`, unless the call's error says more. */
export class PluginFault extends PluginFailure {
  constructor(cause: unknown, { message, view }: Partial<Pick<CallError, 'message' | 'view'>> = {}) {
    super('PLUGIN_FAULT', message ?? 'internal server error', { cause, ...(view && { view }) });
  }
}

/** A plugin is suspended after too many faults: requests that need it fail. */
export class PluginSuspended extends PluginFailure {
  constructor(name: string) {
    super('PLUGIN_SUSPENDED', `plugin "${name}" is suspended`, { view: { status: 503 } });
  }
}
