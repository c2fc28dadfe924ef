/** Where a page does not have the data that `select()` asks for. */
export interface DataIssue {
  /** The field, e.g. `items.2.price`. */
  readonly path: string
  readonly message: string
}

const CODE = 'invalid-data'
/** A page of another kind lacks every field; the first few tell. */
const ISSUES_SHOWN = 5

/** The cause of an `invalid-data` failure. */
export class InvalidDataError extends Error {
  override readonly name = 'InvalidDataError'
  readonly code = CODE
  readonly issues: readonly DataIssue[]

  constructor(issues: readonly DataIssue[]) {
    const shown = issues.slice(0, ISSUES_SHOWN).map(({ path, message }) => `${path}: ${message}`)
    const more = issues.length - shown.length
    super(shown.join('; ') + (more > 0 ? `; and ${more} more` : ''))
    this.issues = issues
  }
}

/** Also an error that was thrown in another thread, of which only message and code have arrived. */
export function isInvalidData(error: unknown): error is Error {
  return error instanceof Error && (error as { code?: unknown }).code === CODE
}
