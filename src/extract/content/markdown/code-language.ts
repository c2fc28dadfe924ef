/** The language of a code block, from the names that highlighters give to it and to the elements around it. */

import type { ContentElement } from '../tree.js'

const IN_CLASS = /(?:^|\s)(?:language-|lang-|highlight-source-|highlight-(?!source-)|brush:\s*)([\w+#.-]+)/i
const AFTER_CLASS = /(?:^|\s)(?:hljs|sourceCode|prettyprint|codehilite|chroma)\s+([\w+#.-]+)/
/** Class of rustdoc. */
const RUST = /(?:^|\s)rust(?:\s|$)/
const NO_LANGUAGE =
  /^(?:default|none|text|plain|plaintext|txt|nohighlight|block|notranslate|wrapper|highlight|example|linenums|line-numbers|rendered)$/i
/** Elements around a `<pre>` that are looked at. */
const AROUND = 3

/** Empty if it is unknown. */
export function codeLanguage(pre: ContentElement): string {
  const inner = pre.children.find((child) => typeof child !== 'string' && child.tag === 'code')
  if (inner !== undefined && typeof inner !== 'string') {
    const language = languageOf(inner)
    if (language !== '') return language
  }
  let element: ContentElement | undefined = pre
  for (let level = 0; element !== undefined && level <= AROUND; level++, element = element.parent) {
    const language = languageOf(element)
    if (language !== '') return language
    // Another block of code may have another language.
    if (element.children.filter((child) => typeof child !== 'string').length > 3) break
  }
  return ''
}

function languageOf(element: ContentElement): string {
  if (element.attributes.length === 0) return ''
  const named = element.attribute('data-lang') ?? element.attribute('data-language')
  if (named !== undefined && isLanguage(named)) return named
  const classes = element.attribute('class')
  if (classes === undefined) return ''
  const [, language] = IN_CLASS.exec(classes) ?? AFTER_CLASS.exec(classes) ?? []
  if (language !== undefined && isLanguage(language)) return language.toLowerCase()
  return element.tag === 'pre' && RUST.test(classes) ? 'rust' : ''
}

function isLanguage(name: string): boolean {
  return /^[\w+#.-]{1,30}$/.test(name) && !NO_LANGUAGE.test(name)
}
