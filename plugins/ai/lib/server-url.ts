import type { Site } from '#contract';
import { httpUrl } from '../../shared/calls/http-url.ts';
import { isLocal } from '../../shared/calls/local-url.ts';

/** Error codes and wording that a component uses for the URL of a server that the gateway calls. */
interface ServerUrl {
  /** Error code for a text that is not a valid URL. */
  readonly invalid: string;
  /** Warning code for an unencrypted URL (`http`) of another machine. */
  readonly insecure: string;
  /** Name of the data that are sent to the server, for the warning. */
  readonly sent: string;
}

/** Parses the URL of a server. @param at relative pointer. @throws ConfigError `invalid`; warning `insecure`. */
export function serverUrl(
  site: Site<unknown>,
  written: string,
  at: string,
  { invalid, insecure, sent }: ServerUrl,
): URL {
  const url = httpUrl(written);
  if (!url) throw site.fault(invalid, at, 'the URL is not an http or https URL without credentials');
  if (url.protocol === 'http:' && !isLocal(url)) {
    site.warn(insecure, at, `${sent} are sent without TLS`, { hint: 'https://' });
  }
  return url;
}
