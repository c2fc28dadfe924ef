/** Says whether linkedom is loaded before and after `page.document` is touched; page.test.ts runs it. */

import { createRequire } from 'node:module'
import { pageOf } from '../../../src/conformance/page.js'

const require = createRequire(import.meta.url)
const loaded = () => Object.keys(require.cache).some((path) => path.includes('linkedom'))

const page = pageOf({ url: 'https://example.com/', body: '<title>Tea</title><a href="/x">x</a>' })
const touched = [page.title, page.links.length, page.text, page.content.length, page.robots.noindex]
const before = loaded()
const title = page.document.title
console.log(JSON.stringify({ touched, before, title, after: loaded() }))
