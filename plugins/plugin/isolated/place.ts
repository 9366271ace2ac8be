import {
  before,
  type Call,
  CallError,
  ConfigError,
  HandlerError,
  type Line,
  type Log,
  type PipeRequest,
  printJson,
  Reply,
  type Step,
  type ThreadUser,
  type Wrap,
} from '#contract';
import { kindNames } from '../lib/handlers.ts';
import type { HostSite } from '../lib/host.ts';
import type { Named } from '../lib/place.ts';
import { type MakeStage, type PipeKind, stages } from '../lib/stages.ts';
import type { SentPlace } from './guest-site.ts';
import { HostServices } from './host-services.ts';
import { IsolatedRun } from './run.ts';
import { fieldsOf } from './wire.ts';

/** Creates the pipe stage of a named handler, in this thread or in the module's. Parameters and errors as in `MakeStage`. */
export function stageOf(
  site: HostSite,
  kind: PipeKind,
  named: Named,
  ...rest: [config: unknown, raw: boolean]
): ReturnType<MakeStage> {
  if (!named.entry.thread) return stages[kind](site, named, ...rest);
  return isolatedStages[kind](new IsolatedPlace(site, kind, named, ...rest));
}

const isolatedStages: Readonly<Record<PipeKind, (place: IsolatedPlace) => Wrap<PipeRequest>>> = {
  middleware: around,
  httpClient: around,
  requestModifier: (place) => before((request, call) => place.changeRequest(request, call)),
  responseModifier: (place) => (next) => {
    return async (request, call) => place.changeReply(await next(request, call), request, call);
  },
};

function around(place: IsolatedPlace): Wrap<PipeRequest> {
  return (next) => (request, call) => place.goThrough(request, call, next);
}

/** Timeout for the disposal of a handler at the end of its configuration, in milliseconds. */
const DISPOSE_MS = 5_000;

/** A handler of one endpoint, backend or the service whose code runs in the thread of its module. */
class IsolatedPlace implements ThreadUser {
  readonly log: Log;
  readonly #sent: SentPlace;
  readonly #services: HostServices;
  readonly #refusal: (reason: string, cause: unknown) => ConfigError;
  readonly #runs = new Map<number, IsolatedRun>();
  #next = 0;
  #line: Line | null = null;
  #away: Error = new Error('its thread has not started');
  #leave: (() => Promise<void>) | null = null;
  #isOver = false;

  /** Joins the thread before the configuration becomes active, and leaves it after the last request. */
  constructor(site: HostSite, kind: PipeKind, { entry, pointer }: Named, config: unknown, raw: boolean) {
    const { name, file, thread } = entry;
    this.log = site.log.at(`[PLUGIN: ${name}]`);
    this.#services = new HostServices(site);
    const { endpoint, backend } = site;
    this.#sent = {
      kind,
      name,
      config: printJson(config as never),
      raw,
      pointer: site.pointer,
      namePointer: pointer,
      version: site.use('version'),
      endpoint: endpoint ? { method: endpoint.method, endpoint: endpoint.endpoint } : null,
      backend: backend ? { method: backend.method, url_pattern: backend.url_pattern } : null,
      ...this.#services.description,
    };
    this.#refusal = (reason, cause) =>
      site.fault('PLUGIN_FACTORY', pointer, `the ${kindNames[kind]} "${name}" of ${file}: ${reason}`, { cause });
    site.warm(async () => this.#join(thread!));
    site.defer(() => this.#end());
  }

  async #join(thread: { join(user: ThreadUser): Promise<() => Promise<void>> }): Promise<void> {
    try {
      const leave = await thread.join(this);
      // If the configuration was discarded in the meantime, the handler is removed from the thread immediately.
      if (this.#isOver) await leave();
      else this.#leave = leave;
    } catch (error) {
      throw error instanceof ConfigError ? error : this.#refusal((error as Error).message, error);
    }
  }

  async #end(): Promise<void> {
    this.#isOver = true;
    const line = this.#line;
    if (line) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, DISPOSE_MS).unref();
      });
      await Promise.race([line.ask('dispose', null).catch(() => {}), late]);
      clearTimeout(timer);
    }
    this.#line = null;
    this.#away = new Error('its configuration was replaced');
    await this.#leave?.();
  }

  async started(line: Line): Promise<void> {
    await line.ask('make', this.#sent);
    this.#line = line;
  }

  ended(reason: Error): void {
    this.#line = null;
    this.#away = reason;
  }

  readonly receive = (operation: string, value: unknown): unknown => {
    const { operations } = this.#services;
    if (Object.hasOwn(operations, operation)) return operations[operation]!(value);
    const { run: id } = fieldsOf<{ run: number }>(value);
    const run = this.#runs.get(id);
    if (!run) throw new Error('the request has ended');
    if (operation === 'next') return run.next(value);
    if (operation === 'body') return run.body(value);
    if (operation === 'span') return this.#services.span(run.spans, run.call, value);
    throw new Error(`no such operation: ${operation}`);
  };

  /** Runs a middleware or an HTTP client. */
  async goThrough(request: PipeRequest, call: Call, next: Step<PipeRequest>): Promise<Reply> {
    const reply = await this.#run(request, call, next, null);
    return reply ?? Reply.failed(new CallError('PLUGIN_RESPONSE', 'unknown response type'));
  }

  async changeRequest(request: PipeRequest, call: Call): Promise<Reply | undefined> {
    return (await this.#run(request, call, null, null)) ?? undefined;
  }

  async changeReply(reply: Reply, request: PipeRequest, call: Call): Promise<Reply> {
    if (reply.skipped) return reply;
    return (await this.#run(request, call, null, reply)) ?? reply;
  }

  /** @throws HandlerError for an error of the handler or of its thread. */
  async #run(
    request: PipeRequest,
    call: Call,
    next: Step<PipeRequest> | null,
    reply: Reply | null,
  ): Promise<Reply | null> {
    const line = this.#line;
    const run = new IsolatedRun(this.#next++, request, call, next);
    this.#runs.set(run.id, run);
    const cancellation = call.onCancel(() => line?.say('cancel', run.id));
    try {
      if (!line) throw this.#unavailable();
      return run.finish(await line.ask('run', run.start(reply)));
    } catch (error) {
      if (error instanceof CallError && !(error instanceof HandlerError)) {
        run.end(null);
        return Reply.failed(error);
      }
      run.fail();
      if (error instanceof HandlerError) throw error;
      throw new HandlerError('PLUGIN_ERROR', (error as Error).message, { cause: error });
    } finally {
      cancellation.off();
      this.#runs.delete(run.id);
    }
  }

  #unavailable(): Error {
    const { message, stack = '' } = this.#away;
    return Object.assign(new Error(`it is restarting: ${message}`), { stack });
  }
}
