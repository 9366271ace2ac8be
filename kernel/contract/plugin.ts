import type { DataObject } from '../values/data.ts';
import type { AuditRule } from './audit.ts';
import type { PluginCommand } from './command.ts';
import type { ConfigSources } from './config-source.ts';
import type { Conversion } from './conversion.ts';
import type { Discovery } from './discovery.ts';
import type { Encoding } from './encoding.ts';
import type { Level, Namespace } from './extra-config.ts';
import type { HttpOptions } from './http.ts';
import type { ExpectedBelow, Meaning } from './meaning.ts';
import type { PipeRequest } from './message.ts';
import type { AtService, Place } from './place.ts';
import type { Port } from './port.ts';
import type { CreateSample } from './sample.ts';
import type { HttpSite, Site } from './site.ts';
import type { Step } from './step.ts';

/** The file that a plugin was loaded from. */
export interface PluginSource {
  /** Absolute path. */
  readonly file: string;
  /** SHA-256 of the file and of every file it imports by a relative path; different content is a different instance. */
  readonly hash: string;
  /** Absolute paths of the file and of all these imports. */
  readonly files: readonly string[];
  /** True for modules that run in a thread of their own. */
  readonly isIsolated?: true;
}

/** A plugin: first its data, then its functions. */
export interface Plugin {
  readonly name: Namespace;
  /** Version of this contract. Required for plugins that are loaded from files. */
  readonly contract?: 1;
  /** Set by the loader for plugins that are loaded from files. */
  readonly source?: PluginSource;
  /** Handlers that configurations of other plugins name. Each is listed, counted and suspended individually (`Site.contain`). */
  readonly handlers?: readonly string[];
  /**
   * Version of the state kept by `site.keep` and `site.share`. State passes on to a changed file with the same version.
   * Default: state belongs to one content of the file.
   */
  readonly keeps?: number;
  /** Description of the plugin in one sentence, for the reference documentation. */
  readonly description: string;
  readonly places?: readonly Place[];
  /**
   * Declares that the hooks of this plugin at the root depend only on endpoints that `learnsFrom` selects, and that
   * everything they register for an endpoint is released together with the endpoint. Required for endpoints to be
   * reused across reloads; not needed if the plugin passes nothing to endpoints.
   */
  readonly independent?: true;
  /**
   * Whether endpoints with this component can omit `backend`. A placeholder is then filled in, which must never be
   * called.
   */
  readonly answersAlone?: true;
  /**
   * Whether backends with this component contain their own address, so that their `host` is neither required nor
   * called.
   */
  readonly hostless?: true;
  /** Rejects requests at an endpoint whose credentials, or rights, are not sufficient. */
  readonly guards?: true;
  /** Components that must be configured at the root together with this one. */
  readonly requires?: readonly Namespace[];
  /** Components without which this one has no effect: a warning if they are missing at the root. */
  readonly expects?: readonly Namespace[];
  /**
   * Component that at least one endpoint needs for this one to have an effect at the root. Without any, a warning is
   * reported.
   */
  readonly expectsBelow?: ExpectedBelow;
  /** Current field names by version 2 name. */
  readonly oldFields?: { readonly [name: string]: string };
  /** Current names of handlers, listed in the field `name`, by version 2 name. */
  readonly oldHandlers?: { readonly [name: string]: string };
  /**
   * Converts forms of KrakenD into current ones in a version 3 document, before validation. Modifies the
   * document, which can contain any errors.
   */
  readonly convert?: (document: DataObject, report: Conversion) => void;
  /**
   * Converts settings to the form of version 4 of the format. Returns the same object if the form is the same, or a
   * text with the reason if version 4 cannot express the settings.
   */
  readonly inVersionFour?: (config: DataObject) => DataObject | string;
  /** Components that `convert` adds to a document, and components that are defaults of its pipes. They are loaded together with this plugin. */
  readonly becomes?: readonly Namespace[];
  /** URL schemes of the backends that the plugin calls, with the equivalent HTTP scheme, for example `{ grpc: 'http' }`. */
  readonly schemes?: { readonly [scheme: string]: 'http' | 'https' };
  /**
   * Schemes of the references to its store of secrets, which it attaches at the service as `secrets`: `['acme']` for
   * `${acme:name#key}`. The plugin is also attached alone, before the rest of the configuration is built. A plugin
   * `secrets/<name>` has the scheme with that name.
   */
  readonly secretSchemes?: readonly string[];
  /** Root fields that open a port, for example `/listen`. A change of such a field opens another port. */
  readonly opens?: readonly string[];
  /** Set if the keys of the component's configuration are data, and say nothing about their values, such as whether they are secrets. */
  readonly freeKeys?: true;
  /**
   * Parts that the component never changes: `requests` (headers and parameters of backend requests) or `data` (backend
   * responses). Default: unknown, so nothing is reported as unused.
   */
  readonly leaves?: readonly ('requests' | 'data')[];
  /** Audit rules, for a missing or badly configured component. */
  readonly audit?: readonly AuditRule[];
  /** Commands of the command line, named by one or two words. */
  readonly commands?: { readonly [name: string]: PluginCommand };
  /** Effects of the component's configuration on other components. The configuration is not validated yet. */
  readonly meaning?: (config: Readonly<DataObject>, level: Level) => Meaning;
  /** Parts of a request that the component accepts at an endpoint, for requests that are generated in a sandbox. */
  readonly sample?: CreateSample;
  /**
   * Attaches the plugin to every service, without a namespace in its configuration: for `Catalogue.always`, and for
   * plugins in code or from files.
   */
  readonly always?: (site: Site<undefined>) => AtService;
  readonly encodings?: readonly Encoding[];
  readonly discoveries?: readonly Discovery[];
  /** Store that configurations are read from. */
  readonly configSources?: ConfigSources;
  /**
   * For `Catalogue.defaultProtocol`: creates the client returned by `Site.http`. Endpoint and backend are set if the
   * place has them; `config` is the plugin's own configuration there.
   */
  readonly http?: (site: HttpSite, options: HttpOptions) => Step<PipeRequest>;
  /**
   * Ports (exchange points between plugins, not network ports) at which the plugin can offer values.
   * Plugins that take them are attached later.
   */
  readonly offers?: readonly Port<unknown>[];
  /** Ports (see `offers`) from which the plugin takes values. */
  readonly takes?: readonly Port<unknown>[];
  /**
   * For a plugin that the order table does not list: the plugin that it is placed directly outside of. Default:
   * innermost.
   */
  readonly outside?: Namespace;
  /** For a plugin that the order table does not list: the plugin that it is placed directly inside of. */
  readonly inside?: Namespace;
}

/** Declares a plugin. Every plugin file exports one as `plugin`. */
export function definePlugin(plugin: Plugin): Plugin {
  return Object.freeze(plugin);
}
