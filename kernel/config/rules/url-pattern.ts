import type { EndpointRule } from './rule.ts';

/**
 * `url_pattern` is a path: hosts stand in `host`.
 *
 * Code: a warning, URL_PATTERN_HOST.
 */
export const urlPattern: EndpointRule = (endpoint, pointer, _service, report) => {
  endpoint.backend.forEach(({ url_pattern: pattern }, index) => {
    // A slash has been put before it.
    const [, origin] = /^\/(https?:\/\/[^/?]*)/i.exec(pattern) ?? [];
    if (origin === undefined) return;
    const message = `url_pattern is a path, and "${origin}" is made a part of it`;
    const hint = `"host": ["${origin}"], and the rest in url_pattern`;
    report.warn('URL_PATTERN_HOST', `${pointer}/backend/${index}/url_pattern`, message, { hint });
  });
};
