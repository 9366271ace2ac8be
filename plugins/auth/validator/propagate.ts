import { type Data, type DataObject, type EndpointSite, isHeaderName, isHopByHop, isObject, setKey } from '#contract';
import { claimAt } from './authorize.ts';
import type { ValidatorConfig } from './schema.ts';

/** A header and its values. */
export type Propagated = readonly [name: string, ...values: string[]];

/** Conversion of a token's claims to headers. */
export interface Propagation {
  readonly headers: readonly string[];
  readonly of: (claims: DataObject) => readonly Propagated[];
}

/** Headers for message framing and routing, which claims must not set. */
const framing = new Set(['content-length', 'host', 'content-encoding', 'expect']);

/** @throws ConfigError `VALIDATOR_HEADER`. Warning `VALIDATOR_HEADER_UNUSED`. */
export function propagation(
  site: EndpointSite<Pick<ValidatorConfig, 'propagate_claims' | 'propagate_claims_preserve_array'>>,
): Propagation {
  const { propagate_claims: pairs, propagate_claims_preserve_array: preserves } = site.config;
  const passing = new Set(site.endpoint.input_headers.map((name) => name.toLowerCase()));
  const seen = new Set<string>();
  const rules = pairs.map((pair, index) => {
    const [claim, header] = pair as [string, string];
    const lower = header.toLowerCase();
    const at = `/propagate_claims/${index}/1`;
    if (!isHeaderName(header)) throw site.fault('VALIDATOR_HEADER', at, 'not a valid header name');
    if (isHopByHop(lower) || framing.has(lower)) {
      throw site.fault('VALIDATOR_HEADER', at, `${header} is a header that only the gateway can set`);
    }
    if (seen.has(lower)) throw site.fault('VALIDATOR_HEADER', at, `${header} is already set by another claim`);
    seen.add(lower);
    if (!passing.has(lower) && !passing.has('*')) {
      site.warn('VALIDATOR_HEADER_UNUSED', at, `${header} is not forwarded to backends`, {
        hint: `add "${header}" to input_headers of the endpoint`,
      });
    }
    return { header, read: claimAt(claim) };
  });
  return {
    headers: rules.map(({ header }) => header),
    of: (claims) =>
      rules.map(({ header, read }): Propagated => {
        const value = read(claims);
        return preserves && Array.isArray(value) && value.length > 0
          ? [header, ...value.map((member) => headerValue(claimText(member)))]
          : [header, value === undefined ? '' : headerValue(claimText(value))];
      }),
  };
}

/** Formats a claim as text. */
function claimText(value: Data): string {
  if (typeof value === 'number') return numberText(value);
  if (Array.isArray(value)) return value.map(claimText).join(',');
  if (isObject(value)) return JSON.stringify(sorted(value));
  if (typeof value !== 'object' || value === null) return String(value);
  return /^-?\d+$/.test(value.rawJSON) ? value.rawJSON : numberText(Number(value.rawJSON));
}

function numberText(value: number): string {
  const whole = Math.round(value);
  if (!Number.isFinite(value) || Math.abs(value - whole) >= 1e-6) return value.toFixed(6);
  return BigInt(whole).toString();
}

function sorted(value: Data): Data {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const copy: DataObject = {};
  for (const key of Object.keys(value).sort()) setKey(copy, key, sorted(value[key]!));
  return copy;
}

/** Encodes a header value in UTF-8. Characters that would end the line are replaced with spaces. */
function headerValue(text: string): string {
  const line = text.replace(/[\x00-\x08\x0a-\x1f\x7f]/g, ' ');
  return /^[\t\x20-\x7e]*$/.test(line) ? line : Buffer.from(line).toString('latin1');
}
