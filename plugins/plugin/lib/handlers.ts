import { type Data, definePort, type IsolatedModule, type ModuleHost, type Port, type Site } from '#contract';

/** Kind of a handler: the part of a request in which its code runs. */
export type Kind = 'middleware' | 'requestModifier' | 'responseModifier' | 'httpClient' | 'httpServer';

/** Names of the kinds in messages. */
export const kindNames: Readonly<Record<Kind, string>> = {
  middleware: 'middleware',
  requestModifier: 'request modifier',
  responseModifier: 'response modifier',
  httpClient: 'HTTP client',
  httpServer: 'HTTP server',
};

/**
 * Creates a handler for one endpoint, backend or the service.
 * @param config the settings under its name for a middleware, the whole namespace for every other kind.
 */
export type Factory = (config: unknown, host: ModuleHost) => unknown;

/** Finds the first error in the settings of a name, and fills in defaults; null without an error. */
export type CheckSettings = (settings: Data) => { readonly pointer: string; readonly message: string } | null;

/** The handlers that a module provides under one name. */
export interface Handlers extends Readonly<Partial<Record<Kind, Factory>>> {
  readonly name: string;
  /** File that the module was loaded from. */
  readonly file: string;
  readonly checkSettings?: CheckSettings | undefined;
  /** Thread that runs the module's code; the factories are placeholders for those in the thread. */
  readonly thread?: IsolatedModule;
}

/** Handlers that a module offers to one configuration. */
export interface OfferedHandlers extends Handlers {
  /** Method `contain` of the module's own site, by which failures of the attachments count as failures of the module. */
  readonly contain: Site<unknown>['contain'];
}

/** Lets modules written for KrakenD's extension points provide their handlers. */
export const handlers: Port<OfferedHandlers> = definePort('plugin handlers');
