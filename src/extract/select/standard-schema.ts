/**
 * What zod, valibot, arktype and others have in common: the protocol of https://standardschema.dev, version 1. It is
 * written out here, so that Kumo depends on none of them.
 */

import type { MaybePromise } from '../../types.js'

/** A schema of any library that follows the Standard Schema protocol. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => MaybePromise<StandardResult<Output>>
    /** For the compiler only. */
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

/** A value, or what is wrong with it. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

export interface StandardIssue {
  readonly message: string
  /** Where in the value. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** A schema may be an object or, as in arktype, a function. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  const standard = (value as Partial<StandardSchema>)['~standard']
  return typeof standard?.validate === 'function'
}
