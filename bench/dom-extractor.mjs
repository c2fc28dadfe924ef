/** What an application does with a page's document, as a module: with workers, each thread builds documents of its own. */

/** @type {import('kumo').Extractor<{ headings: string[], links: number }>} */
export default {
  name: 'dom',
  extract({ document }) {
    const headings = [...document.querySelectorAll('h1')].map(({ textContent }) => textContent)
    return { data: { headings, links: document.querySelectorAll('main p a[href]').length } }
  },
}
