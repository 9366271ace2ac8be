import { type Data, type DataObject, isObject } from '#contract';
import { escapeHtml } from '../../shared/values/html.ts';

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
details { border: 1px solid #ddd; border-radius: 6px; margin: .5rem 0; padding: .5rem 1rem }
summary { cursor: pointer } code, pre { font: 14px/1.4 ui-monospace, monospace }
pre { background: #f6f6f6; padding: .5rem; overflow: auto } .method { font-weight: 700; margin-right: .5rem }
table { border-collapse: collapse } td, th { text-align: left; padding: .2rem 1rem .2rem 0; vertical-align: top }
.about { white-space: pre-line }`;

/** Renders a document as an HTML page. All texts of the document are escaped. */
export function renderPage({ info, paths, servers }: DataObject, address: string): string {
  const { title, version, description } = objectOf(info);
  const operations = Object.entries(objectOf(paths)).flatMap(([path, item]) =>
    Object.entries(objectOf(item)).map(([method, operation]) => renderOperation(method, path, objectOf(operation))),
  );
  const served = (Array.isArray(servers) ? servers : []).map(
    (server) => `<li><code>${html(objectOf(server)['url'])}</code>`,
  );
  return [
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
    `<title>${html(title)}</title><style>${STYLE}</style><h1>${html(title)} <small>${html(version)}</small></h1>`,
    about(description),
    `<p><a href="${html(address)}">The document in OpenAPI</a></p>`,
    served.length > 0 ? `<ul>${served.join('')}</ul>` : '',
    ...operations,
    '</html>\n',
  ].join('\n');
}

function renderOperation(method: string, path: string, operation: DataObject): string {
  const { summary, description, parameters, requestBody, responses } = operation;
  const rows = (Array.isArray(parameters) ? parameters : []).map((each) => {
    const { name, in: where, required, description: text, schema } = objectOf(each);
    const kind = [where, objectOf(schema)['type'], required === true ? 'required' : 'optional'].join(', ');
    return `<tr><td><code>${html(name)}</code><td>${html(kind)}<td>${html(text)}`;
  });
  const answered = Object.entries(objectOf(responses)).map(([status, response]) => {
    const { description: text, content } = objectOf(response);
    return `<tr><td><code>${html(status)}</code><td>${html(text)}<td>${contentOf(content)}`;
  });
  return [
    `<details><summary><span class="method">${html(method.toUpperCase())}</span><code>${html(path)}</code> ${html(summary)}</summary>`,
    about(description),
    rows.length > 0 ? `<h4>Parameters</h4><table>${rows.join('')}</table>` : '',
    requestBody === undefined ? '' : `<h4>Body</h4>${contentOf(objectOf(requestBody)['content'])}`,
    `<h4>Responses</h4><table>${answered.join('')}</table></details>`,
  ].join('');
}

function contentOf(content: Data | undefined): string {
  const media = Object.entries(objectOf(content)).map(([type, each]) => {
    const { schema, example } = objectOf(each);
    const shown = example ?? schema;
    return `<code>${html(type)}</code>${shown === undefined ? '' : `<pre>${html(JSON.stringify(shown, null, 2))}</pre>`}`;
  });
  return media.join('<br>');
}

function about(text: Data | undefined): string {
  return text === undefined ? '' : `<p class="about">${html(text)}</p>`;
}

function objectOf(value: Data | undefined): DataObject {
  return isObject(value) ? value : {};
}

function html(value: unknown): string {
  return value === undefined || value === null ? '' : escapeHtml(String(value));
}
