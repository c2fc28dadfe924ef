/** JSON-LD: scripts of a page, and items in the form of all structured data. */

import { messageOf } from '../../../errors.js'
import { decodeText } from '../../html/entities.js'
import { type ContentElement, textIn } from '../tree.js'
import type { JsonObject, JsonValue, StructuredItem, StructuredValue } from './contract.js'
import { type Budget, PropertyBag } from './items.js'
import { looseJson } from './loose-json.js'
import { shortName } from './names.js'

/** Code units of JSON-LD to read per page. Parsing them takes up to 50 ms. */
const MOST_JSON = 1024 * 1024
const IS_JSON_LD = /^\s*application\/(?:ld\+json|json\+ld)\b/i
/** Values that only say how to read a value. */
const WRAPPERS = ['@value', '@list', '@set']

/** The values of the JSON-LD scripts of a page. */
export function readJsonLd(scripts: Iterable<ContentElement>, problems: string[]): JsonValue[] {
  const values: JsonValue[] = []
  let left = MOST_JSON
  for (const script of scripts) {
    if (!IS_JSON_LD.test(script.attribute('type') ?? '')) continue
    const text = textIn(script)
    if (text.trim() === '') continue
    left -= text.length
    if (left < 0) {
      problems.push(`JSON-LD of more than ${MOST_JSON} characters is not read`)
      break
    }
    try {
      values.push(...parsed(text))
    } catch (error) {
      problems.push(`JSON-LD that cannot be read: ${messageOf(error)}`)
    }
  }
  return values.filter((value) => value !== null)
}

function parsed(text: string): JsonValue[] {
  try {
    return looseJson(text)
  } catch (error) {
    // Some templates escape the whole script.
    if (!/&(?:quot|#34|amp);/.test(text)) throw error
    return looseJson(decodeText(text))
  }
}

/** The items of JSON-LD: top-level objects and those of `@graph`. */
export function jsonLdItems(values: readonly JsonValue[], budget: Budget): StructuredItem[] {
  const items: StructuredItem[] = []
  const add = (value: JsonValue): void => {
    if (Array.isArray(value)) for (const each of value) add(each)
    else if (isObject(value)) {
      const graph = value['@graph']
      if (graph !== undefined) add(graph)
      // An object around a graph is not a thing itself, unless it says so.
      if (graph === undefined || value['@type'] !== undefined) {
        const item = itemOf(value, budget)
        if (item.types.length > 0 || Object.keys(item.properties).length > 0) items.push(item)
      }
    }
  }
  for (const value of values) add(value)
  return items
}

function itemOf(object: JsonObject, budget: Budget): StructuredItem {
  const bag = new PropertyBag()
  for (const [name, value] of Object.entries(object)) {
    if (!name.startsWith('@')) for (const each of valuesOf(value, budget)) bag.add(shortName(name), each)
  }
  const types = strings(object['@type'] ?? object.type).map(shortName)
  const id = object['@id'] ?? object.id
  return { syntax: 'json-ld', types, id: typeof id === 'string' ? id : undefined, properties: bag.properties }
}

function valuesOf(value: JsonValue, budget: Budget): StructuredValue[] {
  if (value === null || !budget.takes()) return []
  if (Array.isArray(value)) return value.flatMap((each) => valuesOf(each, budget))
  if (!isObject(value)) return value === '' ? [] : [value as string | number | boolean]
  for (const wrapper of WRAPPERS) {
    const wrapped = value[wrapper]
    if (wrapped !== undefined) return valuesOf(wrapped, budget)
  }
  return [itemOf(value, budget)]
}

function strings(value: JsonValue | undefined): string[] {
  const all = Array.isArray(value) ? value : [value]
  return all.filter((each) => typeof each === 'string')
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
