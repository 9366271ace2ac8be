import type { ClientHandler, MiddlewareHandler, PipeRequest, RequestModifier, Wrap } from '#contract';
import { aroundPipe } from './around.ts';
import { defaultClient, replacingClient } from './client-call.ts';
import type { Kind } from './handlers.ts';
import type { HostSite } from './host.ts';
import { asFunction, make } from './make.ts';
import { asResponseModifier, modifyingReply, modifyingRequest } from './modify.ts';
import type { Named } from './place.ts';
import { SyncTime } from './sync-time.ts';

/** Kinds of handlers that run in a pipe. */
export type PipeKind = Exclude<Kind, 'httpServer'>;

/**
 * Creates the pipe stage of a named handler.
 * @param config passed to its factory. @param raw whether bodies are passed through undecoded.
 * @throws the ConfigErrors of `make`.
 */
export type MakeStage = (site: HostSite, named: Named, config: unknown, raw: boolean) => Wrap<PipeRequest>;

/** Stage constructors by kind, for modules that run in this thread. */
export const stages: Readonly<Record<PipeKind, MakeStage>> = {
  middleware(site, named, config, raw) {
    const made = make<MiddlewareHandler>(site, 'middleware', named, config, asFunction);
    return aroundPipe(made, { raw, time: new SyncTime(site, 'middleware', made.name) });
  },
  requestModifier(site, named, config) {
    const made = make<RequestModifier>(site, 'requestModifier', named, config, asFunction);
    return modifyingRequest({ made, time: new SyncTime(site, 'modifier', made.name) });
  },
  responseModifier(site, named, config, raw) {
    const made = make(site, 'responseModifier', named, config, asResponseModifier);
    return modifyingReply({ made, time: new SyncTime(site, 'modifier', made.name) }, raw);
  },
  httpClient(site, named, config) {
    const made = make<ClientHandler>(site, 'httpClient', named, config, asFunction, { defaultClient });
    return replacingClient(made, new SyncTime(site, 'client', made.name));
  },
};
