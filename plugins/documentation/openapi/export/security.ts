import { type Data, type DataObject, type EndpointConfig, isObject, type ServiceConfig, setKey } from '#contract';
import { type Credential, credentialsOf } from '../../lib/components.ts';
import type { OpenApiSettings } from '../schema.ts';
import type { OpenApiVersion } from './schemas.ts';

const MUTUAL_TLS = 'MutualTLS';

type SecuredConfig = Pick<ServiceConfig, 'tls' | 'extra_config'>;

/** Security schemes of a document. */
export class SecuritySchemes {
  readonly #schemes: DataObject = {};
  readonly #config: SecuredConfig;
  readonly #settings: OpenApiSettings;
  /** Client certificates are required for all requests. */
  readonly #isMutual: boolean;

  constructor(config: SecuredConfig, settings: OpenApiSettings, version: OpenApiVersion) {
    this.#config = config;
    this.#settings = settings;
    this.#isMutual = hasMutualTls(config) && version === '3.1';
    for (const [name, scheme] of Object.entries(settings.custom_security_schemes ?? {})) {
      // OpenAPI 3.0 has no security scheme for certificates.
      const isKnown = version === '3.1' || !isObject(scheme) || scheme['type'] !== 'mutualTLS';
      if (isObject(scheme) && isKnown) setKey(this.#schemes, name, scheme);
    }
    if (this.#isMutual) this.#schemes[MUTUAL_TLS] = { type: 'mutualTLS', description: 'Client certificate.' };
  }

  get named(): Readonly<DataObject> {
    return this.#schemes;
  }

  /** Returns the security requirement of an operation, all schemes together; undefined without one. */
  requirementOf(endpoint: EndpointConfig, { custom_security_schemes: own = {} }: OpenApiSettings): Data | undefined {
    const names = new Set(credentialsOf(endpoint, this.#config).map((credential) => this.#nameOf(credential)));
    for (const [name, scheme] of Object.entries(own)) {
      // If several definitions have the same name, the first one takes precedence.
      if (isObject(scheme) && Object.keys(scheme).length > 0 && !Object.hasOwn(this.#schemes, name)) {
        setKey(this.#schemes, name, scheme);
      }
      if (Object.hasOwn(this.#schemes, name)) names.add(name);
    }
    if (this.#isMutual) names.add(MUTUAL_TLS);
    return names.size === 0 ? undefined : [Object.fromEntries([...names].map((name) => [name, []]))];
  }

  #nameOf(credential: Credential): string {
    const { name, scheme } = this.#describe(credential);
    if (!Object.hasOwn(this.#schemes, name)) setKey(this.#schemes, name, scheme);
    return name;
  }

  #describe(credential: Credential): { readonly name: string; readonly scheme: DataObject } {
    const { jwt_key: token = 'KrakenD-JWT', cookie_name: cookie = 'SESSIONID' } = this.#settings;
    if (credential.kind === 'basic') return { name: 'Basic', scheme: { type: 'http', scheme: 'basic' } };
    if (credential.kind === 'bearer') {
      return { name: token, scheme: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } };
    }
    const { kind, of, name } = credential;
    const scheme = { type: 'apiKey', in: kind, name };
    if (of === 'key') return { name: `ApiKey-${kind}-${name}`, scheme };
    return { name: kind === 'cookie' ? cookie : `${token}-${name}`, scheme };
  }
}

export function hasMutualTls({ tls }: Pick<ServiceConfig, 'tls'>): boolean {
  return (tls as { readonly enable_mtls?: boolean } | undefined)?.enable_mtls === true;
}
