import { type DataObject, HeaderBag, type OwnRoute, printJson, Reply } from '#contract';
import { renderPage } from './page.ts';

/** Forbids scripts and external requests: descriptions are shown as text. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/**
 * Serves an HTML page at a path, and the document itself below it.
 * @param describe returns the document, which has been validated; it must return the same object while the document is
 * unchanged.
 */
export function documentPages(path: string, describe: () => DataObject): OwnRoute[] {
  const below = path === '/' ? '/openapi.json' : `${path}/openapi.json`;
  return [
    ownRoute(path, 'Documentation page of the served API.', 'text/html; charset=utf-8', describe, (document) =>
      renderPage(document, below),
    ),
    ownRoute(below, 'OpenAPI document of the served API.', 'application/json', describe, printJson),
  ];
}

function ownRoute(
  path: string,
  description: string,
  type: string,
  describe: () => DataObject,
  print: (document: DataObject) => string,
): OwnRoute {
  const headers = ['Content-Type', type, 'Content-Security-Policy', POLICY, 'X-Content-Type-Options', 'nosniff'];
  let printed: { readonly document: DataObject; readonly body: Uint8Array } | undefined;
  return {
    method: 'GET',
    path,
    description,
    handle() {
      const document = describe();
      if (printed?.document !== document) printed = { document, body: Buffer.from(print(document)) };
      const reply = Reply.raw(200, new HeaderBag([...headers]), printed.body);
      reply.complete = null;
      return reply;
    },
  };
}
