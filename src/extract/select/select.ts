import { messageOf } from '../../errors.js'
import { isThenable } from '../../time.js'
import type { MaybePromise } from '../../types.js'
import { baseFor, resolve } from '../../url/resolve.js'
import type { Extractor, Page } from '../contract.js'
import { type CheckedField, checkFields, type SelectedData, type SelectFields } from './fields.js'
import { type DataIssue, InvalidDataError } from './invalid-data.js'
import type { StandardIssue, StandardResult, StandardSchema } from './standard-schema.js'

/** Attributes whose value is a URL. */
const URL_ATTRIBUTES: ReadonlySet<string> = new Set([
  'action',
  'background',
  'cite',
  'data',
  'formaction',
  'href',
  'longdesc',
  'manifest',
  'poster',
  'src',
])

/**
 * An extractor of fields by CSS selectors. Values are texts; a schema of zod, valibot, arktype or any other library that
 * follows Standard Schema checks and converts them. A page that lacks a field, or has a value that its schema rejects,
 * is not delivered: it is a failure with the code `invalid-data` and the path of the field. Its links are followed.
 *
 * @example
 * new Crawler().extract(
 *   select({
 *     title: 'h1',
 *     tags: ['.tag'],
 *     image: { css: 'img.cover', attr: 'src', optional: true },
 *     offers: { css: '.offer', all: true, fields: { shop: '.shop', price: { css: '.price', as: z.coerce.number() } } },
 *   }),
 * )
 */
export function select<const Fields extends SelectFields>(fields: Fields): Extractor<SelectedData<Fields>> {
  const checked = checkFields('select', fields)
  return {
    name: `select ${Object.keys(fields).join(', ')}`,
    extract(page) {
      const reading = new Reading(page)
      const root = page.document.documentElement as unknown as SelectedElement
      return after(reading.fields(checked, root, []), (data) => {
        if (reading.issues.length > 0) throw new InvalidDataError(reading.issues)
        return { data: data as SelectedData<Fields> }
      })
    },
  }
}

/** What the platform's elements and those for programs without the DOM library have in common. */
interface SelectedElement {
  readonly textContent: string | null
  readonly innerHTML: string
  getAttribute(name: string): string | null
  querySelector(css: string): SelectedElement | null
  querySelectorAll(css: string): Iterable<SelectedElement>
}

type Path = readonly PropertyKey[]

/** There is no such element or attribute. */
const MISSING = Symbol('missing')

/** Reads the fields of one page and collects what is wrong with them. */
class Reading {
  readonly #page: Page
  readonly issues: DataIssue[] = []
  #base: string | undefined = undefined

  constructor(page: Page) {
    this.#page = page
  }

  fields(
    fields: readonly CheckedField[],
    root: SelectedElement,
    path: Path,
  ): MaybePromise<Record<string, unknown>> {
    const values = inOrder(fields, (field) => this.#field(field, root, [...path, field.name]))
    return after(values, (all) => Object.fromEntries(fields.map(({ name }, i) => [name, all[i]])))
  }

  #field(field: CheckedField, root: SelectedElement, path: Path): MaybePromise<unknown> {
    const { css, all } = field
    if (all) {
      const elements = css === undefined ? [root] : [...root.querySelectorAll(css)]
      const values = inOrder(elements, (each, i) => this.#value(field, each, [...path, i]))
      return after(values, (found) => found.filter((value) => value !== MISSING))
    }
    const element = css === undefined ? root : root.querySelector(css)
    const value = element === null ? MISSING : this.#value(field, element, path)
    return after(value, (found) => (found === MISSING ? this.#missing(field, element !== null, path) : found))
  }

  #value(field: CheckedField, element: SelectedElement, path: Path): MaybePromise<unknown> {
    const { fields, schema } = field
    const raw = fields === undefined ? this.#text(field, element) : this.fields(fields, element, path)
    return schema === undefined || raw === MISSING
      ? raw
      : after(raw, (value) => this.#validated(schema, value, path))
  }

  #text({ attr, html }: CheckedField, element: SelectedElement): string | typeof MISSING {
    if (attr !== undefined) return this.#attribute(element, attr)
    return html ? element.innerHTML.trim() : (element.textContent ?? '').replace(/\s+/g, ' ').trim()
  }

  #attribute(element: SelectedElement, name: string): string | typeof MISSING {
    const value = element.getAttribute(name)
    if (value === null) return MISSING
    return URL_ATTRIBUTES.has(name.toLowerCase()) ? this.#absolute(value.trim()) : value
  }

  /** As in `page.links`, if it is http(s); what is no URL stays as it is written. */
  #absolute(href: string): string {
    this.#base ??= baseOf(this.#page)
    const base = this.#base
    return resolve(href, baseFor(base)) ?? (URL.canParse(href, base) ? new URL(href, base).href : href)
  }

  #missing(field: CheckedField, isAttribute: boolean, path: Path): MaybePromise<unknown> {
    const { css, attr, optional, schema } = field
    if (optional) return undefined
    if (schema !== undefined) return this.#validated(schema, undefined, path)
    const message = isAttribute ? `the element has no attribute '${attr}'` : `no element matches '${css}'`
    this.issues.push({ path: written(path), message })
    return undefined
  }

  #validated(schema: StandardSchema, value: unknown, path: Path): MaybePromise<unknown> {
    const failed = (error: unknown): never => {
      throw new Error(`the schema of '${written(path)}' threw: ${messageOf(error)}`, { cause: error })
    }
    let result: MaybePromise<StandardResult<unknown>>
    try {
      result = schema['~standard'].validate(value)
    } catch (error) {
      return failed(error)
    }
    if (!isThenable(result)) return this.#accepted(result, path)
    return Promise.resolve(result).then((late) => this.#accepted(late, path), failed)
  }

  #accepted(result: StandardResult<unknown>, path: Path): unknown {
    if (result.issues === undefined) return result.value
    // Not inside.map(): the path may be of a class of its own, which map() would construct.
    for (const { message, path: inside = [] } of result.issues)
      this.issues.push({ path: written([...path, ...Array.from(inside, keyOf)]), message })
    return undefined
  }
}

function keyOf(segment: NonNullable<StandardIssue['path']>[number]): PropertyKey {
  return typeof segment === 'object' ? segment.key : segment
}

function written(path: Path): string {
  return path.map(String).join('.')
}

/** The base URL of attributes. */
function baseOf(page: Page): string {
  const href = page.document.querySelector('base[href]')?.getAttribute('href') ?? undefined
  return href !== undefined && URL.canParse(href, page.url) ? new URL(href, page.url).href : page.url
}

/** Maps each item; waits only if a result is a promise. */
function inOrder<T>(
  items: readonly T[],
  map: (item: T, index: number) => MaybePromise<unknown>,
): MaybePromise<unknown[]> {
  const values: MaybePromise<unknown>[] = []
  try {
    for (const [index, item] of items.entries()) values.push(map(item, index))
  } catch (error) {
    // Nothing awaits the other promises any more: handle their rejections, or they would end the process.
    void Promise.allSettled(values)
    throw error
  }
  return values.some((value) => value instanceof Promise) ? Promise.all(values) : values
}

function after<T, R>(value: MaybePromise<T>, use: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(use) : use(value)
}
