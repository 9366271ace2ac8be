import { type Data, definePort, type IsolatedModule, type ModuleHost, type Port, type Site } from '#contract';

/** What a module brings: where in a request its code runs. */
export type Kind = 'middleware' | 'requestModifier' | 'responseModifier' | 'httpClient' | 'httpServer';

/** What the kinds are called in messages. */
export const kindNames: Readonly<Record<Kind, string>> = {
  middleware: 'middleware',
  requestModifier: 'request modifier',
  responseModifier: 'response modifier',
  httpClient: 'HTTP client',
  httpServer: 'HTTP server',
};

/**
 * Makes a handler for one place of a configuration.
 * @param config of a middleware what stands under its name there, of every other kind the whole namespace.
 */
export type Factory = (config: unknown, host: ModuleHost) => unknown;

/** Finds the first mistake of the settings that stand under a name, and fills in defaults; null when there is none. */
export type CheckSettings = (settings: Data) => { readonly pointer: string; readonly message: string } | null;

/** One name and everything that a module brings under it. */
export interface Handlers extends Readonly<Partial<Record<Kind, Factory>>> {
  readonly name: string;
  /** The file it comes from. */
  readonly file: string;
  readonly checkSettings?: CheckSettings | undefined;
  /** Its code runs there; factories stand for those that are in the thread. */
  readonly thread?: IsolatedModule;
}

/** What a module offers at one configuration. */
export interface OfferedHandlers extends Handlers {
  /** As of the module's own site: faults of what is attached are those of the module. */
  readonly contain: Site<unknown>['contain'];
}

/** Where modules written for the compatible product's extension points offer what they bring. */
export const handlers: Port<OfferedHandlers> = definePort('plugin handlers');
