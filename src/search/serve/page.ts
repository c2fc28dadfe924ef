/**
 * The search page: one HTML file without a build. It searches while the user types, but not while an input method
 * composes characters; arrow keys move through hits, `/` goes to the box; light and dark follow the system. URLs of hits are
 * only linked if they are http or https.
 */

const STYLE = `
:root { color-scheme: light dark; --dim: light-dark(#5b6470, #9aa4b2); --line: light-dark(#d8dee6, #333b46);
  --link: light-dark(#1a4fb4, #8ab4f8); --mark: light-dark(#ffec9e, #6b5600); }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
input { font: inherit; width: 100%; padding: .6rem .9rem; border: 1px solid var(--line); border-radius: .6rem; }
#status, .path, .url, .facets { color: var(--dim); font-size: .875rem; }
#status { margin: .6rem 0; min-height: 1.3rem; }
.facets button { font: inherit; color: inherit; background: none; border: 1px solid var(--line); border-radius: 1rem;
  padding: .05rem .7rem; margin: 0 .35rem .35rem 0; cursor: pointer; }
.facets button[aria-pressed=true] { color: var(--link); border-color: var(--link); }
ol { list-style: none; padding: 0; margin: 1rem 0; }
li { padding: .6rem 0; overflow-wrap: anywhere; }
li a { color: var(--link); font-size: 1.1rem; text-decoration: none; }
li a:hover, li a:focus { text-decoration: underline; }
p { margin: .15rem 0; }
mark { background: var(--mark); color: inherit; border-radius: .15rem; }
`

const SCRIPT = `
const box = document.querySelector('input'), list = document.querySelector('ol'), status = document.querySelector('#status')
const facets = document.querySelector('.facets'), chosen = { host: '', language: '' }
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
const show = ({ hits, total, tookMs, matched, corrections, facets: counts }) => {
  const words = Object.values(corrections).join(', ')
  const how = matched === 'corrected' ? ', spelling corrected: ' + words : matched === 'partial' ? ', not every word is in every page' : ''
  status.textContent = total + (total === 1 ? ' page' : ' pages') + ' in ' + Math.max(1, Math.round(tookMs)) + ' ms' + how
  list.replaceChildren(...hits.map((hit) => {
    const item = element('li'), link = element('a', hit.headings.at(-1) || hit.title || hit.url)
    const target = hit.url + (hit.anchor ? '#' + encodeURIComponent(hit.anchor) : '')
    if (/^https?:/i.test(target)) link.href = target
    item.append(link, element('p', [hit.title, ...hit.headings.slice(0, -1)].join(' › '), 'path'))
    if (hit.language) item.lang = hit.language
    if (hit.snippet) item.append(marked(hit.snippet))
    item.append(element('p', target, 'url'))
    return item
  }))
  facets.replaceChildren(...['host', 'language'].flatMap((name) => {
    const values = counts[name].slice(0, 8)
    if (values.length < 2 && chosen[name] === '') return []
    return values.map(({ value, count }) => {
      const button = element('button', value + ' ' + count)
      button.type = 'button'
      button.setAttribute('aria-pressed', chosen[name] === value)
      button.onclick = () => { chosen[name] = chosen[name] === value ? '' : value; ask(false) }
      return button
    })
  }))
}
const ask = async (typing) => {
  const number = ++latest, q = box.value
  history.replaceState(null, '', q === '' ? location.pathname : '?' + new URLSearchParams({ q }))
  if (q.trim() === '') { list.replaceChildren(); facets.replaceChildren(); status.textContent = ''; return }
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
<div class="facets" aria-label="Filters"></div>
<ol></ol>
<script>${SCRIPT}</script>
</body>
</html>
`

export function searchPage(): string {
  return PAGE
}
