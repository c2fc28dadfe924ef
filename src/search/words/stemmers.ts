/** The stemmers of Snowball, from the optional package `snowball-stemmers`, loaded when a language first needs one. */

import { KumoError, messageOf } from '../../errors.js'
import { require } from '../../require.js'

/** The names of languages in Snowball, by code. */
const NAMES: Readonly<Record<string, string>> = {
  en: 'english',
  da: 'danish',
  de: 'german',
  es: 'spanish',
  fi: 'finnish',
  fr: 'french',
  it: 'italian',
  nl: 'dutch',
  no: 'norwegian',
  nb: 'norwegian',
  pt: 'portuguese',
  sv: 'swedish',
}

export type Stem = (word: string) => string

interface Snowball {
  newStemmer(name: string): { stem(word: string): string }
}

const stemmers = new Map<string, Stem>()

/** Languages that have a stemmer. */
export const STEMMED_LANGUAGES: readonly string[] = Object.keys(NAMES)

/**
 * The stemmer of a language; undefined if it has none.
 *
 * @throws KumoError `KUMO_NOT_INSTALLED` if the package is missing.
 */
export function stemmerOf(language: string): Stem | undefined {
  if (!Object.hasOwn(NAMES, language)) return undefined
  const name = NAMES[language]!
  let stem = stemmers.get(name)
  if (stem === undefined) {
    const stemmer = load().newStemmer(name)
    stem = (word) => stemmer.stem(word)
    stemmers.set(name, stem)
  }
  return stem
}

function load(): Snowball {
  try {
    return require('snowball-stemmers') as Snowball
  } catch (error) {
    const message = `stemming needs the package 'snowball-stemmers' (${messageOf(error)}); install it: npm install snowball-stemmers`
    throw new KumoError('KUMO_NOT_INSTALLED', message, { cause: error })
  }
}
