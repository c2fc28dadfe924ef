/** The fields of `select()`: their types, what they select, and their check. */

import { invalidOption, isPlainObject, messageOf, optionError } from '../../errors.js'
import { documentOf } from '../dom/dom.js'
import { isStandardSchema, type StandardSchema } from './standard-schema.js'

/** The text of the first element that matches a selector, a list of one field, or a field with options. */
export type SelectField = string | readonly [string | SelectOptions] | SelectOptions

export type SelectFields = { readonly [name: string]: SelectField }

/** A field with options. Without `attr`, `html` and `fields` it is the text, with white space collapsed. */
export interface SelectOptions {
  /** A CSS selector. Absent: the element itself, within the `fields` of another. */
  readonly css?: string | undefined
  /** An attribute instead of the text. `href`, `src` and the like become absolute URLs. */
  readonly attr?: string | undefined
  /** The inner HTML instead of the text. Default false. */
  readonly html?: boolean | undefined
  /** All elements, as a list, which may be empty. Default false: the first one. */
  readonly all?: boolean | undefined
  /** The field may be missing: it is undefined then. Default false: the page fails with `invalid-data`. */
  readonly optional?: boolean | undefined
  /** Fields within the element. */
  readonly fields?: SelectFields | undefined
  /** Checks and converts each value. A missing value is checked as `undefined`, unless the field is optional. */
  readonly as?: StandardSchema | undefined
}

/** The data that fields select. */
export type SelectedData<Fields> = { -readonly [Name in keyof Fields]: SelectedField<Fields[Name]> }

export type SelectedField<Field> = Field extends readonly [infer Each]
  ? SelectedValue<Each>[]
  : Field extends { readonly all: true }
    ? SelectedValue<Field>[]
    : Field extends { readonly optional: true }
      ? SelectedValue<Field> | undefined
      : SelectedValue<Field>

export type SelectedValue<Field> = Field extends { readonly as: StandardSchema<infer Output> }
  ? Output
  : Field extends { readonly fields: infer Fields }
    ? SelectedData<Fields>
    : string

/** A checked field. */
export interface CheckedField {
  readonly name: string
  readonly css: string | undefined
  readonly attr: string | undefined
  readonly html: boolean
  readonly all: boolean
  readonly optional: boolean
  readonly fields: readonly CheckedField[] | undefined
  readonly schema: StandardSchema | undefined
}

const KEYS = ['css', 'attr', 'html', 'all', 'optional', 'fields', 'as']

/** @throws KumoError `KUMO_INVALID_OPTION`, naming the field. */
export function checkFields(option: string, given: unknown): readonly CheckedField[] {
  const isObject = typeof given === 'object' && given !== null && isPlainObject(given)
  if (!isObject || Object.keys(given).length === 0)
    throw invalidOption(option, given, "fields with CSS selectors, such as { title: 'h1' }")
  return Object.entries(given).map(([name, field]) => checkField(`${option}.${name}`, name, field))
}

function checkField(option: string, name: string, given: unknown): CheckedField {
  if (typeof given === 'string') return { ...NOTHING, name, css: checkSelector(option, given) }
  if (Array.isArray(given)) {
    const [each] = given
    if (given.length !== 1 || Array.isArray(each))
      throw invalidOption(option, given, "a list of one, such as ['li']")
    return { ...checkField(option, name, each), all: true }
  }
  if (isStandardSchema(given))
    throw optionError(option, 'a schema', "a selector with it, such as { css: '.price', as: schema }")
  if (typeof given !== 'object' || given === null || !isPlainObject(given))
    throw invalidOption(
      option,
      given,
      "a CSS selector such as 'h1', or { css, attr, html, all, optional, fields, as }",
    )
  const unknown = Object.keys(given).find((key) => !KEYS.includes(key))
  if (unknown !== undefined) throw invalidOption(option, unknown, `the keys ${KEYS.join(', ')}`)
  return checkOptions(option, name, given)
}

function checkOptions(option: string, name: string, given: SelectOptions): CheckedField {
  const { css, attr, html = false, all = false, optional = false, fields, as } = given
  for (const [key, value] of Object.entries({ html, all, optional }))
    if (typeof value !== 'boolean') throw invalidOption(`${option}.${key}`, value, 'true or false')
  if (attr !== undefined && (typeof attr !== 'string' || attr === ''))
    throw invalidOption(`${option}.attr`, attr, "the name of an attribute such as 'href'")
  if (Number(attr !== undefined) + Number(html) + Number(fields !== undefined) > 1)
    throw optionError(option, 'more than one of attr, html and fields', 'one of them, or none for the text')
  if (as !== undefined && !isStandardSchema(as)) {
    const allowed = 'a schema of zod, valibot, arktype or another library that follows Standard Schema'
    throw invalidOption(`${option}.as`, as, allowed)
  }
  return {
    name,
    css: css === undefined ? undefined : checkSelector(`${option}.css`, css),
    attr,
    html,
    all,
    optional,
    fields: fields === undefined ? undefined : checkFields(`${option}.fields`, fields),
    schema: as,
  }
}

const NOTHING = {
  attr: undefined,
  html: false,
  all: false,
  optional: false,
  fields: undefined,
  schema: undefined,
}

let scratch: Document | undefined

/** Tries a selector on an empty document: what the DOM cannot read is refused where it is written. */
function checkSelector(option: string, css: unknown): string {
  const allowed = "a CSS selector such as 'h1' or '.price'"
  if (typeof css !== 'string' || css.trim() === '') throw invalidOption(option, css, allowed)
  scratch ??= documentOf('<!doctype html>')
  try {
    scratch.querySelector(css)
  } catch (error) {
    throw invalidOption(option, css, `${allowed} (${messageOf(error)})`)
  }
  return css
}
