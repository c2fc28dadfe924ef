/** Reads the login form of a page as a browser would send it. */

import type { BareDocument, BareElement } from '../../extract/contract.js'
import { canonicalizeUrl, originOf } from '../../url/canonicalize.js'
import type { FormValues } from './contract.js'

export interface LoginForm {
  /** Where it is sent. */
  readonly action: string
  readonly method: 'GET' | 'POST'
  /** What it sends if nothing is filled in, in order. */
  readonly entries: readonly (readonly [name: string, value: string])[]
  /** The names of all its fields. */
  readonly names: readonly string[]
}

/** Why a form cannot be used, as the end of a sentence that starts with its page. */
export type FormProblem = string

/** The form of a page at `url`, which must be sent to the same origin. Undefined: there is none. */
export function loginForm(
  document: BareDocument,
  url: string,
  selector: string | undefined,
): LoginForm | FormProblem | undefined {
  const form = findForm(document, selector)
  if (form === undefined) return undefined
  const method = (form.getAttribute('method') ?? 'get').trim().toUpperCase() === 'POST' ? 'POST' : 'GET'
  const encoding = (form.getAttribute('enctype') ?? '').trim().toLowerCase()
  if (method === 'POST' && (encoding === 'multipart/form-data' || encoding === 'text/plain'))
    return `has a login form of type ${encoding}, which session() cannot send`
  const base = document.querySelector('base[href]')?.getAttribute('href') ?? ''
  const written = form.getAttribute('action')?.trim() ?? ''
  const action = canonicalizeUrl(written === '' ? url : written, canonicalizeUrl(base, url) ?? url)
  if (action === undefined) return 'has a login form that is not sent to an http(s) URL'
  if (originOf(action) !== originOf(url))
    return `has a login form that is sent to ${originOf(action)}; a session must stay on its origin`
  const controls = controlsOf(document, form)
  const names = controls.map((control) => control.getAttribute('name') ?? '').filter((name) => name !== '')
  return { action, method, entries: entriesOf(controls), names: [...new Set(names)] }
}

/** The entries with these values filled in. */
export function filledIn({ entries }: LoginForm, values: FormValues): URLSearchParams {
  const body = new URLSearchParams()
  for (const [name, value] of entries) if (!(name in values)) body.append(name, value)
  for (const [name, value] of Object.entries(values)) body.append(name, value)
  return body
}

function findForm(document: BareDocument, selector: string | undefined): BareElement | undefined {
  if (selector !== undefined) {
    const found = document.querySelector(selector)
    return found?.closest('form') ?? undefined
  }
  for (const form of document.querySelectorAll('form')) {
    if (controlsOf(document, form).some((control) => typeOf(control) === 'password')) return form
  }
  return undefined
}

/** Fields and buttons that belong to a form, wherever they are, in document order. */
function controlsOf(document: BareDocument, form: BareElement): BareElement[] {
  const isOwn = (control: BareElement) => {
    const id = control.getAttribute('form')
    return id === null ? control.closest('form') === form : id !== '' && id === form.getAttribute('id')
  }
  return [...document.querySelectorAll('input, select, textarea, button')].filter(isOwn)
}

function typeOf(control: BareElement): string {
  const tag = control.tagName.toLowerCase()
  const type = control.getAttribute('type')?.trim().toLowerCase()
  if (tag === 'input') return type || 'text'
  return tag === 'button' ? type || 'submit' : tag
}

/** The first submit button is the one that is pressed. */
function entriesOf(controls: readonly BareElement[]): [name: string, value: string][] {
  const entries: [string, string][] = []
  let isSubmitted = false
  for (const control of controls) {
    if (control.hasAttribute('disabled') || control.closest('fieldset[disabled]') !== null) continue
    const type = typeOf(control)
    const isButton = type === 'submit'
    if (isButton && isSubmitted) continue
    if (isButton) isSubmitted = true
    const name = control.getAttribute('name') ?? ''
    if (name === '' || NOT_SENT.has(type)) continue
    if ((type === 'checkbox' || type === 'radio') && !control.hasAttribute('checked')) continue
    for (const value of valuesOf(control, type)) entries.push([name, value])
  }
  return entries
}

const NOT_SENT: ReadonlySet<string> = new Set(['button', 'reset', 'image', 'file'])

function valuesOf(control: BareElement, type: string): string[] {
  if (type === 'select') return selectedIn(control)
  if (type === 'textarea') return [control.textContent.replace(/^\r?\n/, '')]
  const isBox = type === 'checkbox' || type === 'radio'
  return [control.getAttribute('value') ?? (isBox ? 'on' : '')]
}

function selectedIn(select: BareElement): string[] {
  const options = [...select.querySelectorAll('option')].filter((option) => !option.hasAttribute('disabled'))
  const chosen = options.filter((option) => option.hasAttribute('selected'))
  const isMultiple = select.hasAttribute('multiple')
  const sent = isMultiple ? chosen : [chosen.at(-1) ?? options[0]].filter((option) => option !== undefined)
  return sent.map((option) => option.getAttribute('value') ?? option.textContent.trim())
}
