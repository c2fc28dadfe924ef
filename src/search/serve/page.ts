/**
 * The search page: one HTML file without a build. It searches while the user types, but not while an input method
 * composes characters; arrow keys move through hits, `/` goes to the box; light and dark follow the system. URLs of hits are
 * only linked if they are http or https.
 */

const STYLE = `
:root { color-scheme: light dark; --back: light-dark(#fff, #14171c); --text: light-dark(#1b1f24, #e6e9ed);
  --dim: light-dark(#59636e, #9aa4b2); --line: light-dark(#d5dbe2, #343c47); --soft: light-dark(#f4f6f8, #1c2128);
  --link: light-dark(#1a4fb4, #8ab4f8); --mark: light-dark(#fff0a8, #5c4b00); }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 0 auto; padding: 2rem 1rem 4rem;
  background: var(--back); color: var(--text); }
form { position: sticky; top: 0; padding: .5rem 0; background: var(--back); }
input { font: inherit; width: 100%; padding: .65rem 1rem; color: inherit; background: var(--soft);
  border: 1px solid var(--line); border-radius: .7rem; }
input:focus-visible, button:focus-visible, li a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
#status, .path, .url, .facets, .keys { color: var(--dim); font-size: .875rem; }
#status { margin: .4rem .2rem; min-height: 1.3rem; }
.facets div { display: flex; flex-wrap: wrap; align-items: baseline; gap: .35rem; margin: .35rem .2rem; }
.facets span { min-width: 5rem; }
button { font: inherit; color: inherit; background: none; border: 1px solid var(--line); border-radius: 1rem;
  padding: .05rem .7rem; cursor: pointer; }
button:hover { border-color: var(--link); }
button[aria-pressed=true] { color: var(--back); background: var(--link); border-color: var(--link); }
button b { font-weight: normal; opacity: .7; padding-left: .35rem; }
ol { list-style: none; padding: 0; margin: 1rem 0; }
li { padding: .8rem .2rem; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
li a { color: var(--link); font-size: 1.1rem; font-weight: 500; text-decoration: none; border-radius: .2rem; }
li a:hover, li a:focus { text-decoration: underline; }
p { margin: .15rem 0; }
mark { background: var(--mark); color: inherit; border-radius: .15rem; }
kbd { font: inherit; font-size: .8rem; padding: 0 .4rem; border: 1px solid var(--line); border-radius: .3rem; }
`

const SCRIPT = `
const box = document.querySelector('input'), list = document.querySelector('ol'), status = document.querySelector('#status')
const facets = document.querySelector('.facets'), keys = document.querySelector('.keys'), chosen = { host: '', language: '' }
let latest = 0, composing = false, timer
const element = (name, text, className) => {
  const made = document.createElement(name)
  if (text !== undefined) made.textContent = text
  if (className) made.className = className
  return made
}
const marked = ({ text, ranges }) => {
  const made = element('p')
  let at = 0
  for (const [start, end] of ranges) {
    made.append(text.slice(at, start), element('mark', text.slice(start, end)))
    at = end
  }
  made.append(text.slice(at))
  return made
}
const languages = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'code' })
const nameOf = (name, value) => {
  try { return name === 'language' ? languages.of(value) : value } catch { return value }
}
const show = ({ hits, total, tookMs, matched, corrections, facets: counts }) => {
  const words = Object.values(corrections).join(', ')
  const how = matched === 'corrected' ? ', spelling corrected: ' + words : matched === 'partial' ? ', not every word is in every page' : ''
  status.textContent = total + (total === 1 ? ' page' : ' pages') + ' in ' + Math.max(1, Math.round(tookMs)) + ' ms' + how
  list.replaceChildren(...hits.map((hit) => {
    const item = element('li'), link = element('a', hit.headings.at(-1) || hit.title || hit.url)
    const target = hit.url + (hit.anchor ? '#' + encodeURIComponent(hit.anchor) : '')
    if (/^https?:/i.test(target)) link.href = target
    item.append(link, element('p', [hit.title, ...hit.headings.slice(0, -1)].filter((part, i, all) => part !== all[i - 1]).join(' › '), 'path'))
    if (hit.language) item.lang = hit.language
    if (hit.snippet) item.append(marked(hit.snippet))
    item.append(element('p', target, 'url'))
    return item
  }))
  keys.hidden = hits.length > 0
  facets.replaceChildren(...[['host', 'Site'], ['language', 'Language']].flatMap(([name, label]) => {
    const values = counts[name].slice(0, 8)
    if (values.length < 2 && chosen[name] === '') return []
    const row = element('div')
    row.append(element('span', label), ...values.map(({ value, count }) => {
      const button = element('button', nameOf(name, value))
      button.type = 'button'
      button.append(element('b', count))
      button.setAttribute('aria-pressed', chosen[name] === value)
      button.onclick = () => { chosen[name] = chosen[name] === value ? '' : value; ask(false) }
      return button
    }))
    return [row]
  }))
}
const ask = async (typing) => {
  const number = ++latest, q = box.value
  history.replaceState(null, '', q === '' ? location.pathname : '?' + new URLSearchParams({ q }))
  if (q.trim() === '') { list.replaceChildren(); facets.replaceChildren(); status.textContent = ''; keys.hidden = false; chosen.host = chosen.language = ''; return }
  const folder = location.pathname.replace(/[^/]*$/, '')
  const asked = new URLSearchParams({ q, typing: typing ? '1' : '0', ...chosen })
  try {
    const answer = await fetch(folder + 'search.json?' + asked)
    if (!answer.ok) throw new Error(answer.status)
    const found = await answer.json()
    if (number === latest) show(found)
  } catch { if (number === latest) status.textContent = 'The search is not available.' }
}
const soon = () => { clearTimeout(timer); timer = setTimeout(() => ask(true), 80) }
box.addEventListener('compositionstart', () => { composing = true })
box.addEventListener('compositionend', () => { composing = false; soon() })
box.addEventListener('input', () => { if (!composing) soon() })
document.querySelector('form').addEventListener('submit', (event) => { event.preventDefault(); if (!composing) { clearTimeout(timer); ask(false) } })
document.addEventListener('keydown', (event) => {
  if (event.isComposing) return
  const links = [...list.querySelectorAll('a[href]')], at = links.indexOf(document.activeElement)
  if (event.key === '/' && document.activeElement !== box) { event.preventDefault(); box.select() }
  else if (event.key === 'ArrowDown' && links.length > 0) { event.preventDefault(); links[Math.min(at + 1, links.length - 1)].focus() }
  else if (event.key === 'ArrowUp' && at >= 0) { event.preventDefault(); (at === 0 ? box : links[at - 1]).focus() }
  else if (event.key === 'Escape') { box.value = ''; box.focus(); ask(true) }
})
box.value = new URLSearchParams(location.search).get('q') ?? ''
if (box.value !== '') ask(false)
`

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Search</title>
<style>${STYLE}</style>
</head>
<body>
<form role="search"><input type="search" name="q" aria-label="Search" placeholder="Search" autocomplete="off" autofocus></form>
<div id="status" role="status" aria-live="polite"></div>
<div class="facets" role="group" aria-label="Filters"></div>
<p class="keys"><kbd>/</kbd> search · <kbd>↓</kbd> <kbd>↑</kbd> move · <kbd>Enter</kbd> open · <kbd>Esc</kbd> clear</p>
<ol></ol>
<script>${SCRIPT}</script>
</body>
</html>
`

export function searchPage(): string {
  return PAGE
}
