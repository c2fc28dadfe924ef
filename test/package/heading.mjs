/** An extractor in a module of its own, for smoke.mjs. */
export default { heading: (page) => page.title }
