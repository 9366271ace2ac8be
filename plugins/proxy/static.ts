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

/** When static data is put into a reply. */
export type StaticStrategy = 'always' | 'success' | 'complete' | 'errored' | 'incomplete';

const applies: { readonly [strategy in StaticStrategy]: (reply: Reply) => boolean } = {
  always: () => true,
  success: (reply) => !isErrored(reply),
  complete: (reply) => !isErrored(reply) && isComplete(reply),
  errored: isErrored,
  incomplete: (reply) => !isComplete(reply),
};

/**
 * Puts fixed data over the top-level keys of a reply. A reply without data becomes a 200 that holds the fixed data alone
 * and stays incomplete; its errors remain for the log.
 *
 * Every reply gets objects and arrays of its own, since what stands further out may change them; data of scalars only,
 * the common case, costs no copy.
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

/** A refusal, whose completeness is null, is an error too, also when it names none. */
function isErrored(reply: Reply): boolean {
  return reply.errors.length > 0 || reply.complete === null;
}

function isComplete(reply: Reply): boolean {
  return reply.complete === true && reply.data !== null;
}

function isScalar(value: Data): boolean {
  return typeof value !== 'object' || value === null || JSON.isRawJSON(value);
}
