import { type Data, type DataObject, isObject, printJson } from '#contract';
import { scheduler } from '../../contract/internal.ts';
import { createReport } from '../issues/report.ts';
import { checkTogether } from '../rules/index.ts';
import { nothingKnown } from './known-plugins.ts';
import { type Normalized, type NormalizeOptions, normalize, normalizeCooperatively } from './normalize.ts';
import { movedTo } from './renormalize.ts';

/** Minimum endpoints per batch: about half a millisecond of work. */
const BATCH = 8;

/** Adds one endpoint to the batch size for this many characters of service settings, which each batch processes again. */
const SHARE = 64;

/**
 * Like `normalize`, but without blocking requests: processes batches of endpoints with the fields of the service, then
 * runs the checks across endpoints. A document with errors is normalized as a whole.
 * @param least minimum number of endpoints in a batch.
 */
export async function normalizeInBatches(
  data: unknown,
  options: NormalizeOptions = {},
  least = BATCH,
): Promise<Normalized> {
  return (await inBatches(data, options, least)) ?? normalizeCooperatively(data, options);
}

/** @returns null if there are errors, or if one endpoint may depend on another. */
async function inBatches(data: unknown, options: NormalizeOptions, least: number): Promise<Normalized | null> {
  const endpoints = isObject(data) ? data['endpoints'] : null;
  if (!Array.isArray(endpoints) || endpoints.length <= least) return null;
  const service = { ...(data as DataObject), endpoints: [] };
  const size = Math.max(least, Math.ceil(printJson(service).length / SHARE));
  const batches: Normalized[] = [];
  for (let at = 0; at < endpoints.length; at += size) {
    const document: Data = { ...service, endpoints: endpoints.slice(at, at + size) };
    const batch = normalize(document, { ...options, isPartial: true });
    if (batch.errors.length > 0 || !batch.isPlain) return null;
    batches.push(batch);
    if (scheduler.due) await scheduler.yield();
  }
  const [first] = batches as [Normalized];
  const all = batches.flatMap((batch) => batch.config.endpoints);
  const config = Object.freeze({ ...first.config, endpoints: Object.freeze(all) });
  const report = createReport();
  for (const _ of checkTogether(config, options.known ?? nothingKnown, report, false)) {
    if (scheduler.due) await scheduler.yield();
  }
  // A pointer in a warning would refer to a position in the batch instead of the document, so a document with such a
  // warning is normalized as a whole.
  const namesPlace = batches.some(({ warnings }) => warnings.some(({ message }) => message.includes('/endpoints/')));
  if (report.errors.length > 0 || namesPlace) return null;
  const warnings = batches.flatMap((batch, index) => {
    const own = batch.warnings.filter(({ pointer }) => index === 0 || pointer.startsWith('/endpoints/'));
    return movedTo(own, (at) => at + index * size);
  });
  return { config, errors: [], warnings: [...warnings, ...report.warnings], origin: first.origin, isPlain: true };
}
