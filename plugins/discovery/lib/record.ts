import { isIP } from 'node:net';
import type { BackendSite } from '#contract';

const NAME = /^(?=.{1,253}$)[\w-]{1,63}(?:\.[\w-]{1,63})*$/;

/**
 * Name of a backend's SRV record, in lower case and without a trailing dot: the first entry of `host`, with or without
 * the scheme that sanitizing adds. Further entries cause a warning, SD_HOSTS.
 * @throws ConfigError SD_RECORD when it is not a valid name, SD_SCHEME when its scheme differs from the one used to
 * call the backend.
 */
export function recordName(site: BackendSite<undefined>): string {
  const { host, sd, sd_scheme: scheme } = site.backend;
  const first = host[0]!;
  const [, said, rest] = /^(?:(https?):\/\/)?(.*?)\.?$/i.exec(first) as unknown as [string, string | undefined, string];
  if (!NAME.test(rest) || isIP(rest) !== 0) {
    const bare = rest.replace(/[:/].*$/, '');
    const fits = bare !== rest && NAME.test(bare) && isIP(bare) === 0;
    throw site.fault('SD_RECORD', '/host/0', `"${first}" is not the name of an SRV record`, {
      hint: fits ? `"${bare}": SRV records provide the port` : 'for example "_http._tcp.users.internal"',
    });
  }
  if (said?.toLowerCase() === 'https' && scheme !== 'https') {
    throw site.fault('SD_SCHEME', '/host/0', `discovered hosts are called with sd_scheme, which is "${scheme}"`, {
      hint: '"sd_scheme": "https"',
    });
  }
  if (host.length > 1) {
    site.warn('SD_HOSTS', '/host', `only the first host is resolved with sd "${sd}": the others have no effect`);
  }
  return rest.toLowerCase();
}
