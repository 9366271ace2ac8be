import { createSecureContext } from 'node:tls';
import {
  type AdminPem,
  type AdminSettings,
  adminSchema,
  atService,
  definePlugin,
  isAddressRange,
  parseAdminAddress,
  pemErrorReason,
  readPem,
  type Site,
  type TlsFault,
} from '#contract';

type ApiSite = Site<Omit<AdminSettings, 'pem'>>;

/** Settings of the admin port; the port itself is opened by the command that runs the gateway. */
export const plugin = definePlugin({
  name: 'admin/api',
  description: 'Configures the admin API: listen address, access tokens and permissions.',
  opens: ['/listen'],
  meaning: ({ listen }) => (typeof listen === 'string' ? { admin: { listen, field: '/listen' } } : {}),
  places: [
    atService(adminSchema, (site) => {
      checkAddress(site);
      checkNames(site);
      return { admin: { ...site.config, pem: readTls(site) } };
    }),
  ],
});

/** Checks the listen address. Configuration fault: ADMIN_LISTEN. */
function checkAddress({ config, fault }: ApiSite): void {
  const address = parseAdminAddress(config.listen);
  if (!address) {
    throw fault('ADMIN_LISTEN', '/listen', `"${config.listen}" is not an address such as 127.0.0.1:9180 or unix:/path`);
  }
  if (address.kind === 'tcp' && !address.isLoopback && !config.tls) {
    const message = `refusing to expose the admin API on ${config.listen} without TLS`;
    throw fault('ADMIN_LISTEN', '/listen', message, { hint: 'set tls, or listen on 127.0.0.1 or unix:/path' });
  }
}

/** Checks the allowed addresses and the token IDs. Configuration faults: ADMIN_ALLOWED_IP, ADMIN_TOKEN_ID. */
function checkNames({ config, fault }: ApiSite): void {
  const wrong = config.allowed_ips.findIndex((range) => !isAddressRange(range));
  if (wrong >= 0) {
    const message = `"${config.allowed_ips[wrong]}" is neither an address nor a range such as 10.0.0.0/8`;
    throw fault('ADMIN_ALLOWED_IP', `/allowed_ips/${wrong}`, message);
  }
  const ids = config.tokens.map(({ id }) => id);
  const twice = ids.findIndex((id, index) => ids.indexOf(id) !== index);
  if (twice >= 0) throw fault('ADMIN_TOKEN_ID', `/tokens/${twice}/id`, `duplicate token id "${ids[twice]}"`);
}

/** Reads the certificate and key files. Configuration faults: ADMIN_TLS_FILE, ADMIN_TLS_INVALID. */
function readTls({ config: { tls }, read, fault }: ApiSite): AdminPem | null {
  if (!tls) return null;
  const tlsFault: TlsFault = (kind, at, message, cause) => fault(`ADMIN_TLS_${kind}`, `/tls${at}`, message, { cause });
  const pem: AdminPem = {
    cert: readPem(read, tls.certificate, '/certificate', tlsFault),
    key: readPem(read, tls.private_key, '/private_key', tlsFault),
    ca: tls.client_ca && readPem(read, tls.client_ca, '/client_ca', tlsFault),
  };
  try {
    createSecureContext(pem);
  } catch (cause) {
    throw tlsFault(
      'INVALID',
      '',
      `the certificate files cannot be used: ${pemErrorReason(pem.cert + pem.key, cause)}`,
      cause,
    );
  }
  return pem;
}
