/**
 * How values made by Kumo's own functions can travel. An object with functions cannot be posted to another thread, but the
 * name and arguments of the function that made it can, and the other thread makes an equal one.
 */

/** The name of the function that made a value, and its arguments. */
export type Recipe = readonly [maker: string, ...given: unknown[]]

/** A program may load Kumo twice, as CommonJS and as ESM; with a global symbol both find each other's recipes. */
const RECIPE = Symbol.for('kumo.recipe')

/**
 * Attaches its recipe to a value and returns the value. The recipe is not enumerable, so a copy has none:
 * `{ ...level('./crawl'), open }` behaves differently from the original and must not be made again by its recipe.
 *
 * @example
 * recipeOf(withRecipe(rule, 'glob', '/blog/**')) // ['glob', '/blog/**']
 */
export function withRecipe<T extends object>(value: T, ...recipe: Recipe): T {
  return Object.defineProperty(value, RECIPE, { value: recipe, enumerable: false })
}

/** Undefined for the user's own objects. */
export function recipeOf(value: object): Recipe | undefined {
  return (value as { readonly [RECIPE]?: Recipe })[RECIPE]
}
