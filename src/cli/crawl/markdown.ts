/** Pages as Markdown with front matter: on standard output, or a file for each below a folder. */

import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Page } from '../../index.js'
import { DEFAULT_FIELDS, type Field } from './fields.js'
import { type Format, harmless, json, TEXT } from './formats.js'

/** Every page as a document. Failures are not printed. */
export function markdown(fields: readonly Field[] = DEFAULT_FIELDS.frontMatter): Format {
  return { page: (page) => documentOf(page, fields) }
}

/** A file for each page. The lines are those of the text format. */
export function markdownFiles(folder: string, fields: readonly Field[] = DEFAULT_FIELDS.frontMatter): Format {
  return {
    ...TEXT,
    async page(page) {
      const path = join(folder, ...fileOf(page))
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, `${documentOf(page, fields)}\n`)
      return TEXT.page(page)
    },
  }
}

/** The values of front matter are JSON, which is YAML too. */
function documentOf(page: Page, fields: readonly Field[]): string {
  const front = fields.map((field) => `${field.name}: ${json(field.page(page) ?? null)}`)
  return ['---', ...front, '---', '', harmless(page.markdown).trim(), ''].join('\n')
}

const LONGEST_NAME = 100

/**
 * The path of a page's file: `example.com/docs/intro.md`. Pages with a query, or with characters that a file system may not
 * allow, get their id as well, so no two pages share a file.
 */
export function fileOf({ url, id }: Pick<Page, 'url' | 'id'>): string[] {
  const { host, pathname, search } = new URL(url)
  const parts = pathname.slice(1).split('/')
  const name = parts.pop() || 'index'
  const plain = [host, ...parts, name].map(plainName)
  const isSame = search === '' && [...parts, name].every((part, i) => part === plain[i + 1])
  const folders = plain.slice(0, -1).map((part) => part.replace(/\.md$/, '.md_'))
  return [...folders, `${plain.at(-1)}${isSame ? '' : `-${id}`}.md`]
}

/** A name that every file system takes. */
function plainName(part: string): string {
  const name = part.replace(/[^\w.~%-]/g, '_').slice(0, LONGEST_NAME)
  return /^\.*$/.test(name) ? '_' : name
}
