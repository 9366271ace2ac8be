import { type EndpointSite, isHeaderName } from '#contract';
import { isShadow, passesBytes } from '../backends.ts';
import type { SplitConfig } from './schema.ts';

type SplitSite = EndpointSite<SplitConfig>;

/** @throws ConfigError SPLIT_BACKEND, SPLIT_NAME, SPLIT_RAW, SPLIT_STICKY, SPLIT_WEIGHTS */
export function checkVariants(site: SplitSite): void {
  const { variants, sticky } = site.config;
  checkBackends(site);
  const names = variants.map(({ name }) => name);
  const again = names.findIndex((name, at) => names.indexOf(name) < at);
  if (again >= 0) throw site.fault('SPLIT_NAME', `/variants/${again}/name`, `duplicate variant name "${names[again]}"`);
  if (!variants.some(({ weight }) => weight > 0)) {
    throw site.fault('SPLIT_WEIGHTS', '/variants', 'at least one variant must have a weight greater than 0');
  }
  for (const [at, { match }] of variants.entries()) {
    if (match?.strategy === 'header') checkHeader(site, match.key, `/variants/${at}/match/key`);
  }
  if (sticky && sticky.strategy !== 'ip' && sticky.key === undefined) {
    throw site.fault('SPLIT_STICKY', '/sticky', `"key" is required with the strategy "${sticky.strategy}"`);
  }
  if (sticky?.strategy === 'header') checkHeader(site, sticky.key!, '/sticky/key');
  for (const [at, { name, weight, match }] of variants.entries()) {
    if (weight === 0 && !match) site.warn('SPLIT_NEVER', `/variants/${at}`, `no request gets the variant "${name}"`);
  }
}

function checkBackends(site: SplitSite): void {
  const { backend: list } = site.endpoint;
  const isRaw = passesBytes(site);
  for (const [at, { name, backends }] of site.config.variants.entries()) {
    const pointer = `/variants/${at}/backends`;
    for (const [index, position] of backends.entries()) {
      const member = list[position];
      if (!member) {
        const message = `the endpoint has no backend ${position}; the first backend is 0, the last one ${list.length - 1}`;
        throw site.fault('SPLIT_BACKEND', `${pointer}/${index}`, message);
      }
      if (isShadow(member)) throw site.fault('SPLIT_BACKEND', `${pointer}/${index}`, `backend ${position} is a shadow`);
    }
    if (isRaw && backends.length > 1) {
      const message = `variant "${name}" has ${backends.length} backends, but output_encoding ${site.endpoint.output_encoding} supports only one`;
      throw site.fault('SPLIT_RAW', pointer, message);
    }
  }
}

function checkHeader({ fault }: SplitSite, name: string, pointer: string): void {
  if (!isHeaderName(name)) throw fault('SPLIT_STICKY', pointer, `"${name}" is not a valid header name`);
}
