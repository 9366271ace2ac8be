import { CallError } from '#contract';

/** A request is refused on account of a plugin. The log has been told already. */
export abstract class PluginFailure extends CallError {}

/** A hook of a plugin failed: the client is told nothing but `internal server error`, unless the error of the call says more. */
export class PluginFault extends PluginFailure {
  constructor(cause: unknown, { message, view }: Partial<Pick<CallError, 'message' | 'view'>> = {}) {
    super('PLUGIN_FAULT', message ?? 'internal server error', { cause, ...(view && { view }) });
  }
}

/** A plugin that failed too often is suspended: what needs it is refused. */
export class PluginSuspended extends PluginFailure {
  constructor(name: string) {
    super('PLUGIN_SUSPENDED', `plugin "${name}" is suspended`, { view: { status: 503 } });
  }
}
