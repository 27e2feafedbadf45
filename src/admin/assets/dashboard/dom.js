// Elements are made from text only: nothing that a client or an engine sent is ever read as markup.
export const byId = (id) => document.getElementById(id);

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

// `raw` is what the text shows, for whoever compares the page with the metrics.
export const figure = (name, raw, text, tag = 'span') =>
  make(tag, {'data-figure': name, 'data-value': raw ?? ''}, text);

export const chip = (level, text) => make('span', {class: 'chip', 'data-level': level}, text);

export function bar(share, name = '') {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('class', `bar ${name}`);
  svg.setAttribute('viewBox', '0 0 100 1');
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('aria-hidden', 'true');
  const rect = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  rect.setAttribute('width', String(100 * Math.min(1, Math.max(0, share || 0))));
  rect.setAttribute('height', '1');
  svg.append(rect);
  return svg;
}

// Roles are named because a phone's layout takes them from the elements.
export function table(element, columns, rows) {
  const head = make('tr', {role: 'row'}, ...columns.map((name) => make('th', {role: 'columnheader', scope: 'col'}, name)));
  const body = rows.map(({key, cells}) => make('tr', {role: 'row', 'data-row': key}, ...cells.map((cell, k) => {
    const content = Array.isArray(cell) ? cell : [cell];
    return k === 0 ? make('th', {role: 'rowheader', scope: 'row'}, ...content)
      : make('td', {role: 'cell', 'data-label': columns[k]}, ...content);
  })));
  element.replaceChildren(make('thead', {role: 'rowgroup'}, head), make('tbody', {role: 'rowgroup'}, ...body));
}

export const small = (text) => make('span', {class: 'small'}, text);
