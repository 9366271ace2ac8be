import {
  before,
  type ClientRequest,
  type DataObject,
  type PipeRequest,
  Reply,
  refuse,
  type Site,
  type Wrap,
} from '#contract';
import { onData } from '../../shared/replies/on-data.ts';
import * as replacer from './content-replacer.ts';
import * as ipFilter from './ip-filter/index.ts';

/** Attachment of a built-in plugin to an endpoint or a backend. */
export interface BuiltInModifier {
  /** Hook around the endpoint, before authentication. */
  readonly endpoint?: Wrap<ClientRequest>;
  /** Hook around the requests to the backend that configures the plugin. */
  readonly request?: Wrap<PipeRequest>;
  /** Hook around requests that changes decoded responses. */
  readonly response?: Wrap<PipeRequest>;
  /** Changes each message of a stream. */
  readonly message?: (data: DataObject) => DataObject;
}

/** Settings of the endpoint or backend whose modifier runs. */
export interface Stance {
  readonly place: 'endpoint' | 'backend';
  /** Whether responses are passed through undecoded. */
  readonly raw: boolean;
}

/** Schemas of the plugins' settings, by plugin name. */
export const modifierSchemas = {
  'content-replacer': replacer.schema,
  'ip-filter': ipFilter.schema,
} as const;

type Settings = {
  readonly 'content-replacer': replacer.ContentReplacerConfig;
  readonly 'ip-filter': ipFilter.IpFilterConfig;
};

type Attach<Name extends keyof Settings> = (
  site: Site<unknown>,
  settings: Settings[Name],
  pointer: string,
  stance: Stance,
) => BuiltInModifier;

/** Functions that attach the built-in plugins, by name. Code: a warning CONTENT_REPLACER_RAW. */
export const modifierBuiltIns: { readonly [Name in keyof Settings]: Attach<Name> } = {
  'content-replacer': (site, settings, pointer, { raw }) => {
    const replace = replacer.contentReplacer(site, settings, pointer);
    if (raw) {
      site.warn('CONTENT_REPLACER_RAW', pointer, 'responses that are not decoded cannot be modified', {
        hint: 'use another output_encoding than "no-op"',
      });
      return {};
    }
    return { response: onData(replace), message: replace };
  },
  'ip-filter': (site, settings, pointer, { place }) => {
    const admits = ipFilter.createIpFilter(site, settings, pointer);
    if (place === 'endpoint') return { endpoint: before((client) => (admits(client) ? undefined : refuse(403))) };
    return { request: before(({ client }) => (admits(client) ? undefined : Reply.failed(ipFilter.rejected))) };
  },
};
