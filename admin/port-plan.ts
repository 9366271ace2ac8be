import { type AdminAddress, type AdminSettings, adminSchema, isObject, parseAdminAddress } from '#contract';
import { compileSchema, type ServingConfiguration } from '#kernel';

const defaults: AdminSettings = {
  ...(compileSchema(adminSchema)({}, '').value as Omit<AdminSettings, 'pem'>),
  pem: null,
};

/** Admin settings of a configuration, with defaults for those it does not set. */
export function settingsOf(settings: AdminSettings | undefined): AdminSettings {
  return settings ?? defaults;
}

/** Planned address of the admin port. */
export interface PortPlan {
  readonly listen: string;
  readonly address: AdminAddress;
  readonly settings: AdminSettings;
  /** True when this address was requested explicitly; otherwise the gateway starts without an admin port rather than fail. */
  readonly isExplicit: boolean;
}

/** Reason why the admin port cannot be opened as planned. */
export class PlanError extends Error {}

/**
 * @param given address from the command line or the environment; takes precedence over the configuration.
 * @throws PlanError when the address is invalid, or exposed to other hosts without TLS.
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
  return { listen, address, settings, isExplicit: given !== undefined || isConfigured };
}
