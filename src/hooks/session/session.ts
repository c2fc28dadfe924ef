import { invalidOption, isPlainObject, optionError } from '../../errors.js'
import { withRecipe } from '../../modules/recipe.js'
import { parseDuration } from '../../time.js'
import { canonicalizeUrl, originOf } from '../../url/canonicalize.js'
import { glob } from '../../url/scope/rules.js'
import type { Hook } from '../contract.js'
import type { SessionConditions, SessionOptions, SessionRule, SessionSettings } from './contract.js'

const KEYS = ['login', 'form', 'fields', 'success', 'over', 'interval']
const RULE_KEYS = ['statuses', 'redirect', 'selector', 'when']
const MINUTE_MS = 60_000

/**
 * Logs in by a form before the first page of an origin is fetched, and keeps the session for all its pages. It reads the
 * form with its hidden fields, fills in yours, sends it, and checks that the login worked. If a page shows that the
 * session is over, it logs in again, at most once a minute, and fetches the page again.
 *
 * The cookies of the origin are kept, also without `cookies()`. Passwords are never stored. With workers the options must
 * be plain values; if they have functions, export the session from a module.
 *
 * @example
 * const account = session({
 *   login: 'https://app.example/login',
 *   fields: { user: 'alice', password: process.env.PASSWORD ?? '' },
 * })
 * new Crawler().seeds('https://app.example/').use(account).exclude('/logout')
 */
export function session(options: SessionOptions): Hook {
  const settings = checked(options)
  const hook: Hook = { name: `session ${originOf(settings.login)}`, session: settings }
  const isPlain = [settings.fields, settings.success?.when, settings.over?.when].every(
    (each) => typeof each !== 'function',
  )
  return isPlain ? withRecipe(hook, 'session', { ...options, login: settings.login }) : hook
}

/** Messages must not show the values of fields. */
function checked(options: SessionOptions): SessionSettings {
  const given: Partial<Record<keyof SessionOptions, unknown>> = objectOf('session', options, KEYS)
  const login = given.login instanceof URL ? given.login.href : given.login
  const url = typeof login === 'string' ? canonicalizeUrl(login) : undefined
  if (url === undefined)
    throw invalidOption('session.login', given.login, 'the URL of a page such as https://app.example/login')
  const interval = given.interval === undefined ? MINUTE_MS : parseDuration(given.interval)
  if (interval === undefined)
    throw invalidOption('session.interval', given.interval, "a duration such as '1m'")
  return {
    login: url,
    form: selectorOf('session.form', given.form),
    fields: fieldsOf(given.fields),
    success: ruleOf('session.success', given.success as SessionRule | undefined),
    over: ruleOf('session.over', given.over as SessionRule | undefined),
    intervalMs: interval,
  }
}

function objectOf(option: string, value: unknown, keys: readonly string[]): object {
  if (typeof value !== 'object' || value === null || !isPlainObject(value))
    throw optionError(option, typeof value, `{ ${keys.join(', ')} }`)
  const unknown = Object.keys(value).find((key) => !keys.includes(key))
  if (unknown !== undefined) throw invalidOption(option, unknown, `the keys ${keys.join(', ')}`)
  return value
}

function fieldsOf(value: unknown): SessionOptions['fields'] {
  if (typeof value === 'function') return value as SessionOptions['fields']
  if (isFormValues(value)) return { ...value }
  throw optionError(
    'session.fields',
    value === null ? 'null' : `${typeof value} that is not a form`,
    "texts by the name of the field, such as { user: 'alice', password: '…' }, or a function that returns them",
  )
}

/** Whether a value has a text for each of its names. */
export function isFormValues(value: unknown): value is Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null || !isPlainObject(value)) return false
  const values = Object.values(value)
  return values.length > 0 && values.every((each) => typeof each === 'string')
}

function selectorOf(option: string, value: unknown): string | undefined {
  if (value === undefined || (typeof value === 'string' && value.trim() !== '')) return value
  throw invalidOption(option, value, "a CSS selector such as 'form#login'")
}

function ruleOf(option: string, rule: SessionRule | undefined): SessionConditions | undefined {
  if (rule === undefined) return undefined
  if (typeof rule === 'function') return { when: rule }
  const { statuses, redirect, selector, when }: Partial<Record<string, unknown>> = objectOf(
    option,
    rule,
    RULE_KEYS,
  )
  if (statuses === undefined && redirect === undefined && selector === undefined && when === undefined)
    throw optionError(option, 'no condition', `one of ${RULE_KEYS.join(', ')}`)
  const isStatus = (status: unknown) =>
    Number.isInteger(status) && Number(status) >= 100 && Number(status) < 600
  if (statuses !== undefined && !(Array.isArray(statuses) && statuses.every(isStatus)))
    throw invalidOption(`${option}.statuses`, statuses, 'a list of HTTP statuses such as [401, 403]')
  if (typeof redirect === 'string') glob(redirect)
  else if (redirect !== undefined && !(redirect instanceof RegExp))
    throw invalidOption(`${option}.redirect`, redirect, "a glob such as '/login', or a regular expression")
  if (when !== undefined && typeof when !== 'function')
    throw invalidOption(`${option}.when`, when, 'a function of the page')
  selectorOf(`${option}.selector`, selector)
  return rule
}
