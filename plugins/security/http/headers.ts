import { randomBytes, randomFillSync } from 'node:crypto';
import { frozen } from '#contract';
import type { SecurityConfig } from './schema.ts';

/** Flat list `[name, value, …]`. */
export type HeaderList = readonly string[];

/** Creates the headers for one request. `secure` is true when it came over HTTPS. */
export type HeaderMaker = (secure: boolean) => HeaderList;

/** Security headers of a configuration; null when it enables none. */
export function headerMaker(config: SecurityConfig): HeaderMaker | null {
  const common = commonHeaders(config);
  const sts = stsHeader(config);
  const overHttps = [...sts, ...common];
  const overHttp = config.force_sts_header ? overHttps : common;
  const [start, ...rest] = config.content_security_policy.split('$NONCE');
  if (rest.length > 0) {
    return (secure) => {
      const policy = [start, ...rest].join(`'nonce-${nonce()}'`);
      return [...(secure ? overHttps : overHttp), 'Content-Security-Policy', policy];
    };
  }
  if (overHttps.length === 0) return null;
  return (secure) => (secure ? overHttps : overHttp);
}

function commonHeaders(config: SecurityConfig): string[] {
  const headers: string[] = [];
  const frameOptions = config.custom_frame_options_value || (config.frame_deny ? 'DENY' : '');
  const policy = config.content_security_policy;
  if (frameOptions) headers.push('X-Frame-Options', frameOptions);
  if (config.content_type_nosniff) headers.push('X-Content-Type-Options', 'nosniff');
  if (config.browser_xss_filter) headers.push('X-XSS-Protection', '1; mode=block');
  if (policy && !policy.includes('$NONCE')) headers.push('Content-Security-Policy', policy);
  if (config.referrer_policy) headers.push('Referrer-Policy', config.referrer_policy);
  return headers;
}

function stsHeader(config: SecurityConfig): string[] {
  if (config.sts_seconds === 0 || config.is_development) return [];
  const subdomains = config.sts_include_subdomains ? '; includeSubDomains' : '';
  return ['Strict-Transport-Security', `max-age=${config.sts_seconds}${subdomains}`];
}

const NONCE_BYTES = 16;

/** Random bytes are generated for many nonces at a time, which costs the same as for one. */
const pool = Buffer.alloc(NONCE_BYTES * 256);
let used = pool.length;

/** 16 random bytes in base64 without padding. */
function nonce(): string {
  // Pooled bytes are not used for a request with frozen values, whose bytes must be repeatable.
  if (frozen()) return randomBytes(NONCE_BYTES).toString('base64').slice(0, 22);
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += NONCE_BYTES;
  return pool.toString('base64', used - NONCE_BYTES, used).slice(0, 22);
}
