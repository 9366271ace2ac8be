import type { Site } from '#contract';
import { httpUrl } from '../../shared/calls/http-url.ts';
import { isLocal } from '../../shared/calls/local-url.ts';

/** Codes and wording for the URL of a server that the gateway calls. */
interface ServerUrl {
  /** Error code of other texts. */
  readonly invalid: string;
  /** Warning code of http to another machine. */
  readonly insecure: string;
  /** Data that are sent to the server. */
  readonly sent: string;
}

/** The URL of a server. @param at relative pointer. @throws ConfigError `invalid`; warning `insecure`. */
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
