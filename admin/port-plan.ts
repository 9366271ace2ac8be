import { type AdminAddress, type AdminSettings, adminSchema, isObject, parseAdminAddress } from '#contract';
import { compileSchema, type ServingConfiguration } from '#kernel';

const defaults: AdminSettings = {
  ...(compileSchema(adminSchema)({}, '').value as Omit<AdminSettings, 'pem'>),
  pem: null,
};

/** How a configuration sets the admin port; the defaults where it says nothing. */
export function settingsOf(settings: AdminSettings | undefined): AdminSettings {
  return settings ?? defaults;
}

/** Where the admin port is to be. */
export interface PortPlan {
  readonly listen: string;
  readonly address: AdminAddress;
  readonly settings: AdminSettings;
  /** Somebody asked for this very address; else going without it is better than not to serve. */
  readonly isAsked: boolean;
}

/** Why there can be no admin port as planned. */
export class PlanError extends Error {}

/**
 * @param given on the command line or in the environment: stronger than the configuration.
 * @throws PlanError for an address that is none, or open to others without TLS.
 */
export function planPort(
  { config, admin }: Pick<ServingConfiguration, 'config' | 'admin'>,
  given: string | undefined,
): PortPlan {
  const settings = settingsOf(admin);
  const configured = config.extra_config['admin/api'];
  const isConfigured = given === undefined && isObject(configured) && Object.hasOwn(configured, 'listen');
  const listen = given ?? settings.listen;
  const address = parseAdminAddress(listen);
  if (!address) throw new PlanError(`"${listen}" is not an address such as 127.0.0.1:9180 or unix:/path`);
  if (address.kind === 'tcp' && !address.isLoopback && !settings.pem) {
    throw new PlanError(`refusing to expose the admin API on ${listen} without TLS: set tls, or listen on 127.0.0.1`);
  }
  return { listen, address, settings, isAsked: given !== undefined || isConfigured };
}
