import { BinaryReader } from '@bufbuild/protobuf/wire';
import { HeaderBag, isHeaderName } from '#contract';
import { change, type Decision, endToEnd, type HeaderChange, isChangeable } from './decision.ts';

/** Maximum number of header changes of one response. */
const MAX_CHANGES = 1000;

/** Reads the fields of a message. Unknown fields are skipped. @throws RangeError or Error if it is not valid. */
function fields(bytes: Uint8Array, read: Readonly<Record<number, (reader: BinaryReader) => void>>): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (Object.hasOwn(read, field)) read[field]!(reader);
    else reader.skip(type, field);
  }
}

/** Reads the first field of a message; `absent` without it. */
function firstField<T>(bytes: Uint8Array, read: (reader: BinaryReader) => T, absent: T): T {
  let value = absent;
  fields(bytes, {
    1: (reader) => {
      value = read(reader);
    },
  });
  return value;
}

/** Numbers of `HeaderAppendAction`. */
const actions: readonly HeaderChange['action'][] = ['append', 'add', 'set', 'replace'];

/** Reads a `HeaderValueOption`. @param initial action if the message defines none. */
function headerOption(bytes: Uint8Array, initial: 'set' | 'append'): HeaderChange {
  let [name, value] = ['', ''];
  let append: boolean | null = null;
  let action = 0;
  fields(bytes, {
    1: (reader) =>
      fields(reader.bytes(), {
        1: (inner) => {
          name = inner.string();
        },
        2: (inner) => {
          value = inner.string();
        },
        3: (inner) => {
          value = Buffer.from(inner.bytes()).toString('latin1');
        },
      }),
    2: (reader) => {
      append = firstField(reader.bytes(), (inner) => inner.bool(), false);
    },
    3: (reader) => {
      action = reader.int32();
    },
  });
  if (append !== null) return { action: append ? 'append' : 'set', name, value };
  return { action: action === 0 ? initial : (actions[action] ?? initial), name, value };
}

/** Parts of a `DeniedHttpResponse` or `OkHttpResponse`. */
class HttpResponse {
  status = 0;
  body: Uint8Array | null = null;
  readonly headers: HeaderChange[] = [];
  readonly response: HeaderChange[] = [];
}

function readDenied(bytes: Uint8Array): HttpResponse {
  const denied = new HttpResponse();
  fields(bytes, {
    1: (reader) => {
      denied.status = firstField(reader.bytes(), (inner) => inner.int32(), 0);
    },
    2: (reader) => add(denied.headers, headerOption(reader.bytes(), 'set')),
    3: (reader) => {
      denied.body = reader.bytes();
    },
  });
  return denied;
}

function readOk(bytes: Uint8Array): HttpResponse {
  const ok = new HttpResponse();
  fields(bytes, {
    2: (reader) => add(ok.headers, headerOption(reader.bytes(), 'set')),
    5: (reader) => add(ok.headers, { action: 'remove', name: reader.string(), value: '' }),
    6: (reader) => add(ok.response, headerOption(reader.bytes(), 'append')),
  });
  return ok;
}

function add(changes: HeaderChange[], one: HeaderChange): void {
  if (changes.length >= MAX_CHANGES) throw new RangeError(`more than ${MAX_CHANGES} header changes`);
  changes.push(one);
}

const empty = new Uint8Array();

/** Decodes an `envoy.service.auth.v3.CheckResponse`. @throws Error if it is not valid. */
export function decodeDecision(bytes: Uint8Array): Decision {
  let code = 0;
  let denied: Uint8Array = empty;
  let ok: Uint8Array = empty;
  fields(bytes, {
    1: (reader) => {
      code = firstField(reader.bytes(), (inner) => inner.int32(), 0);
    },
    2: (reader) => {
      denied = reader.bytes();
    },
    3: (reader) => {
      ok = reader.bytes();
    },
  });
  return code === 0 ? acceptedBy(readOk(ok)) : rejectedBy(readDenied(denied));
}

function acceptedBy({ headers, response }: HttpResponse): Decision {
  return {
    accepted: true,
    request: headers.filter(({ name }) => isChangeable(name.toLowerCase())),
    response: response.filter(({ name }) => isChangeable(name.toLowerCase())),
    cacheableMs: response.some(({ name }) => name.toLowerCase() === 'set-cookie') ? 0 : Number.POSITIVE_INFINITY,
  };
}

function rejectedBy({ status, headers, body }: HttpResponse): Decision {
  const bag = new HeaderBag();
  change(
    bag,
    headers.filter(({ name }) => isHeaderName(name)),
  );
  const isStatus = status >= 200 && status <= 599;
  return { accepted: false, status: isStatus ? status : 403, headers: endToEnd(bag), body };
}
