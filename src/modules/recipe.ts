/**
 * How ready-made things were made. What holds functions cannot be posted to another thread; but if it is known who made
 * it, and of what, another thread can make its like.
 */

/** The maker's name, and what it was given. */
export type Recipe = readonly [maker: string, ...given: unknown[]]

/** A program may hold Kumo twice, as CommonJS and as a module; both know each other's things by this. */
const RECIPE = Symbol.for('kumo.recipe')

/**
 * The thing, which now knows its recipe. A copy of it does not: `{ ...level('./crawl'), open }` is another thing, and
 * must not be taken for the one that it was copied from.
 *
 * @example
 * recipeOf(made(thing, 'glob', '/blog/**')) // ['glob', '/blog/**']
 */
export function withRecipe<T extends object>(thing: T, ...recipe: Recipe): T {
  return Object.defineProperty(thing, RECIPE, { value: recipe, enumerable: false })
}

/** Undefined for what somebody wrote by hand. */
export function recipeOf(thing: object): Recipe | undefined {
  return (thing as { readonly [RECIPE]?: Recipe })[RECIPE]
}
