import type { PluginCommand } from '#contract';

/** `sluice revoker`: runs only the revoke server, with the port, TLS and logging settings of a configuration. */
export const command: PluginCommand = {
  usage: '-c FILE',
  summary: 'Run the revoke server.',
  details: 'Uses only port, listen_ip, tls, telemetry/logging and auth/revoker of the file.',
  flags: {
    config: { type: 'string', short: 'c', value: 'FILE', about: 'The configuration.', otherwise: 'required' },
  },
  async run({ values, readConfig, serve, stderr }) {
    const { config: file } = values;
    if (typeof file !== 'string') {
      stderr.write('a configuration is required: sluice revoker -c FILE\n');
      return 2;
    }
    const config = await readConfig(file);
    if (!config) return 1;
    const { port, listen_ip, tls, name, extra_config: extra } = config;
    const revoker = extra['auth/revoker'];
    if (revoker === undefined) {
      stderr.write(`ERROR ${file}: extra_config has no auth/revoker\n`);
      return 1;
    }
    return serve({
      version: 3,
      name,
      port,
      listen_ip,
      ...(tls && { tls }),
      endpoints: [],
      extra_config: {
        'auth/revoker/server': revoker,
        ...('telemetry/logging' in extra && { 'telemetry/logging': extra['telemetry/logging'] }),
        // The access log is disabled, because the URLs contain the revoked values.
        router: { disable_access_log: true },
      },
    });
  },
};
