import { randomUUID } from 'node:crypto';
import { authorityOf, checkName, checkValue, type Field, replyField, requestField, wireText } from './fields.ts';
import { type ElseFilter, filter, filterFields } from './filter.ts';
import { actsOn, innerModifier, kind, type Place, scope, scopeOf } from './modifier.ts';

const name = { type: 'string', minLength: 1, description: 'Header name.' } as const;

/** Sets a header, replacing all its values. */
export const headerModifier = kind(
  {
    type: 'object',
    description: 'Sets a header.',
    required: ['name', 'value'],
    properties: { name, value: { type: 'string', description: 'Header value.' }, scope },
  },
  ({ name, value, scope }, place) =>
    writing(place, name, value, scope, (field, message, text) => field.set(message, text)),
);

export const headerAppend = kind(
  {
    type: 'object',
    description: 'Adds a value to a header.',
    required: ['name', 'value'],
    properties: { name, value: { type: 'string', description: 'Value to add.' }, scope },
  },
  ({ name, value, scope }, place) => {
    const isSingle = /^content-length$/i.test(name) || (/^host$/i.test(name) && actsOn(scope, 'request'));
    if (isSingle) throw place.fault('/name', `${name} can have only one value`, { hint: 'header.Modifier' });
    return writing(place, name, value, scope, (field, message, text) => field.append(message, text));
  },
);

export const headerCopy = kind(
  {
    type: 'object',
    description: 'Copies the first value of a header to another header.',
    required: ['from', 'to'],
    properties: {
      from: { type: 'string', minLength: 1, description: 'Name of the header to read.' },
      to: { type: 'string', minLength: 1, description: 'Name of the header to set.' },
      scope,
    },
  },
  ({ from, to, scope }, place) => {
    checkName(place, '/from', from);
    checkName(place, '/to', to);
    if (actsOn(scope, 'request')) {
      place.sets(to);
      place.identifies(to);
    }
    const copy =
      <M>(source: Field<M>, target: Field<M>) =>
      (message: M) =>
        target.set(message, source.all(message)[0] ?? '');
    return {
      request: copy(requestField(from), requestField(to)),
      response: copy(replyField(from), replyField(to)),
    };
  },
);

export const headerBlacklist = kind(
  {
    type: 'object',
    description: 'Removes headers.',
    required: ['names'],
    properties: {
      names: { type: 'array', items: { type: 'string', minLength: 1 }, description: 'Header names.' },
      scope,
    },
  },
  ({ names }, place) => {
    for (const [at, name] of names.entries()) checkName(place, `/names/${at}`, name);
    const remove =
      <M>(fields: readonly Field<M>[]) =>
      (message: M) => {
        for (const field of fields) field.remove(message);
      };
    return { request: remove(names.map(requestField)), response: remove(names.map(replyField)) };
  },
);

export const headerId = kind(
  {
    type: 'object',
    description: 'Sets a header to a random UUID in requests in which the header is missing or empty.',
    properties: {
      header: { type: 'string', minLength: 1, description: 'Header name.', default: 'X-Krakend-Id' },
      scope: scopeOf('request'),
    },
  },
  ({ header }, place) => {
    checkName(place, '/header', header);
    place.sets(header);
    const field = requestField(header);
    return {
      request(request) {
        if (!field.all(request).some((value) => value !== '')) field.set(request, randomUUID());
      },
      response: null,
    };
  },
);

export const stashModifier = kind(
  {
    type: 'object',
    description: 'Stores the request URL in a header.',
    required: ['headerName'],
    properties: { headerName: { ...name, examples: ['X-Called'] }, scope },
  },
  ({ headerName, scope }, place) => {
    checkName(place, '/headerName', headerName);
    if (actsOn(scope, 'response') && !actsOn(scope, 'request')) {
      throw place.fault(
        '/scope',
        'the URL is stored when the request is processed: the scope "response" requires "request" as well',
        {
          hint: '["request", "response"]',
        },
      );
    }
    place.sets(headerName);
    const stashed = requestField(headerName);
    const shown = replyField(headerName);
    return {
      request: (request) => {
        const { protocol } = new URL(request.origin);
        stashed.set(request, `${protocol}//${authorityOf(request.origin)}${request.target}`);
      },
      response: (reply, request) => shown.set(reply, stashed.all(request)[0] ?? ''),
    };
  },
);

export const headerFilter = kind(
  {
    type: 'object',
    description: 'Applies a modifier if a header exists or, with `value`, has that value.',
    required: ['name', 'modifier'],
    properties: {
      name,
      value: { type: 'string', description: 'Required header value. Default: any value.' },
      ...filterFields,
    },
  },
  (config, place) => {
    checkName(place, '/name', config.name);
    const wanted = config.value === undefined || config.value === '' ? null : wireText(config.value);
    const matches =
      <M>(field: Field<M>) =>
      (message: M) => {
        const values = field.all(message);
        return wanted === null ? values.length > 0 : values.includes(wanted);
      };
    return filter(config as ElseFilter, place, {
      request: matches(requestField(config.name)),
      response: matches(replyField(config.name)),
    });
  },
);

export const headerRegexFilter = kind(
  {
    type: 'object',
    description: 'Applies a modifier if the first value of a request header matches a regular expression.',
    required: ['header', 'regex', 'modifier'],
    properties: {
      header: name,
      regex: {
        type: 'string',
        description: 'Regular expression (RE2). Matches anywhere unless anchored with ^ and $.',
      },
      modifier: innerModifier('Modifier to run on a match.'),
      scope,
    },
  },
  (config, place) => {
    checkName(place, '/header', config.header);
    const pattern = place.pattern(config.regex, '/regex');
    const field = requestField(config.header);
    const matches = (value = '') => value !== '' && pattern.test(value);
    return filter(config, place, {
      request: (request) => matches(field.all(request)[0]),
      response: (_reply, request) => matches(field.all(request)[0]),
    });
  },
);

type Write = <M>(field: Field<M>, message: M, value: string) => void;

/** Creates a modifier that writes one value to a header on both sides. */
function writing(place: Place, name: string, value: string, scope: readonly ('request' | 'response')[], write: Write) {
  checkName(place, '/name', name);
  const text = checkValue(place, '/value', name, value);
  if (actsOn(scope, 'request')) {
    place.sets(name);
    place.identifies(name);
  }
  const onRequest = requestField(name);
  const onReply = replyField(name);
  return {
    request: (request: Parameters<typeof onRequest.set>[0]) => write(onRequest, request, text),
    response: (reply: Parameters<typeof onReply.set>[0]) => write(onReply, reply, text),
  };
}
