import {
  after,
  copyData,
  type Data,
  type DataObject,
  discard,
  HeaderBag,
  mergeShallow,
  type PipeRequest,
  type Reply,
  type Wrap,
} from '#contract';

/** Condition for adding static data to a reply. */
export type StaticStrategy = 'always' | 'success' | 'complete' | 'errored' | 'incomplete';

const applies: { readonly [strategy in StaticStrategy]: (reply: Reply) => boolean } = {
  always: () => true,
  success: (reply) => !isErrored(reply),
  complete: (reply) => !isErrored(reply) && isComplete(reply),
  errored: isErrored,
  incomplete: (reply) => !isComplete(reply),
};

/**
 * Overrides top-level keys of a reply with static data. A reply without data becomes a 200 that contains only the
 * static data and stays incomplete; its errors are kept for the log.
 *
 * Every reply gets its own copies of objects and arrays, since outer components may modify them; data with only
 * scalars, the common case, is not copied.
 */
export function staticData(data: DataObject, strategy: StaticStrategy): Wrap<PipeRequest> {
  const isWanted = applies[strategy];
  const isFlat = Object.values(data).every(isScalar);
  const own = isFlat ? () => data : () => copyData(data);
  return after((reply) => {
    if (!isWanted(reply)) return;
    if (reply.data) {
      reply.data = mergeShallow([reply.data, own()]);
      return;
    }
    discard(reply.body);
    reply.body = null;
    reply.status = 200;
    reply.headers = new HeaderBag();
    reply.complete = false;
    reply.data = { ...own() };
  });
}

/** A rejection, whose completeness is null, counts as an error too, even without a listed error. */
function isErrored(reply: Reply): boolean {
  return reply.errors.length > 0 || reply.complete === null;
}

function isComplete(reply: Reply): boolean {
  return reply.complete === true && reply.data !== null;
}

function isScalar(value: Data): boolean {
  return typeof value !== 'object' || value === null || JSON.isRawJSON(value);
}
