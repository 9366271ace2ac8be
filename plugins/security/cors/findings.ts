import { isHeaderName, type Site } from '#contract';
import { canBeOrigin } from './origins.ts';
import type { CorsConfig } from './schema.ts';

/**
 * Checks for settings that cannot be intended. Warnings: CORS_CREDENTIALS, CORS_ORIGIN_NEVER, CORS_MAX_AGE,
 * CORS_UNUSED.
 * @throws ConfigError CORS_ORIGIN or CORS_HEADER.
 */
export function checkConfig(site: Site<CorsConfig>): void {
  checkOrigins(site);
  checkHeaders(site);
  const { max_age: maxAge, options_passthrough: passesOn, options_success_status: status } = site.config;
  if (typeof maxAge === 'number' && maxAge > 0 && maxAge < 1000) {
    site.warn(
      'CORS_MAX_AGE',
      '/max_age',
      'a value of less than a second has no effect, because whole seconds are sent',
      {
        hint: 'write "1s" or more, or "-1s" to disable caching',
      },
    );
  }
  if (passesOn && status !== 204) {
    const message = 'options_success_status has no effect with options_passthrough: the router answers';
    site.warn('CORS_UNUSED', '/options_success_status', message);
  }
}

function checkOrigins(site: Site<CorsConfig>): void {
  const { allow_origins: origins = [], allow_credentials: credentials } = site.config;
  for (const [index, origin] of origins.entries()) {
    if (origin.split('*').length > 2) {
      throw site.fault('CORS_ORIGIN', `/allow_origins/${index}`, `"${origin}" has more than one "*"`, {
        hint: 'write one entry for each origin',
      });
    }
  }
  const all = origins.indexOf('*');
  const isOpen = origins.length === 0 || all >= 0;
  if (isOpen && credentials) {
    site.warn(
      'CORS_CREDENTIALS',
      '/allow_credentials',
      'browsers reject responses to requests with credentials if every origin is allowed',
      {
        hint: 'list the origins in allow_origins; "http*" allows every origin, too, but responses name it, so that browsers accept them',
      },
    );
  }
  for (const [index, origin] of origins.entries()) {
    const pointer = `/allow_origins/${index}`;
    if (all >= 0 && index !== all) {
      site.warn('CORS_UNUSED', pointer, `"${origin}" has no effect next to "*"`);
    } else if (!origin.includes('*') && !canBeOrigin(origin)) {
      site.warn('CORS_ORIGIN_NEVER', pointer, `no browser sends the origin "${origin}"`, {
        hint: 'write only scheme, host and port, as in "https://example.com"',
      });
    }
  }
}

function checkHeaders(site: Site<CorsConfig>): void {
  for (const field of ['allow_headers', 'expose_headers'] as const) {
    for (const [index, name] of site.config[field].entries()) {
      if (!isHeaderName(name)) {
        throw site.fault('CORS_HEADER', `/${field}/${index}`, `"${name}" is not a valid header name`);
      }
    }
  }
}
