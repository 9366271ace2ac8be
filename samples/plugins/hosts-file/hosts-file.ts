import { atService, definePlugin, definePort, isObject, offer } from 'sluice/plugin';

/** Addresses by service name, as listed in the file. */
type Hosts = ReadonlyMap<string, readonly string[]>;

/** The plugin passes the settings at the root to the discovery, which has no settings of its own. */
const filePort = definePort<string>('acme hosts file');

/** @throws Error with the reason if the file is invalid. */
function parseHosts(text: string): Hosts {
  const written: unknown = JSON.parse(text);
  if (!isObject(written)) throw new Error('an object of lists is expected, as in {"users": ["http://10.0.0.1:8080"]}');
  return new Map(
    Object.entries(written).map(([name, addresses]) => {
      const isList = Array.isArray(addresses) && addresses.every((one) => typeof one === 'string' && URL.canParse(one));
      if (!isList) throw new Error(`the addresses of "${name}" must be a list of URLs`);
      return [name, addresses as string[]];
    }),
  );
}

export const plugin = definePlugin({
  name: 'discovery/hosts-file',
  contract: 1,
  description: 'Takes the addresses of services from a JSON file, which is applied whenever it is saved.',
  offers: [filePort],
  takes: [filePort],
  places: [
    atService(
      {
        type: 'object',
        examples: [{ file: 'hosts.json' }],
        required: ['file'],
        properties: { file: { type: 'string', minLength: 1, description: 'Path, relative to the working directory.' } },
      },
      ({ config }) => ({ offers: [offer(filePort, config.file)] }),
    ),
  ],
  discoveries: [
    {
      name: 'hosts-file',
      open({ backend, take, read, fault }) {
        const file = take(filePort);
        if (file === undefined) {
          throw fault(
            'HOSTS_FILE',
            '/sd',
            'name the file at the root: "discovery/hosts-file": { "file": "hosts.json" }',
          );
        }
        // A file that is read is also watched: new content is a new configuration, and invalid content changes nothing.
        const bytes = read(file);
        let hosts: Hosts;
        try {
          hosts = parseHosts(Buffer.from(bytes).toString('utf8'));
        } catch (error) {
          throw fault('HOSTS_FILE', '/sd', `${file}: ${(error as Error).message}`, { cause: error });
        }
        const current = backend.host.flatMap((host, at) => {
          const { hostname } = new URL(host);
          const addresses = hosts.get(hostname);
          if (!addresses) throw fault('HOSTS_FILE', `/host/${at}`, `the file has no addresses of "${hostname}"`);
          return addresses;
        });
        return { current, fixed: true };
      },
    },
  ],
});
