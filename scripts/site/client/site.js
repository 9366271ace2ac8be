// Menu, theme, versions, copy buttons and search. Works from a server and from a file system.
const root = document.currentScript.dataset.root;

const menu = document.getElementById('menu');
menu.addEventListener('click', () => {
  const isOpen = document.body.classList.toggle('navigating');
  menu.setAttribute('aria-expanded', String(isOpen));
});

document.getElementById('theme').addEventListener('click', () => {
  const shown =
    document.documentElement.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  const theme = shown === 'dark' ? 'light' : 'dark';
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem('theme', theme);
  } catch {
    // Storage is disabled: the choice holds for this page.
  }
});

document.getElementById('version')?.addEventListener('change', ({ target }) => {
  if (target.value) location.href = target.value;
});

for (const block of document.querySelectorAll('.code')) {
  const button = document.createElement('button');
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.querySelector('code').textContent);
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
  });
  block.append(button);
}

document.querySelector('#navigation [aria-current]')?.scrollIntoView({ block: 'center' });

const input = document.getElementById('search');
const results = document.getElementById('results');
let engine = null;

/** Loads the index at the first search. */
function loadEngine() {
  const script = (name) =>
    new Promise((resolve, reject) => {
      const element = document.createElement('script');
      element.src = `${root}/${name}`;
      element.onload = resolve;
      element.onerror = () => reject(new Error(`${name} cannot be loaded`));
      document.head.append(element);
    });
  engine ??= Promise.all([script('minisearch.js'), script('search.js')]).then(() => {
    const { options, index } = globalThis.sluiceSearch;
    const tokenize = (text) => text.split(/[^\p{L}\p{N}_]+/u).filter((word) => word !== '');
    return MiniSearch.loadJSON(index, {
      ...options,
      searchOptions: { tokenize, combineWith: 'AND', prefix: true, boost: { names: 6, title: 4, page: 2 } },
    });
  });
  return engine;
}

async function search() {
  const query = input.value.trim();
  const found = query === '' ? [] : (await loadEngine()).search(query).slice(0, 12);
  if (query !== input.value.trim()) return;
  results.replaceChildren(
    ...found.map(({ url, page, title }, at) => {
      const item = document.createElement('li');
      item.id = `result-${at}`;
      item.role = 'option';
      item.setAttribute('aria-selected', 'false');
      const link = document.createElement('a');
      link.href = `${root}/${url}`;
      link.tabIndex = -1;
      link.textContent = title === page ? title : `${title} · ${page}`;
      item.append(link);
      return item;
    }),
  );
  if (query !== '' && found.length === 0) results.append(emptyItem());
  results.hidden = query === '';
  input.setAttribute('aria-expanded', String(query !== ''));
  input.removeAttribute('aria-activedescendant');
}

function emptyItem() {
  const item = document.createElement('li');
  item.role = 'option';
  item.className = 'empty';
  item.textContent = 'No results';
  return item;
}

function select(step) {
  const items = [...results.querySelectorAll('li[id]')];
  if (items.length === 0) return;
  const at = items.findIndex((item) => item.getAttribute('aria-selected') === 'true');
  const next = items[(at + step + items.length) % items.length];
  for (const item of items) item.setAttribute('aria-selected', String(item === next));
  input.setAttribute('aria-activedescendant', next.id);
  next.scrollIntoView({ block: 'nearest' });
}

input.addEventListener('input', search);
input.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    select(event.key === 'ArrowDown' ? 1 : -1);
  } else if (event.key === 'Enter') {
    (results.querySelector('[aria-selected="true"] a') ?? results.querySelector('a'))?.click();
    close();
  } else if (event.key === 'Escape') close();
});
function close() {
  results.hidden = true;
  input.setAttribute('aria-expanded', 'false');
}
document.addEventListener('click', ({ target }) => {
  if (!target.closest('.search')) close();
});
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.closest('input, textarea, select')) return;
  event.preventDefault();
  input.focus();
});
